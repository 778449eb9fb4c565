/** Reads the conversation that a client hands over, in the client's own shape. */

import type { CarryMessage, PlainMessage } from "@strata/core"
import { isBoundary, type Message } from "@strata/core/messages"
import { pi } from "@strata/transcripts/import"
import { claudeCodeMessage } from "./claude-code-messages.ts"
import type { Client, ClientSession } from "./clients.ts"
import { opencodeLines, opencodeSession } from "./opencode-session.ts"

// The messages of other agents, as the Messages API has them. What is not understood is left out, never refused.

/** Same length, same order: the answer names messages by their places. */
export function plainMessages(messages: readonly unknown[], client: Client | undefined): readonly PlainMessage[] {
  return messages.map((message) => (client === "claude-code" ? claudeCodeMessage(message) : apiMessage(message)))
}

function apiMessage(message: unknown): PlainMessage {
  const { role, content, ...rest } = Object(message) as Partial<PlainMessage>
  const isKnown = role === "user" || role === "assistant" || role === "system"
  return { ...rest, role: isKnown ? role : "system", content: content ?? "" }
}

// A session of pi as its extensions get it: all entries of the current branch, oldest first. The importer reads them, so a handle in the
// record leads to the same message in the session file.

interface Entry {
  readonly type?: unknown
  readonly id?: unknown
  readonly message?: { readonly role?: unknown }
  readonly firstKeptEntryId?: unknown
}

const NO_SESSION = "none" // a session that is kept in memory only

export function piSession(given: readonly unknown[], session = NO_SESSION): ClientSession {
  const entries = given.map((entry) => Object(entry) as Entry)
  const boundary = entries.findLastIndex(isCompaction)
  const kept = entries.findIndex(({ id }) => id !== undefined && id === entries[boundary]?.firstKeptEntryId)
  const first = boundary < 0 ? 0 : kept >= 0 && kept < boundary ? kept : boundary + 1
  const placed = (entry: Entry, at: number) => messagesIn(entry, session).map((message) => ({ message, at }))
  const spoken = entries.map((entry, at) => (isCompaction(entry) ? [] : placed(entry, at)))
  const summary = boundary < 0 ? [] : placed(entries[boundary]!, boundary)
  return {
    inView: [...summary, ...spoken.slice(first).flat()],
    earlier: spoken.slice(0, first).flatMap((each) => each.map(({ message }) => message)),
  }
}

const isCompaction = ({ type }: Entry) => type === "compaction"

/** The system prompt is among the messages since 0.87. It is no part of what was said, and pi sends it again. */
const isSystemPrompt = ({ type, message }: Entry) => type === "message" && message?.role === "system"

const messagesIn = (entry: Entry, session: string): readonly CarryMessage[] =>
  piLines([entry], session).filter((line) => !isBoundary(line))

/** As the importer reads the file of the session. */
export function piLines(entries: readonly unknown[], session = NO_SESSION): readonly Message[] {
  const header = { type: "session", id: session, cwd: "" }
  const lines = [header, ...entries.filter((entry) => !isSystemPrompt(Object(entry)))]
  const [read] = pi.read({ name: "", text: lines.map((line) => JSON.stringify(line)).join("\n") })
  return read!.messages
}

interface Whose {
  readonly client: Client | undefined
  readonly session: string | undefined
}

export function clientSession(messages: readonly unknown[], { client, session }: Whose): ClientSession {
  if (client === "pi") return piSession(messages, session)
  if (client === "opencode") return opencodeSession(messages)
  return { inView: plainMessages(messages, client).map((message, at) => ({ message, at })), earlier: [] }
}

/** All of it, with the boundaries of its compactions; `undefined` for a client that gives only a part. */
export function linesOf(messages: readonly unknown[], { client, session }: Whose): readonly Message[] | undefined {
  if (client === "pi") return piLines(messages, session)
  if (client === "opencode") return opencodeLines(messages)
  return undefined
}
