/**
 * `strata compact-messages`: one JSON request, one JSON answer. An agent gives the messages of its context, in its own shape; where it also gives the
 * id of its session, the transcript on disk adds what its message type leaves out, and what earlier compactions took out of view.
 */
import {
  type CarryMessage,
  type CompactedMessages,
  type CompactionCarryover,
  type CompactMessagesOptions,
  compactMessages,
} from "@strata/core"
import { isBoundary, type Message } from "@strata/core/messages"
import type { CarriedRecord, PrunedText } from "@strata/core/policy"
import { mainPath } from "@strata/transcripts/import"
import { type SessionMessage, sessionMessage } from "./claude-code-messages.ts"
import { clientSession } from "./client-session.ts"
import type { Client, ClientSession, Environment, PlacedMessage } from "./clients.ts"
import { recordedSession, recordedView } from "./session-record.ts"
import { isSummary, isTalk, readTranscript, transcriptOf } from "./transcripts.ts"

export interface CarryRequest
  extends Pick<
    CompactMessagesOptions,
    "budget" | "keep" | "instructions" | "model" | "recall" | "mode" | "continuation" | "transcript" | "before"
  > {
  /**
   * In the shape of the Messages API, or that of the client: of pi all entries of the branch, of opencode all messages of the session.
   * Default: all messages of the transcript.
   */
  readonly messages?: readonly unknown[]
  /** A summary that is written already. */
  readonly summary?: string
  readonly client?: Client
  /** The id of the session, to find its transcript. */
  readonly session?: string
  /** The sub-agent whose messages these are. */
  readonly agent?: string
  /** Whether the answer has the record as data, and the state for the next call. */
  readonly data?: boolean
}

export interface CarryAnswer {
  /** What takes the place of the messages that are not kept. Empty where nothing can be summarised. */
  readonly text: string
  /** The computed part of it, to be added after a summary of the client's own. */
  readonly facts: string
  /** The places of the messages that stay as they are. */
  readonly kept: readonly number[]
  /** In the mode "prune": the text in place of each result that was cut. All messages stay. */
  readonly pruned?: readonly PrunedText[]
  readonly tokens: { readonly before: number; readonly after: number; readonly facts: number; readonly kept: number }
  /** The budget could not be kept. */
  readonly overBudget?: CompactedMessages<CarryMessage>["overBudget"]
  /** The transcript that was read. */
  readonly transcript?: string
  readonly record?: CarriedRecord
  readonly state?: CompactionCarryover
}

/** What was in view before a compaction, in the client's shape. */
export interface UndoAnswer {
  readonly messages: readonly SessionMessage[]
}

export async function answerCarry(request: CarryRequest, env: Environment): Promise<CarryAnswer> {
  const { messages = [], client, session, agent, data = false, ...options } = request
  const given = clientSession(messages, { client, session })
  const found = client && session && !agent ? await transcriptOf(client, session, env) : undefined
  const { inView, ...known } = await viewOf(given, {
    client,
    session,
    found,
    env,
    isGoingOn: options.before !== undefined,
  })
  const transcript = options.transcript ?? found
  const carried = await compactMessages(
    inView.map(({ message }) => message),
    { ...known, ...options, ...(transcript === undefined ? {} : { transcript }) },
  )
  const held = new Set<CarryMessage>(carried.kept)
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

interface Whose {
  readonly client: Client | undefined
  readonly session: string | undefined
  /** The transcript. */
  readonly found: string | undefined
  readonly env: Environment
  /** The caller gave the state of a call before. */
  readonly isGoingOn: boolean
}

/** The messages in view, and what is known of those before: as messages, or as a record. */
interface View extends Pick<CompactMessagesOptions, "earlier" | "before"> {
  readonly inView: readonly PlacedMessage[]
}

async function viewOf(given: ClientSession, { client, session, found, env, isGoingOn }: Whose): Promise<View> {
  const isGiven = given.inView.length > 0
  if (found === undefined || isGoingOn || (isGiven && client !== "claude-code")) {
    const { inView, earlier } = given // the other clients give all of it
    return { inView, ...(earlier.length > 0 ? { earlier } : {}) }
  }
  if (client !== "claude-code") return { inView: allOf(await linesOf(found)) }
  const recorded = await recordedSession({ session: session!, transcript: found, env }, { isWhole: !isGiven }).catch(
    () => undefined, // without a transcript the given messages are enough
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

/** The newest path of a transcript. */
async function linesOf(path: string): Promise<readonly Message[]> {
  const imported = await readTranscript(path).catch(() => undefined)
  return imported ? mainPath(imported.messages) : []
}

/** Before a compaction: brings the record of a session up to date, so that the compaction need not. */
export async function recordSession(
  { client, session }: Pick<CarryRequest, "client" | "session">,
  env: Environment,
): Promise<{ readonly lines: number }> {
  const transcript = client === "claude-code" && session ? await transcriptOf(client, session, env) : undefined
  if (transcript === undefined) return { lines: 0 }
  const { recorded } = await recordedSession({ session: session!, transcript, env })
  return { lines: recorded.length }
}

/** The messages that were in view before the newest compaction, then those since. Empty without a compaction. */
export async function uncompacted(
  { client, session }: Pick<CarryRequest, "client" | "session">,
  env: Environment,
): Promise<UndoAnswer> {
  const found = client && session ? await transcriptOf(client, session, env) : undefined
  const lines = found ? await linesOf(found) : []
  const at = lines.findLastIndex(isBoundary)
  if (at < 0) return { messages: [] }
  const before = inViewBefore(lines, at)
  const since = lines.slice(at).filter((line) => isTalk(line) && !isSummary(line))
  return { messages: [...before, ...since.slice(repeated(before, since))].map(sessionMessage) }
}

/** How many of the messages after a boundary repeat the last ones before it: those that it kept. */
function repeated(before: readonly Message[], since: readonly Message[]): number {
  const [old, new_] = [before, since].map((lines) => lines.map((line) => JSON.stringify(sessionMessage(line))))
  for (let count = Math.min(old!.length, new_!.length); count > 0; count--)
    if (new_!.slice(0, count).every((text, nth) => text === old![old!.length - count + nth])) return count
  return 0
}

/** Since the boundary before, with what that one kept: named by uuid, or copied. */
function inViewBefore(lines: readonly Message[], at: number): readonly Message[] {
  const previous = lines.slice(0, at).findLastIndex(isBoundary)
  const boundary = lines[previous]
  const kept = new Set(boundary && isBoundary(boundary) ? boundary.compactMetadata?.preservedMessages?.uuids : [])
  const own = lines.slice(previous + 1, at).filter(isTalk)
  const summaries = own.filter(isSummary)
  const named = lines.slice(0, Math.max(0, previous)).filter(({ uuid }) => kept.has(uuid))
  return [...summaries, ...named, ...own.filter((line) => !isSummary(line))]
}
