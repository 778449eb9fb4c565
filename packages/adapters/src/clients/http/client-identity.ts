/** Identifies the client of a request, and whether the request is part of a conversation, from the headers and bodies of known clients. */
import type { IncomingHttpHeaders } from "node:http"
import { blocksIn } from "@strata/core/messages"
import type { ApiBody, ClientInfo } from "../plan.ts"

/** For programs with ids of their own. */
export const CONVERSATION_HEADER = "strata-conversation"

/** Headers in which clients send the id of a conversation, by priority. */
const ID_HEADERS = ["x-claude-code-session-id", "x-session-id", "x-session-affinity"] as const
const THREAD_HEADER = "x-claude-code-agent-id"
const MAX_ID = 200 // characters

export function clientOf(headers: IncomingHttpHeaders, body: ApiBody): ClientInfo {
  const id = ID_HEADERS.map((name) => textIn(headers, name)).find(Boolean) ?? sessionIn(body)
  const thread = textIn(headers, THREAD_HEADER)
  return {
    name: nameOf(headers),
    ...(id ? { id: id.slice(0, MAX_ID) } : {}),
    ...(thread ? { thread: thread.slice(0, MAX_ID) } : {}),
    tools: toolNames(body),
  }
}

/** The conversation that a program names. It contains all requests with this header. */
export const namedIn = (headers: IncomingHttpHeaders): string | undefined =>
  textIn(headers, CONVERSATION_HEADER)?.slice(0, MAX_ID)

/**
 * Whether a request is not part of a conversation. Titles, warm-ups and questions about one command carry the id of their conversation, but
 * none of its tools. A program without an id may well work without tools: it has a conversation as soon as there is something to store.
 */
export function isAside({ id }: ClientInfo, { tools, messages, max_tokens }: ApiBody): boolean {
  const isShort = !Array.isArray(messages) || messages.length === 0 || max_tokens === 0 || max_tokens === 1
  if (isShort || id === undefined) return isShort
  return !Array.isArray(tools) || tools.length === 0 || isWarmUp(messages[0])
}

/** Claude Code 2.0 sends a warm-up request for each kind of sub-agent, to cache its prompt. */
const isWarmUp = (first: { readonly content?: unknown } | null): boolean =>
  blocksIn(first?.content).some(({ text }) => text === "Warmup")

/** Session id from `metadata.user_id`: a JSON text with a session, or `user_…_session_UUID`. */
function sessionIn({ metadata }: ApiBody): string | undefined {
  const user = (metadata as { readonly user_id?: unknown } | undefined)?.user_id
  if (typeof user !== "string") return undefined
  const named = /_session_([0-9a-fA-F-]{36})$/.exec(user)?.[1]
  if (named) return named
  if (!user.startsWith("{")) return undefined
  try {
    const { session_id } = JSON.parse(user) as { readonly session_id?: unknown }
    return typeof session_id === "string" ? session_id : undefined
  } catch {
    return undefined
  }
}

/** With a message thread, the server stores the conversation: a request has only the new messages, so there is no list to follow. */
export const isThreaded = ({ thread }: ApiBody): boolean => thread !== undefined && thread !== null

/** Tool runners of newer SDKs start a thread by default. If the server does not support threads, they send the complete list. */
export const takesListForThread = (headers: IncomingHttpHeaders): boolean =>
  /\bBetaToolRunner\b/.test(textIn(headers, "x-stainless-helper") ?? "")

/** Deferred tools change during a conversation, so they do not identify a thread. */
function toolNames({ tools }: ApiBody): readonly string[] {
  if (!Array.isArray(tools)) return []
  return tools.flatMap((tool: { name?: unknown; defer_loading?: unknown }) =>
    typeof tool?.name === "string" && !tool.defer_loading ? tool.name : [],
  )
}

function nameOf(headers: IncomingHttpHeaders): string {
  const agent = textIn(headers, "user-agent") ?? ""
  if (textIn(headers, "x-claude-code-session-id")) return "Claude Code"
  return /^[\w.-]+(?:\/[\w.-]+)?/.exec(agent)?.[0].slice(0, 60) ?? "a program"
}

function textIn(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name]
  return typeof value === "string" && value !== "" ? value : undefined
}
