/**
 * A session of opencode as its plugins get it: all messages with their parts, oldest first. The importer reads them. A message of opencode
 * may contain several responses and their results, so it becomes several messages.
 */
import type { CompactableMessage } from "@strata/core"
import { isBoundary, type Message } from "@strata/core/messages"
import { openCode } from "@strata/transcripts/import"
import type { ClientSession } from "./clients.ts"

interface SessionMessage {
  readonly info?: {
    readonly id?: unknown
    readonly role?: unknown
    readonly parentID?: unknown
    readonly summary?: unknown
    readonly finish?: unknown
    readonly error?: unknown
  }
  readonly parts?: readonly Part[]
}

interface Part {
  readonly type?: unknown
  readonly synthetic?: unknown
  readonly tail_start_id?: unknown
  readonly state?: {
    readonly output?: unknown
    readonly metadata?: { readonly exit?: unknown }
  }
}

export function opencodeSession(given: readonly unknown[]): ClientSession {
  const messages = given.map((message) => Object(message) as SessionMessage)
  const withPosition = (message: SessionMessage, at: number) =>
    messagesIn(message).map((each) => ({ message: each, at }))
  const spoken = messages.map((message, at) => (isOfCompaction(message) ? [] : withPosition(message, at)))
  const boundary = messages.findLastIndex(isSummary)
  const first = firstInView(messages, boundary)
  return {
    inView: [...(boundary < 0 ? [] : withPosition(messages[boundary]!, boundary)), ...spoken.slice(first).flat()],
    earlier: spoken.slice(0, first).flatMap((each) => each.map(({ message }) => message)),
  }
}

/** Position of the first message that the newest compaction left in context. */
function firstInView(messages: readonly SessionMessage[], boundary: number): number {
  if (boundary < 0) return 0
  const order = messages.find(({ info }) => info?.id === messages[boundary]!.info?.parentID)
  const tail = partsOf(order).find(isCompactionPart)?.tail_start_id
  const at = messages.findIndex(({ info }) => tail !== undefined && info?.id === tail)
  return at >= 0 && at < boundary ? at : boundary + 1
}

const partsOf = (message: SessionMessage | undefined): readonly Part[] =>
  Array.isArray(message?.parts) ? message.parts.map((part) => Object(part) as Part) : []

const isCompactionPart = ({ type }: Part) => type === "compaction"

/** Uses opencode's own criteria: a failed attempt left everything in context. */
const isSummary = ({ info }: SessionMessage) =>
  info?.role === "assistant" && info.summary === true && Boolean(info.finish) && !info.error

/** The compaction request and the summary. On the user's messages, `summary` is a title. */
const isOfCompaction = (message: SessionMessage) =>
  (message.info?.role === "assistant" && message.info.summary === true) || partsOf(message).some(isCompactionPart)

/** Content that opencode adds to a user message, such as the text of a file, is read separately, because the user did not write it. */
function messagesIn(message: SessionMessage): readonly CompactableMessage[] {
  const parts = partsOf(message)
  const added = message.info?.role === "user" ? parts.filter(({ synthetic }) => synthetic === true) : []
  const own = parts.filter((part) => !added.includes(part))
  return [read({ ...message, parts: own }, ""), read({ ...message, parts: added }, "added ")].flat()
}

function read({ info, parts = [] }: SessionMessage, which: string): readonly CompactableMessage[] {
  if (parts.length === 0) return []
  return opencodeLines([{ info, parts: parts.map(withExitCode) }], `${which}${info?.id}`).filter(
    (line) => !isBoundary(line),
  )
}

/** Messages as the importer reads them from an export of the session. */
export function opencodeLines(messages: readonly unknown[], id = ""): readonly Message[] {
  const [read] = openCode.read({ name: "", text: JSON.stringify({ info: { id }, messages }) })
  return read!.messages
}

/** opencode stores the exit code of a command next to its output. */
function withExitCode(part: Part): Part {
  const { state } = part
  const exit = state?.metadata?.exit
  if (typeof exit !== "number" || exit === 0) return part
  return { ...part, state: { ...state, output: `Exit code ${exit}\n${state?.output ?? ""}` } }
}
