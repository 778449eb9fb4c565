/** Builds the body that replaces a client's body. The client's parts stay as they were written; Strata's changes are spliced in. */

import type { ModelRequest } from "@strata/core"
import { respell } from "@strata/core/messages"
import { placeBreakpoints, withBreakpoints } from "@strata/core/model"
import { serialiseMessage, serialiseRequest } from "@strata/core/views"
import { measureMessage } from "./measured-message.ts"
import type { ApiBody } from "./plan.ts"
import { hasRecall } from "./recall.ts"
import { clientText, textAround, textBefore, withSourceOf } from "./source-text.ts"

type Messages = ModelRequest["messages"]

const MAX_BREAKPOINTS = 4

/** The cache breakpoints of a body. */
export interface BreakpointSummary {
  /** Number of breakpoints in the system prompt and the tools. */
  readonly inPrompt: number
  readonly inMessages: number
  /** Whether the server places them. */
  readonly isAutomatic: boolean
  /** Lifetime for messages; the prompt may have a longer one. */
  readonly lifetime: "5m" | "1h"
}

export function summarizeBreakpoints({ system, tools, messages, cache_control }: ApiBody): BreakpointSummary {
  const inPrompt = [...listBreakpoints(system), ...listBreakpoints(tools)]
  const listed = Array.isArray(messages) ? messages : []
  const inMessages = listed.flatMap(messageBreakpoints)
  return {
    inPrompt: inPrompt.length,
    inMessages: inMessages.length,
    isAutomatic: cache_control !== undefined && cache_control !== null,
    lifetime: (inMessages.length > 0 ? inMessages : inPrompt).some((mark) => mark?.ttl === "1h") ? "1h" : "5m",
  }
}

type Breakpoint = { readonly ttl?: string } | null | undefined

/** Breakpoints by message, computed once, because a client's messages never change. */
const breakpointsByMessage = new WeakMap<object, readonly Breakpoint[]>()

function messageBreakpoints(message: { readonly content?: unknown }): readonly Breakpoint[] {
  const known = breakpointsByMessage.get(message) ?? listBreakpoints(message.content)
  breakpointsByMessage.set(message, known)
  return known
}

function listBreakpoints(items: unknown): readonly Breakpoint[] {
  if (!Array.isArray(items)) return []
  return items.flatMap((item: { cache_control?: Breakpoint; content?: unknown } | null) => [
    ...(item?.cache_control ? [item.cache_control] : []),
    ...(Array.isArray(item?.content) ? listBreakpoints(item.content) : []),
  ])
}

export interface BodyReplacement {
  readonly messages: Messages
  /** `false` for a side request, which reads the cache without writing to it. */
  readonly writesCache?: boolean
}

/**
 * Replaces the messages in the client's body. A list that equals the client's keeps the client's cache breakpoints. Otherwise a client that
 * sets breakpoints in its prompt keeps those, and Strata places the ones for the messages. A client that sets none gets breakpoints,
 * because without them every request is billed in full.
 */
export function bodyWith(body: ApiBody, { messages, ...caching }: BodyReplacement): ApiBody {
  const own = ownMessages(body, messages)
  const isMarked = placesBreakpoints(body, own)
  const next = withSourceOf(
    body,
    isMarked ? withStrataBreakpoints(body, { messages, ...caching }) : unchanged(body, { messages, own }),
  )
  origins.set(next, { own, isMarked, isWhole: isWholeList(body, own) })
  return next
}

/** `own`: as the client sent it. `marked`: with Strata's cache breakpoints. `other`: with another prompt or other messages. */
export function sentAs(body: ApiBody): "own" | "marked" | "other" {
  const origin = origins.get(body)
  if (!origin?.isWhole || hasRecall(body)) return "other"
  return origin.isMarked ? "marked" : "own"
}

type OwnMessages = readonly (object | undefined)[]

/** For each sent message, the client's message with the same content, if there is one. And whether Strata placed the breakpoints. */
const origins = new WeakMap<
  ApiBody,
  { readonly own: OwnMessages; readonly isMarked: boolean; readonly isWhole: boolean }
>()

function ownMessages({ messages: listed }: ApiBody, messages: Messages): OwnMessages {
  const places = new Map<string, number[]>()
  const list = Array.isArray(listed) ? (listed as readonly object[]) : []
  for (const [at, message] of list.entries()) {
    const { digest } = measureMessage(message)
    const same = places.get(digest)
    if (same) same.push(at)
    else places.set(digest, [at])
  }
  for (const same of places.values()) same.reverse() // so that `pop` takes the first one first
  return messages.map((message) => list[places.get(measureMessage(message).digest)?.pop() ?? -1])
}

const isWholeList = ({ messages }: ApiBody, own: OwnMessages): boolean =>
  Array.isArray(messages) && messages.length === own.length && messages.every((message, at) => message === own[at])

function placesBreakpoints(body: ApiBody, own: OwnMessages): boolean {
  const { isAutomatic, inMessages } = summarizeBreakpoints(body)
  return !isAutomatic && !(inMessages === 0 ? isSingleQuestion(body) : isWholeList(body, own))
}

const unchanged = (
  body: ApiBody,
  { messages, own }: { readonly messages: Messages; readonly own: OwnMessages },
): ApiBody => (isWholeList(body, own) ? { ...body } : { ...body, messages })

