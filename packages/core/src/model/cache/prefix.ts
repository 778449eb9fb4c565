/**
 * A request as the server's cache sees it: a list of items (tools, system blocks, message blocks), with a key for everything up to each
 * item, and its breakpoints. Equal keys mean equal bytes.
 *
 * Unchanged messages are the same objects as in the previous request, so their keys are reused. The lists move to the new prefix and are
 * changed in place, so the cost depends only on the changes. Afterwards only the request, the end and the settings of the old prefix may
 * be read.
 */

import { hash } from "node:crypto"
import {
  type Block,
  declaredTools,
  isThinking,
  isToolResult,
  resultBlocks,
  toBlocks,
  withoutBreakpoint,
} from "../../messages/blocks.ts"
import { hasExactText, stringifyExact } from "../../messages/exact-json.ts"
import type { ModelRequest, ToolDefinition } from "../../messages/request.ts"
import { type BlockPosition, findBreakpoints } from "./breakpoints.ts"

// A tool or block as the server's cache sees it: its bytes without breakpoints.

export type PromptItem = ToolDefinition | Block

export function cachedText(item: PromptItem): string {
  const bare = withoutBreakpoint(item as Block)
  return hasExactText(bare) ? stringifyExact(bare) : JSON.stringify(bare)
}

// Settings that affect the cached prompt without being blocks. After a change of `speed` or citations the cache is lost from the system
// prompt on, after other changes from the messages on. A setting at its default counts as absent.

/** A request setting that affects the cached prefix. */
export type PromptSetting = "speed" | "citations" | "tool_choice" | "images" | "thinking" | "effort"

export interface SettingValue {
  readonly name: PromptSetting
  /** Where the cache is lost after a change. */
  readonly from: "system" | "messages"
  readonly value: string
}

/** Message content that affects the cache like a setting. */
export interface ContentFeatures {
  readonly images: boolean
  readonly citations: boolean
}

export const NO_FEATURES: ContentFeatures = { images: false, citations: false }

interface PromptSettings {
  readonly speed?: unknown
  readonly tool_choice?: unknown
  readonly thinking?: unknown
  readonly output_config?: { readonly effort?: unknown }
}

export function promptSettings(request: ModelRequest, { images, citations }: ContentFeatures): readonly SettingValue[] {
  const { speed, tool_choice, thinking, output_config } = request as PromptSettings
  return [
    { name: "speed", from: "system", value: text(speed, "standard") },
    { name: "citations", from: "system", value: text(citations, false) },
    { name: "tool_choice", from: "messages", value: text(tool_choice, { type: "auto" }) },
    { name: "images", from: "messages", value: text(images, false) },
    { name: "thinking", from: "messages", value: text(thinking, null) },
    { name: "effort", from: "messages", value: text(output_config?.effort, null) },
  ]
}

/** The features including one more message. Returns the same object if nothing is added. */
export function withFeaturesOf(
  { content }: ModelRequest["messages"][number],
  before: ContentFeatures,
): ContentFeatures {
  const blocks = toBlocks(content)
  const images = before.images || blocks.some((block) => holds(block, isImage))
  const citations = before.citations || blocks.some((block) => holds(block, asksForCitations))
  return images === before.images && citations === before.citations ? before : { images, citations }
}

export const requestFeatures = ({ messages }: ModelRequest): ContentFeatures =>
  messages.reduce((features, message) => withFeaturesOf(message, features), NO_FEATURES)

const text = (value: unknown, byDefault: unknown): string => JSON.stringify(value ?? byDefault)

const holds = (block: Block, wanted: (block: Block) => boolean): boolean =>
  wanted(block) ||
  (block.type === "tool_result" && typeof block.content !== "string" && resultBlocks(block).some(wanted))

const isImage = (block: Block): boolean => block.type === "image"

const asksForCitations = (block: Block): boolean =>
  (block as { readonly citations?: { readonly enabled?: boolean } | null }).citations?.enabled === true

export interface PromptPrefix {
  readonly request: ModelRequest
  /** The item with the last breakpoint, and its key. */
  readonly end: { readonly item: number; readonly key: string } | undefined
  readonly items: readonly PromptItem[]
  /** For each item, the key of everything up to it. */
  readonly keys: readonly string[]
  /** Indexes of the items with a breakpoint, in order. */
  readonly breakpoints: readonly number[]
  /** Number of items that are tools or system prompt. */
  readonly promptItems: number
  /** Number of leading items with the lifetime of the prompt. Includes the first block of the messages if it has a breakpoint. */
  readonly leadItems: number
  /** Index of the first item of each message. */
  readonly starts: readonly number[]
  /** Features of the messages up to each one. */
  readonly features: readonly ContentFeatures[]
  readonly settings: readonly SettingValue[]
  /** The model gets no thinking from messages before this one. */
  readonly remembered: number
}

