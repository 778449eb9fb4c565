/** A caller's body and what is sent in its place. Everything the caller says stays; only its messages are ours, and where caches end. */
import type { ModelRequest } from "../messages/request.ts"
import { markedMessages, placeBreakpoints } from "../model/cache/breakpoints.ts"
import { serialiseRequest, writtenOut } from "../views/context/request.ts"
import type { Body } from "./plan.ts"

type Messages = ModelRequest["messages"]

const MOST_MARKS = 4

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
 * The caller's body with other messages. A caller that marks its prompt keeps its marks and lends us those for the messages; one that marks
 * nothing gets marks, because without them every request is paid in full.
 */
export function bodyWith(body: Body, { messages, ...caching }: Replacement): Body {
  const marks = marksIn(body)
  const request = { ...body, messages } as unknown as ModelRequest
  if (marks.isAutomatic || (marks.inMessages === 0 && isSingleQuestion(body))) return asBody(request)
  if (marks.inPrompt === 0) return asBody(placeBreakpoints(request, { ...caching, lifetime: marks.lifetime }))
  const most = MOST_MARKS - marks.inPrompt
  return { ...request, messages: markedMessages(messages, { ...caching, lifetime: marks.lifetime, most }) }
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
const COMMA = Buffer.from(",")
const END = Buffer.from("]}")

export function asBytes({ messages = [], ...rest }: Body): Buffer<ArrayBuffer> {
  const empty = serialiseRequest({ ...rest, messages: [] } as unknown as ModelRequest)
  const front = Buffer.from(empty.slice(0, -END.length))
  const parts = (messages as Messages).flatMap((message, at) =>
    at === 0 ? bytesOf(message) : [COMMA, bytesOf(message)],
  )
  return Buffer.concat([front, ...parts, END])
}

function bytesOf(message: Messages[number]): Buffer {
  const bytes = written.get(message) ?? Buffer.from(writtenOut(message))
  written.set(message, bytes)
  return bytes
}
