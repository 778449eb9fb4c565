/** Which memories a conversation was offered, and why: read from its journal, for a person who asks. */
import { type Entry, isMessage } from "../../journal/entries.ts"
import type { RecalledMemory } from "../../messages/attachments.ts"

/** A memory that a conversation was offered. */
export interface OfferedMemory extends Pick<RecalledMemory, "age" | "source" | "gone"> {
  /** A file in the memory directory, or a conversation and a message: `conversation#message`. */
  readonly path: string
  readonly from: "start" | "memory" | "conversation"
  /** When it was attached. */
  readonly at: string
  /** The person's message that it was attached to, and the words in it that matched. Absent at the start. */
  readonly message?: string
  readonly words: readonly string[]
}

/** In the order they were attached. At the start of a conversation, the rules and preferences shown in full. */
export function offeredBy(entry: Entry): readonly OfferedMemory[] {
  if (!isMessage(entry) || entry.type !== "attachment") return []
  const { attachment, timestamp: at } = entry
  if (attachment.type === "standing_memory")
    return (attachment.files ?? []).map((path) => ({ path, from: "start", at, words: [] }))
  if (attachment.type !== "memory") return []
  const { path, from = "memory", age, source, gone, why } = attachment
  return [
    {
      ...{ path, from, at, words: why?.words ?? [] },
      ...(why ? { message: why.message } : {}),
      ...(age === undefined ? {} : { age }),
      ...(source === undefined ? {} : { source }),
      ...(gone === undefined ? {} : { gone }),
    },
  ]
}