export interface PrefixOptions {
  /** The previous prefix. Its lists move to the new one. */
  readonly before?: PromptPrefix | undefined
  /** How many leading messages are known to be the same objects. */
  readonly unchanged?: number
  /** The server removes thinking from before the user's last message. */
  readonly forgetsThinking: boolean
}

type Message = ModelRequest["messages"][number]

const KEY_LENGTH = 22 // characters of base64url: 132 bits

export function buildPrefix(
  request: ModelRequest,
  { before, forgetsThinking, unchanged = 0 }: PrefixOptions,
): PromptPrefix {
  const { messages } = request
  const same = before ? sameMessages(before.request.messages, messages, unchanged) : 0
  const features = featuresUpTo(messages, before ? truncateTo(before.features, same) : [])
  const settings = promptSettings(request, features[messages.length - 1] ?? NO_FEATURES)
  const remembered = forgetsThinking ? Math.max(0, messages.findLastIndex(hasUserContent)) : 0
  const chain = new PrefixChain(request.model)
  const prompt = chain.addPrompt(request, settings)
  const known = before ? reusableMessages(before, { key: chain.key, settings, remembered, same }) : 0
  const kept = before && known > 0 ? (before.starts[known] ?? before.items.length) : 0
  const starts = before ? truncateTo(before.starts, known) : []
  if (before && known > 0) chain.takeOver(before, kept)
  for (let at = starts.length; at < messages.length; at++) {
    starts.push(chain.items.length)
    chain.addMessage(messages[at]!, {
      isForgotten: at < remembered,
      ...(at === 0 ? { settings: joinValues(settings) } : {}),
    })
  }
  const { items, keys } = chain
  const placed = { request, items, keys, promptItems: prompt, starts, features, settings, remembered }
  const marked = breakpointItems(placed)
  const end = marked.breakpoints.at(-1)
  return { ...placed, ...marked, end: end === undefined ? undefined : { item: end, key: keys[end]! } }
}

/** Truncates in place, because the previous prefix is no longer read. */
function truncateTo<T>(list: readonly T[], count: number): T[] {
  const own = list as T[]
  own.length = Math.min(own.length, count)
  return own
}

/** How many leading messages are the same objects. At least `unchanged` are known to be. */
export function sameMessages(before: readonly Message[], after: readonly Message[], unchanged: number): number {
  const max = Math.min(before.length, after.length)
  let same = Math.min(unchanged, max)
  while (same < max && before[same] === after[same]) same++
  return same
}

function featuresUpTo(messages: readonly Message[], known: ContentFeatures[]): readonly ContentFeatures[] {
  for (let at = known.length; at < messages.length; at++)
    known.push(withFeaturesOf(messages[at]!, known[at - 1] ?? NO_FEATURES))
  return known
}

/** How many messages keep their keys: none if anything before them, or the handling of thinking, has changed. */
function reusableMessages(
  before: PromptPrefix,
  now: Pick<PromptPrefix, "settings" | "remembered"> & { readonly key: string; readonly same: number },
): number {
  const promptKey = before.keys[before.promptItems - 1] ?? before.request.model
  if (promptKey !== now.key || joinValues(before.settings) !== joinValues(now.settings)) return 0
  return before.remembered === now.remembered ? now.same : Math.min(now.same, before.remembered, now.remembered)
}

class PrefixChain {
  items: PromptItem[] = []
  keys: string[] = []
  /** Starts with the model, because models do not share entries. */
  key: string

  constructor(model: string) {
    this.key = model
  }

  /** Returns the number of items. A setting is part of the key from the first item it affects. */
  addPrompt({ tools = [], system = "" }: ModelRequest, settings: readonly SettingValue[]): number {
    for (const tool of declaredTools(tools)) this.#add(tool, "tool")
    const ofSystem = joinValues(settings.filter(({ from }) => from === "system"))
    for (const [at, block] of toBlocks(system).entries()) this.#add(block, at === 0 ? `system ${ofSystem}` : "system")
    return this.items.length
  }

  addMessage({ role, content }: Message, how: { readonly isForgotten: boolean; readonly settings?: string }): void {
    const blocks = toBlocks(content).filter((block) => !how.isForgotten || !isThinking(block))
    for (const [at, block] of blocks.entries()) this.#add(block, at === 0 ? `${role} ${how.settings ?? ""}` : "")
  }

  /** Reuses the first items of an earlier chain. */
  takeOver({ items, keys }: PromptPrefix, count: number): void {
    this.items = truncateTo(items, count)
    this.keys = truncateTo(keys, count)
    this.key = this.keys[count - 1] ?? this.key
  }

