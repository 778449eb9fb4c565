/**
 * A session of pi as its extensions get it: all entries of the current branch, oldest first. The importer reads them, so a handle in the
 * record leads to the same message in the session file.
 */
import type { CarryMessage } from "@strata/core"
import { pi } from "@strata/core/internal/import/pi"
import { isBoundary } from "@strata/core/internal/messages/messages"
import type { ClientSession } from "./clients.ts"
import { withoutRecord } from "./earlier-record.ts"

interface Entry {
  readonly type?: unknown
  readonly id?: unknown
  readonly message?: { readonly role?: unknown }
  readonly firstKeptEntryId?: unknown
}

const NO_SESSION = "none" // a session that is kept in memory only

export function piSession(given: readonly unknown[], session = NO_SESSION): ClientSession {
  const entries = given.map((entry) => Object(entry) as Entry)
  const header = JSON.stringify({ type: "session", id: session, cwd: "" })
  const boundary = entries.findLastIndex(isCompaction)
  const kept = entries.findIndex(({ id }) => id !== undefined && id === entries[boundary]?.firstKeptEntryId)
  const first = boundary < 0 ? 0 : kept >= 0 && kept < boundary ? kept : boundary + 1
  const placed = (entry: Entry, at: number) => messagesIn(entry, header).map((message) => ({ message, at }))
  const spoken = entries.map((entry, at) => (isCompaction(entry) ? [] : placed(entry, at)))
  const summary = boundary < 0 ? [] : placed(entries[boundary]!, boundary)
  return {
    inView: [...summary, ...spoken.slice(first).flat()],
    earlier: spoken.slice(0, first).flatMap((each) => each.map(({ message }) => message)),
  }
}

const isCompaction = ({ type }: Entry) => type === "compaction"

/** The system prompt is among the messages since 0.87. It is no part of what was said, and pi sends it again. */
function messagesIn(entry: Entry, header: string): readonly CarryMessage[] {
  if (entry.type === "message" && entry.message?.role === "system") return []
  const [read] = pi.read({ name: "", text: `${header}\n${JSON.stringify(entry)}` })
  return read!.messages.filter((message) => !isBoundary(message)).map(withoutRecord)
}
