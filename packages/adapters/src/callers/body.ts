/** A caller's body and what is sent in its place. What the caller says stays as it was written; what we decide is spliced in. */

import type { ModelRequest } from "@strata/core"
import { respell } from "@strata/core/messages"
import { placeBreakpoints, withBreakpoints } from "@strata/core/model"
import { serialiseRequest, writtenOut } from "@strata/core/views"
import { measured } from "./measured-message.ts"
import type { Body } from "./plan.ts"
import { hasRecall } from "./recall.ts"
import { callerText, textAround, textBefore, writtenLike } from "./source-text.ts"

type Messages = ModelRequest["messages"]

const MAX_MARKS = 4

/** How a body marks what the server may cache. */
export interface Marks {
  /** In system prompt and tools. */
  readonly inPrompt: number
  readonly inMessages: number
  /** The server places them. */
  readonly isAutomatic: boolean
  /** Of the messages: a prompt may live longer. */
  readonly lifetime: "5m" | "1h"
}

export function marksIn({ system, tools, messages, cache_control }: Body): Marks {
  const inPrompt = [...markedIn(system), ...markedIn(tools)]
  const listed = Array.isArray(messages) ? messages : []
  const inMessages = listed.flatMap(marksOfMessage)
  return {
    inPrompt: inPrompt.length,
    inMessages: inMessages.length,
    isAutomatic: cache_control !== undefined && cache_control !== null,
    lifetime: (inMessages.length > 0 ? inMessages : inPrompt).some((mark) => mark?.ttl === "1h") ? "1h" : "5m",
  }
}

type Mark = { readonly ttl?: string } | null | undefined

/** Of each message once: a client's messages never change. */
const marks = new WeakMap<object, readonly Mark[]>()

function marksOfMessage(message: { readonly content?: unknown }): readonly Mark[] {
  const known = marks.get(message) ?? markedIn(message.content)
  marks.set(message, known)
  return known
}

function markedIn(items: unknown): readonly Mark[] {
  if (!Array.isArray(items)) return []
  return items.flatMap((item: { cache_control?: Mark; content?: unknown } | null) => [
    ...(item?.cache_control ? [item.cache_control] : []),
    ...(Array.isArray(item?.content) ? markedIn(item.content) : []),
  ])
}

export interface Replacement {
  readonly messages: Messages
  /** A request beside the conversation reads what is cached and leaves nothing of its own. */
  readonly writesCache?: boolean
}

/**
 * The caller's body with other messages. A list that is still the caller's own keeps the caller's marks. Otherwise a caller that marks its
 * prompt keeps those marks and lends us those for the messages; one that marks nothing gets marks, because without them every request is
 * paid in full.
 */
export function bodyWith(body: Body, { messages, ...caching }: Replacement): Body {
  const own = ownMessages(body, messages)
  const isMarked = isMarkedByUs(body, own)
  const next = writtenLike(body, isMarked ? marked(body, { messages, ...caching }) : unchanged(body, { messages, own }))
  origins.set(next, { own, isMarked, isWhole: isWholeList(body, own) })
  return next
}

/** `own`: as the caller sent it. `marked`: with marks of ours. `other`: with another prompt or other messages. */
export function sentAs(body: Body): "own" | "marked" | "other" {
  const origin = origins.get(body)
  if (!origin?.isWhole || hasRecall(body)) return "other"
  return origin.isMarked ? "marked" : "own"
}

type Own = readonly (object | undefined)[]

/** For each message that is sent: the caller's message that says the same, if there is one. And whether the marks are ours. */
const origins = new WeakMap<Body, { readonly own: Own; readonly isMarked: boolean; readonly isWhole: boolean }>()

function ownMessages({ messages: listed }: Body, messages: Messages): Own {
  const places = new Map<string, number[]>()
  const list = Array.isArray(listed) ? (listed as readonly object[]) : []
  for (const [at, message] of list.entries()) {
    const { digest } = measured(message)
    const same = places.get(digest)
    if (same) same.push(at)
    else places.set(digest, [at])
  }
  for (const same of places.values()) same.reverse() // the first is taken first
  return messages.map((message) => list[places.get(measured(message).digest)?.pop() ?? -1])
}

