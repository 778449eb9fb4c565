/**
 * `strata compact-messages`: one JSON request, one JSON response. An agent sends the messages of its context in its own format. If it also
 * sends the id of its session, the transcript on disk adds content that its message type omits, and messages that earlier compactions
 * removed from context.
 */
import {
  type CompactableMessage,
  type CompactedMessages,
  type CompactionCarryover,
  type CompactMessagesOptions,
  compactMessages,
} from "@strata/core"
import { isBoundary, type Message } from "@strata/core/messages"
import type { CompactionRecord, PrunedText } from "@strata/core/policy"
import { listActiveBranch } from "@strata/transcripts/import"
import { type SessionMessage, sessionMessage } from "./claude-code-messages.ts"
import { clientSession } from "./client-session.ts"
import type { Client, ClientSession, Environment, PlacedMessage } from "./clients.ts"
import { recordedView, recordSessionLines } from "./session-record.ts"
import { isSummary, isTalk, readTranscript, transcriptOf } from "./transcripts.ts"

export interface CompactRequest
  extends Pick<
    CompactMessagesOptions,
    "budget" | "keep" | "instructions" | "model" | "recall" | "mode" | "continuation" | "transcript" | "before"
  > {
  /**
   * Messages in the format of the Messages API, or that of the client: for pi all entries of the branch, for opencode all messages of the
   * session.
   * Default: all messages of the transcript.
   */
  readonly messages?: readonly unknown[]
  /** A summary that is already written. */
  readonly summary?: string
  readonly client?: Client
  /** The id of the session, by which its transcript is found. */
  readonly session?: string
  /** The sub-agent that the messages belong to. */
  readonly agent?: string
  /** Whether the response includes the record as data, and the state for the next call. */
  readonly data?: boolean
}

export interface CompactResponse {
  /** Replaces the messages outside the tail. Empty if nothing can be summarised. */
  readonly text: string
  /** The computed part of `text`, to be added after a summary of the client's own. */
  readonly facts: string
  /** Positions of the messages in the tail. */
  readonly kept: readonly number[]
  /** In the mode "prune": replacement texts of the results that were cut. All messages stay. */
  readonly pruned?: readonly PrunedText[]
  readonly tokens: { readonly before: number; readonly after: number; readonly facts: number; readonly kept: number }
  /** Set if the result exceeds the budget. */
  readonly overBudget?: CompactedMessages<CompactableMessage>["overBudget"]
  /** The transcript that was read. */
  readonly transcript?: string
  readonly record?: CompactionRecord
  readonly state?: CompactionCarryover
}

/** The messages that were in context before a compaction, in the client's format. */
export interface UndoResponse {
  readonly messages: readonly SessionMessage[]
}

export async function compactSession(request: CompactRequest, env: Environment): Promise<CompactResponse> {
  const { messages = [], client, session, agent, data = false, ...options } = request
  const given = clientSession(messages, { client, session })
  const found = client && session && !agent ? await transcriptOf(client, session, env) : undefined
  const { inView, ...known } = await resolveView(given, {
    client,
    session,
    found,
    env,
    hasEarlierState: options.before !== undefined,
  })
  const transcript = options.transcript ?? found
  const carried = await compactMessages(
    inView.map(({ message }) => message),
    { ...known, ...options, ...(transcript === undefined ? {} : { transcript }) },
  )
  const held = new Set<CompactableMessage>(carried.kept)
  const cut = new Set(inView.flatMap(({ message, at }) => (held.has(message) ? [] : at)))
  return {
    text: carried.text,
    facts: carried.facts,
    kept: [...new Set(inView.map(({ at }) => at).filter((at) => !cut.has(at)))],
    tokens: carried.tokens,
    ...(carried.pruned ? { pruned: carried.pruned } : {}),
    ...(carried.overBudget ? { overBudget: carried.overBudget } : {}),
    ...(found === undefined ? {} : { transcript: found }),
    ...(data ? { record: carried.record, state: carried.state } : {}),
  }
}

interface SessionSource {
  readonly client: Client | undefined
  readonly session: string | undefined
  /** Path of the transcript. */
  readonly found: string | undefined
  readonly env: Environment
  /** Whether the request includes the state of an earlier call. */
  readonly hasEarlierState: boolean
}