  #add(item: PromptItem, tag: string): void {
    this.key = hash("sha256", `${this.key}\0${tag}\0${cachedText(item)}`, "base64url").slice(0, KEY_LENGTH)
    this.items.push(item)
    this.keys.push(this.key)
  }
}

function breakpointItems({
  request,
  promptItems,
  starts,
  remembered,
}: Pick<PromptPrefix, "request" | "promptItems" | "starts" | "remembered">): Pick<
  PromptPrefix,
  "breakpoints" | "leadItems"
> {
  const { tool: marked, system, preamble, positions } = findBreakpoints(request)
  const tools = declaredTools(request.tools ?? []).length
  const tool = marked < 0 ? -1 : declaredTools(request.tools!.slice(0, marked)).length
  const itemOf = ({ message, block }: BlockPosition) => {
    const ahead = toBlocks(request.messages[message]!.content).slice(0, block)
    return starts[message]! + ahead.filter((each) => message >= remembered || !isThinking(each)).length
  }
  const leading = preamble ? itemOf(preamble) : -1
  const all = [tool, system < 0 ? -1 : tools + system, leading, ...positions.map(itemOf)]
  return {
    breakpoints: [...new Set(all)].filter((at) => at >= 0).toSorted((a, b) => a - b),
    leadItems: Math.max(promptItems, leading + 1),
  }
}

const hasUserContent = ({ role, content }: Message): boolean =>
  role === "user" && toBlocks(content).some((block) => !isToolResult(block))

const joinValues = (settings: readonly SettingValue[]): string => settings.map(({ value }) => value).join(" ")

// The entries that the server's cache should hold for this conversation, based on the requests and the API's counts. The server's rules:
// entries end at breakpoints, live 5 minutes or an hour from the start of the request that wrote or read them, and are found up to 20 items
// back from each breakpoint. The number of entries is limited; the oldest are dropped.

/** How long an entry lives in the server's cache. */
export type CacheEntryLifetime = "5m" | "1h"

export const LIFETIME_MS: Readonly<Record<CacheEntryLifetime, number>> = { "5m": 5 * 60_000, "1h": 60 * 60_000 }

/** How many items the server checks back from a breakpoint, including the item with the breakpoint. */
export const LOOK_BACK = 20

const MAX_ENTRIES = 64 // each request writes two, and most live five minutes

export interface KnownEntry {
  /** Tokens of everything up to the end of the entry. */
  readonly tokens: number
  /** Whether the API counted them. Otherwise they are estimated. */
  readonly counted: boolean
  readonly lifetime: CacheEntryLifetime
  readonly expires: number
}

export interface FoundEntry extends KnownEntry {
  /** Index of the item that ends the entry. */
  readonly item: number
  readonly key: string
}

export class KnownEntries {
  readonly #entries = new Map<string, KnownEntry>()

  get(key: string): KnownEntry | undefined {
    return this.#entries.get(key)
  }

  /** The longest entry that the server would find. Without a time, expired entries are included. */
  find({ keys, breakpoints }: PromptPrefix, now = Number.NEGATIVE_INFINITY): FoundEntry | undefined {
    for (const breakpoint of breakpoints.toReversed()) {
      const last = Math.max(0, breakpoint + 1 - LOOK_BACK)
      for (let item = breakpoint; item >= last; item--) {
        const entry = this.#entries.get(keys[item]!)
        if (entry && entry.expires > now) return { ...entry, item, key: keys[item]! }
      }
    }
    return undefined
  }

  /** Adds or renews an entry for a request sent at `start`. Never shortens a longer lifetime. */
  keep(key: string, entry: Omit<KnownEntry, "expires"> & { readonly start: number }): void {
    const { start, tokens, counted } = entry
    const known = this.#entries.get(key)
    const outlives =
      known !== undefined && known.expires > start && LIFETIME_MS[known.lifetime] > LIFETIME_MS[entry.lifetime]
    const lifetime = outlives ? known.lifetime : entry.lifetime
    const expires = Math.max(known?.expires ?? 0, start + LIFETIME_MS[lifetime])
    this.#entries.delete(key) // reinserted as the most recently used entry
    this.#entries.set(key, { tokens, counted, lifetime, expires })
    if (this.#entries.size > MAX_ENTRIES) this.#entries.delete(this.#entries.keys().next().value!)
  }

  /** Drops longer entries after the server read less than expected. */
  dropLongerThan(tokens: number): void {
    for (const [key, entry] of this.#entries) if (entry.tokens > tokens) this.#entries.delete(key)
  }

  clear(): void {
    this.#entries.clear()
  }
}
