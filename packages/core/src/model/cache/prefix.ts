/**
 * A request as the server's cache sees it: a list of items (tools, system blocks, message blocks), each with a key for everything up to it,
 * and the places of its breakpoints. Equal keys mean equal bytes.
 *
 * Unchanged messages are the same objects as in the request before, so what is known about them is reused. The lists move to the new prefix
 * and are changed in place, so a request costs what it changes. From then on, only the request, the end and the settings of the old
 * prefix may be read.
 */
import { hash } from "node:crypto"
import { isThinking, isToolResult, toBlocks } from "../../messages/blocks.ts"
import type { ModelRequest } from "../../messages/request.ts"
import { declaredTools } from "../../messages/tool-references.ts"
import { breakpointsIn, type Place } from "./breakpoints.ts"
import { cachedText, type PromptItem } from "./cached-text.ts"
import { type Features, NO_FEATURES, type SettingValue, settingsOf, withFeaturesOf } from "./prompt-settings.ts"

export interface PromptPrefix {
  readonly request: ModelRequest
  /** The key of its last breakpoint, and which item that is. */
  readonly end: { readonly item: number; readonly key: string } | undefined
  readonly items: readonly PromptItem[]
  /** For each item: the key of everything up to it. */
  readonly keys: readonly string[]
  /** Which items are marked, in order. */
  readonly breakpoints: readonly number[]
  /** How many of the items are tools and system prompt. */
  readonly promptItems: number
  /** How many of the items, from the first, live as long as the prompt: with the first block of the messages, where that is marked. */
  readonly leadItems: number
  /** Where the items of each message begin. */
  readonly starts: readonly number[]
  /** Of the messages up to each one. */
  readonly features: readonly Features[]
  readonly settings: readonly SettingValue[]
  /** Messages before this one have no thinking for the model. */
  readonly remembered: number
}

export interface PrefixOptions {
  /** The previous one. Its lists move to the new one. */
  readonly before?: PromptPrefix | undefined
  /** How many messages, from the first, are known to be the same objects. */
  readonly unchanged?: number
  /** The model gets no thinking from before the user's last message. */
  readonly forgetsThinking: boolean
}

type Message = ModelRequest["messages"][number]

const KEY_LENGTH = 22 // characters of base64url: 132 bits

export function prefixOf(
  request: ModelRequest,
  { before, forgetsThinking, unchanged = 0 }: PrefixOptions,
): PromptPrefix {
  const { messages } = request
  const same = before ? sameMessages(before.request.messages, messages, unchanged) : 0
  const features = featuresUpTo(messages, before ? cutTo(before.features, same) : [])
  const settings = settingsOf(request, features[messages.length - 1] ?? NO_FEATURES)
  const remembered = forgetsThinking ? Math.max(0, messages.findLastIndex(isSpoken)) : 0
  const chain = new Chain(request.model)
  const prompt = chain.addPrompt(request, settings)
  const known = before ? knownMessages(before, { key: chain.key, settings, remembered, same }) : 0
  const kept = before && known > 0 ? (before.starts[known] ?? before.items.length) : 0
  const starts = before ? cutTo(before.starts, known) : []
  if (before && known > 0) chain.takeOver(before, kept)
  for (let at = starts.length; at < messages.length; at++) {
    starts.push(chain.items.length)
    chain.addMessage(messages[at]!, {
      isForgotten: at < remembered,
      ...(at === 0 ? { settings: joined(settings) } : {}),
    })
  }
  const { items, keys } = chain
  const placed = { request, items, keys, promptItems: prompt, starts, features, settings, remembered }
  const marked = markedItems(placed)
  const end = marked.breakpoints.at(-1)
  return { ...placed, ...marked, end: end === undefined ? undefined : { item: end, key: keys[end]! } }
}

/** In place: the prefix it came from is no longer read. */
function cutTo<T>(list: readonly T[], count: number): T[] {
  const own = list as T[]
  own.length = Math.min(own.length, count)
  return own
}