function withStrataBreakpoints(body: ApiBody, { messages, ...caching }: BodyReplacement): ApiBody {
  const breakpoints = summarizeBreakpoints(body)
  const request = { ...body, messages } as unknown as ModelRequest
  if (breakpoints.inPrompt === 0)
    return asBody(placeBreakpoints(request, { ...caching, lifetime: breakpoints.lifetime }))
  const max = MAX_BREAKPOINTS - breakpoints.inPrompt
  return { ...request, messages: withBreakpoints(messages, { ...caching, lifetime: breakpoints.lifetime, max }) }
}

/** Whether the request may be the only one of its kind: writing a cache that is never read costs 25% more. */
function isSingleQuestion({ messages, tools, tool_choice }: ApiBody): boolean {
  const isForced = ["any", "tool"].includes(String((tool_choice as ApiBody | null | undefined)?.type))
  const isFirst = Array.isArray(messages) && messages.every(({ role }: ApiBody) => role !== "assistant")
  return isFirst && (isForced || !Array.isArray(tools) || tools.length === 0)
}

const asBody = (request: ModelRequest): ApiBody => request as unknown as ApiBody

/** The encoded bytes of messages, cached because most messages stay the same objects and encoding is slow. */
const encoded = new WeakMap<object, Buffer>()

/** Encodes a body. If the client's text is known, the changes are spliced into that text. */
export function asBytes(body: ApiBody): Buffer<ArrayBuffer> {
  const { messages = [], ...rest } = body
  const around = textAround(body)
  const { own, isMarked } = (around && origins.get(body)) ?? { own: [], isMarked: false }
  const list = messages as Messages
  const parts = list.flatMap((message, at) => {
    const inBlocks = isMarked && message.role === "user"
    const gap = gapBefore(at, own)
    return [gap === "," ? COMMA : Buffer.from(gap), bytesOf(message, { own: own[at], inBlocks })]
  })
  const isEnd = own.length > 0 && own.at(-1) !== undefined
  const front = around?.front ?? serialiseRequest({ ...rest, messages: [] } as unknown as ModelRequest).slice(0, -2)
  const end = around ? (isEnd ? around.after : "") + around.end : "]}"
  return Buffer.concat([Buffer.from(front), ...parts, Buffer.from(end)])
}

const COMMA = Buffer.from(",")

/** The text before a message: the client's own, if it is between the same messages there. */
function gapBefore(at: number, own: OwnMessages): string {
  const message = own[at]
  const gap = message && (at === 0 || own[at - 1]) ? textBefore(message) : ","
  return at === 0 ? gap.replace(",", "") : gap.includes(",") ? gap : `,${gap}`
}

interface MessageOrigin {
  /** The client's message with the same content. Its text is sent with Strata's breakpoints. */
  readonly own: { readonly content?: unknown } | undefined
  /** Keeps text in the form of blocks, because an earlier request may have ended with this message and set a breakpoint on it. */
  readonly inBlocks: boolean
}

function bytesOf(message: Messages[number], { own, inBlocks }: MessageOrigin): Buffer {
  const hasBreakpoints = own && messageBreakpoints(message).length + messageBreakpoints(own).length > 0
  if (own && (hasBreakpoints || (inBlocks && typeof own.content === "string")))
    return Buffer.from(respell(clientText(own), own, { ...own, content: message.content }))
  const known = own ?? message
  const bytes = encoded.get(known) ?? Buffer.from(own ? clientText(own) : serialiseMessage(message))
  encoded.set(known, bytes)
  return bytes
}

/** Computes a value of the system prompt and the tools once, as long as the bodies of a client share these objects. */
export function oncePerPrompt<T>(compute: (prompt: Pick<ApiBody, "system" | "tools">) => T): (body: ApiBody) => T {
  const known = new WeakMap<object, { readonly system: unknown; readonly tools: unknown; readonly value: T }>()
  return ({ system, tools }) => {
    const key = [tools, system].find((part) => typeof part === "object" && part !== null)
    const before = key && known.get(key)
    if (before && before.system === system && before.tools === tools) return before.value
    const value = compute({ system, tools })
    if (key) known.set(key, { system, tools, value })
    return value
  }
}

/** The prompt of a body, without the first block of some versions, which changes with every request and is not part of the conversation. */
export const promptIn = oncePerPrompt(({ system, tools }) => {
  const blocks = Array.isArray(system)
    ? system.filter((block: { text?: unknown }) => !/^x-anthropic-billing-header:/.test(String(block?.text ?? "")))
    : system
  return {
    ...(blocks === undefined ? {} : { system: bare(blocks) as never }),
    ...(Array.isArray(tools) ? { tools: bare(tools) as never } : {}),
  }
})

/** Without breakpoints, which move, and without fields of the framework, which are in the client's own prompt. */
function bare(items: unknown): unknown {
  if (!Array.isArray(items)) return items
  return items.map((item: Record<string, unknown>) => {
    const { cache_control: _, door: __, ...rest } = item
    return rest
  })
}

const THINKING: ReadonlySet<string> = new Set(["thinking", "redacted_thinking"])

export function withoutThinking(message: Messages[number]): Messages[number] {
  if (message.role !== "assistant" || !Array.isArray(message.content)) return message
  const content = message.content.filter((block) => !THINKING.has(block?.type))
  return content.length === message.content.length || content.length === 0 ? message : { ...message, content }
}