/** The messages in context, and earlier ones: as messages, or as a record. */
interface SessionView extends Pick<CompactMessagesOptions, "earlier" | "before"> {
  readonly inView: readonly PlacedMessage[]
}

async function resolveView(
  given: ClientSession,
  { client, session, found, env, hasEarlierState }: SessionSource,
): Promise<SessionView> {
  const isGiven = given.inView.length > 0
  if (found === undefined || hasEarlierState || (isGiven && client !== "claude-code")) {
    const { inView, earlier } = given // the other clients send both completely
    return { inView, ...(earlier.length > 0 ? { earlier } : {}) }
  }
  if (client !== "claude-code") return { inView: allOf(await readActiveBranch(found)) }
  const recorded = await recordSessionLines(
    { session: session!, transcript: found, env },
    { allLines: !isGiven },
  ).catch(
    () => undefined, // without a transcript the client's messages are enough
  )
  if (!recorded) return given
  const copies = new Set(recorded.recorded.flatMap(({ uuid, of }) => (of === undefined ? [] : uuid)))
  const inView = isGiven ? given.inView : allOf(recorded.lines.filter(({ uuid }) => !copies.has(uuid)))
  const { messages, before } = await recordedView(
    recorded,
    inView.map(({ message }) => message),
  )
  return { inView: inView.map(({ at }, nth) => ({ message: messages[nth]!, at })), before }
}

const allOf = (lines: readonly Message[]): readonly PlacedMessage[] =>
  lines.filter((line) => !isBoundary(line)).map((message, at) => ({ message, at }))

/** The active branch of a transcript. */
async function readActiveBranch(path: string): Promise<readonly Message[]> {
  const imported = await readTranscript(path).catch(() => undefined)
  return imported ? listActiveBranch(imported.messages) : []
}

/** Updates the record of a session before a compaction, so that the compaction takes less time. */
export async function recordSession(
  { client, session }: Pick<CompactRequest, "client" | "session">,
  env: Environment,
): Promise<{ readonly lines: number }> {
  const transcript = client === "claude-code" && session ? await transcriptOf(client, session, env) : undefined
  if (transcript === undefined) return { lines: 0 }
  const { recorded } = await recordSessionLines({ session: session!, transcript, env })
  return { lines: recorded.length }
}

/** The messages that were in context before the newest compaction, followed by later ones. Empty without a compaction. */
export async function restoreCompactedMessages(
  { client, session }: Pick<CompactRequest, "client" | "session">,
  env: Environment,
): Promise<UndoResponse> {
  const found = client && session ? await transcriptOf(client, session, env) : undefined
  const lines = found ? await readActiveBranch(found) : []
  const at = lines.findLastIndex(isBoundary)
  if (at < 0) return { messages: [] }
  const before = messagesInViewBefore(lines, at)
  const since = lines.slice(at).filter((line) => isTalk(line) && !isSummary(line))
  return { messages: [...before, ...since.slice(countRepeatedMessages(before, since))].map(sessionMessage) }
}

/** How many messages after a boundary repeat the last ones before it, because they were in the tail. */
function countRepeatedMessages(before: readonly Message[], since: readonly Message[]): number {
  const [old, new_] = [before, since].map((lines) => lines.map((line) => JSON.stringify(sessionMessage(line))))
  for (let count = Math.min(old!.length, new_!.length); count > 0; count--)
    if (new_!.slice(0, count).every((text, nth) => text === old![old!.length - count + nth])) return count
  return 0
}

/** The messages after the previous boundary, and its tail: either referenced by uuid, or copied. */
function messagesInViewBefore(lines: readonly Message[], at: number): readonly Message[] {
  const previous = lines.slice(0, at).findLastIndex(isBoundary)
  const boundary = lines[previous]
  const kept = new Set(boundary && isBoundary(boundary) ? boundary.compactMetadata?.preservedMessages?.uuids : [])
  const own = lines.slice(previous + 1, at).filter(isTalk)
  const summaries = own.filter(isSummary)
  const named = lines.slice(0, Math.max(0, previous)).filter(({ uuid }) => kept.has(uuid))
  return [...summaries, ...named, ...own.filter((line) => !isSummary(line))]
}
