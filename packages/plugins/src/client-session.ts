/** Reads the conversation that a client sends, in the client's own format. */

import type { CompactableMessage, PlainMessage } from "@strata/core"
import { isBoundary, type Message } from "@strata/core/messages"
import { pi } from "@strata/transcripts/import"
import { claudeCodeMessage } from "./claude-code-messages.ts"
import type { Client, ClientSession } from "./clients.ts"
import { opencodeLines, opencodeSession } from "./opencode-session.ts"

// The messages of other agents in the format of the Messages API. Unknown content is skipped, never refused.

/** Same length and order: the response refers to messages by position. */
export function plainMessages(messages: readonly unknown[], client: Client | undefined): readonly PlainMessage[] {
  return messages.map((message) => (client === "claude-code" ? claudeCodeMessage(message) : apiMessage(message)))
}

function apiMessage(message: unknown): PlainMessage {
  const { role, content, ...rest } = Object(message) as Partial<PlainMessage>
  const isKnown = role === "user" || role === "assistant" || role === "system"
  return { ...rest, role: isKnown ? role : "system", content: content ?? "" }
}

// A session of pi as its extensions get it: all entries of the current branch, oldest first. The importer reads them, so a handle in the
// record identifies the same message in the session file.

interface PiEntry {
  readonly type?: unknown
  readonly id?: unknown
  readonly message?: { readonly role?: unknown }
  readonly firstKeptEntryId?: unknown
}

const NO_SESSION = "none" // a session that exists only in memory

export function piSession(given: readonly unknown[], session = NO_SESSION): ClientSession {
  const entries = given.map((entry) => Object(entry) as PiEntry)
  const boundary = entries.findLastIndex(isCompaction)
  const kept = entries.findIndex(({ id }) => id !== undefined && id === entries[boundary]?.firstKeptEntryId)
  const first = boundary < 0 ? 0 : kept >= 0 && kept < boundary ? kept : boundary + 1
  const withPosition = (entry: PiEntry, at: number) => messagesIn(entry, session).map((message) => ({ message, at }))
  const spoken = entries.map((entry, at) => (isCompaction(entry) ? [] : withPosition(entry, at)))
  const summary = boundary < 0 ? [] : withPosition(entries[boundary]!, boundary)
  return {
    inView: [...summary, ...spoken.slice(first).flat()],
    earlier: spoken.slice(0, first).flatMap((each) => each.map(({ message }) => message)),
  }
}

const isCompaction = ({ type }: PiEntry) => type === "compaction"

/** The system prompt is among the messages since 0.87. It is not part of the dialogue, and pi sends it again. */
const isSystemPrompt = ({ type, message }: PiEntry) => type === "message" && message?.role === "system"

const messagesIn = (entry: PiEntry, session: string): readonly CompactableMessage[] =>
  piLines([entry], session).filter((line) => !isBoundary(line))

/** Messages as the importer reads them from the session file. */
export function piLines(entries: readonly unknown[], session = NO_SESSION): readonly Message[] {
  const header = { type: "session", id: session, cwd: "" }
  const lines = [header, ...entries.filter((entry) => !isSystemPrompt(Object(entry)))]
  const [read] = pi.read({ name: "", text: lines.map((line) => JSON.stringify(line)).join("\n") })
  return read!.messages
}

interface SessionIdentity {
  readonly client: Client | undefined
  readonly session: string | undefined
}

export function clientSession(messages: readonly unknown[], { client, session }: SessionIdentity): ClientSession {
  if (client === "pi") return piSession(messages, session)
  if (client === "opencode") return opencodeSession(messages)
  return { inView: plainMessages(messages, client).map((message, at) => ({ message, at })), earlier: [] }
}

/** All messages with compaction boundaries; `undefined` for a client that sends only a part. */
export function sessionMessages(
  messages: readonly unknown[],
  { client, session }: SessionIdentity,
): readonly Message[] | undefined {
  if (client === "pi") return piLines(messages, session)
  if (client === "opencode") return opencodeLines(messages)
  return undefined
}