const isWholeList = ({ messages }: Body, own: Own): boolean =>
  Array.isArray(messages) && messages.length === own.length && messages.every((message, at) => message === own[at])

function isMarkedByUs(body: Body, own: Own): boolean {
  const { isAutomatic, inMessages } = marksIn(body)
  return !isAutomatic && !(inMessages === 0 ? isSingleQuestion(body) : isWholeList(body, own))
}

const unchanged = (body: Body, { messages, own }: { readonly messages: Messages; readonly own: Own }): Body =>
  isWholeList(body, own) ? { ...body } : { ...body, messages }

function marked(body: Body, { messages, ...caching }: Replacement): Body {
  const marks = marksIn(body)
  const request = { ...body, messages } as unknown as ModelRequest
  if (marks.inPrompt === 0) return asBody(placeBreakpoints(request, { ...caching, lifetime: marks.lifetime }))
  const max = MAX_MARKS - marks.inPrompt
  return { ...request, messages: withBreakpoints(messages, { ...caching, lifetime: marks.lifetime, max }) }
}

/** It may be the only request of its kind: a cache that is never read costs a quarter more. */
function isSingleQuestion({ messages, tools, tool_choice }: Body): boolean {
  const isForced = ["any", "tool"].includes(String((tool_choice as Body | null | undefined)?.type))
  const isFirst = Array.isArray(messages) && messages.every(({ role }: Body) => role !== "assistant")
  return isFirst && (isForced || !Array.isArray(tools) || tools.length === 0)
}

const asBody = (request: ModelRequest): Body => request as unknown as Body

/** The bytes of a message that a request had before: most messages stay the same objects, and text takes long to encode. */
const written = new WeakMap<object, Buffer>()

/** A body that came as a text is spliced into that text. */
export function asBytes(body: Body): Buffer<ArrayBuffer> {
  const { messages = [], ...rest } = body
  const around = textAround(body)
  const { own, isMarked } = (around && origins.get(body)) ?? { own: [], isMarked: false }
  const list = messages as Messages
  const parts = list.flatMap((message, at) => {
    const inBlocks = isMarked && message.role === "user"
    return [Buffer.from(gapBefore(at, own)), bytesOf(message, { own: own[at], inBlocks })]
  })
  const isEnd = own.length > 0 && own.at(-1) !== undefined
  const front = around?.front ?? serialiseRequest({ ...rest, messages: [] } as unknown as ModelRequest).slice(0, -2)
  const end = around ? (isEnd ? around.after : "") + around.end : "]}"
  return Buffer.concat([Buffer.from(front), ...parts, Buffer.from(end)])
}

/** As the caller has it, where it is between the same messages. */
function gapBefore(at: number, own: Own): string {
  const message = own[at]
  const gap = message && (at === 0 || own[at - 1]) ? textBefore(message) : ","
  return at === 0 ? gap.replace(",", "") : gap.includes(",") ? gap : `,${gap}`
}

interface Origin {
  /** The caller's message that says the same. Its text is sent, with our marks. */
  readonly own: { readonly content?: unknown } | undefined
  /** A request may have ended with it, and marked it: a text keeps the form in which it can carry a mark. */
  readonly inBlocks: boolean
}

function bytesOf(message: Messages[number], { own, inBlocks }: Origin): Buffer {
  const hasMarks = own && marksOfMessage(message).length + marksOfMessage(own).length > 0
  if (own && (hasMarks || (inBlocks && typeof own.content === "string")))
    return Buffer.from(respell(callerText(own), own, { ...own, content: message.content }))
  const known = own ?? message
  const bytes = written.get(known) ?? Buffer.from(own ? callerText(own) : writtenOut(message))
  written.set(known, bytes)
  return bytes
}

/** The block before the prompt changes with every request of some versions. It is the server's, not the conversation's. */
export function promptIn({ system, tools }: Body) {
  const blocks = Array.isArray(system)
    ? system.filter((block: { text?: unknown }) => !/^x-anthropic-billing-header:/.test(String(block?.text ?? "")))
    : system
  return {
    ...(blocks === undefined ? {} : { system: bare(blocks) as never }),
    ...(Array.isArray(tools) ? { tools: bare(tools) as never } : {}),
  }
}

/** Without marks, which move, and what a door keeps: it is in the caller's own prompt, which is sent. */
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