/** How many messages, from the first, are the same objects. So many are known to be: `unchanged`. */
export function sameMessages(before: readonly Message[], after: readonly Message[], unchanged: number): number {
  const most = Math.min(before.length, after.length)
  let same = Math.min(unchanged, most)
  while (same < most && before[same] === after[same]) same++
  return same
}

function featuresUpTo(messages: readonly Message[], known: Features[]): readonly Features[] {
  for (let at = known.length; at < messages.length; at++)
    known.push(withFeaturesOf(messages[at]!, known[at - 1] ?? NO_FEATURES))
  return known
}

/** How many messages keep their keys: none where anything before them, or the handling of thinking, has changed. */
function knownMessages(
  before: PromptPrefix,
  now: Pick<PromptPrefix, "settings" | "remembered"> & { readonly key: string; readonly same: number },
): number {
  const promptKey = before.keys[before.promptItems - 1] ?? before.request.model
  if (promptKey !== now.key || joined(before.settings) !== joined(now.settings)) return 0
  return before.remembered === now.remembered ? now.same : Math.min(now.same, before.remembered, now.remembered)
}

class Chain {
  items: PromptItem[] = []
  keys: string[] = []
  /** Models do not share entries, so every key begins with the model. */
  key: string

  constructor(model: string) {
    this.key = model
  }

  /** Returns the number of items. Settings count from the first item of their part on. */
  addPrompt({ tools = [], system = "" }: ModelRequest, settings: readonly SettingValue[]): number {
    for (const tool of declaredTools(tools)) this.#add(tool, "tool")
    const ofSystem = joined(settings.filter(({ from }) => from === "system"))
    for (const [at, block] of toBlocks(system).entries()) this.#add(block, at === 0 ? `system ${ofSystem}` : "system")
    return this.items.length
  }

  addMessage({ role, content }: Message, how: { readonly isForgotten: boolean; readonly settings?: string }): void {
    const blocks = toBlocks(content).filter((block) => !how.isForgotten || !isThinking(block))
    for (const [at, block] of blocks.entries()) this.#add(block, at === 0 ? `${role} ${how.settings ?? ""}` : "")
  }

  /** The first items of an earlier chain, which begins with those of this one. */
  takeOver({ items, keys }: PromptPrefix, count: number): void {
    this.items = cutTo(items, count)
    this.keys = cutTo(keys, count)
    this.key = this.keys[count - 1] ?? this.key
  }

  #add(item: PromptItem, tag: string): void {
    this.key = hash("sha256", `${this.key}\0${tag}\0${cachedText(item)}`, "base64url").slice(0, KEY_LENGTH)
    this.items.push(item)
    this.keys.push(this.key)
  }
}

function markedItems({
  request,
  promptItems,
  starts,
  remembered,
}: Pick<PromptPrefix, "request" | "promptItems" | "starts" | "remembered">): Pick<
  PromptPrefix,
  "breakpoints" | "leadItems"
> {
  const { tool: marked, system, preamble, places } = breakpointsIn(request)
  const tools = declaredTools(request.tools ?? []).length
  const tool = marked < 0 ? -1 : declaredTools(request.tools!.slice(0, marked)).length
  const itemOf = ({ message, block }: Place) => {
    const ahead = toBlocks(request.messages[message]!.content).slice(0, block)
    return starts[message]! + ahead.filter((each) => message >= remembered || !isThinking(each)).length
  }
  const leading = preamble ? itemOf(preamble) : -1
  const all = [tool, system < 0 ? -1 : tools + system, leading, ...places.map(itemOf)]
  return {
    breakpoints: [...new Set(all)].filter((at) => at >= 0).toSorted((a, b) => a - b),
    leadItems: Math.max(promptItems, leading + 1),
  }
}

const isSpoken = ({ role, content }: Message): boolean =>
  role === "user" && toBlocks(content).some((block) => !isToolResult(block))

const joined = (settings: readonly SettingValue[]): string => settings.map(({ value }) => value).join(" ")
