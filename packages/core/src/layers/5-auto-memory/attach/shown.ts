/** What a conversation was shown of the memory: for the layer, so that nothing is recalled twice, and for a person who asks. */

import { type Entry, isMessage } from "../../../journal/entries.ts"
import type { Attachment, RecalledMemory } from "../../../messages/attachments.ts"
import type { Holding } from "../../../recall/answer/ranking.ts"
import type { Views } from "../../../views/views.ts"

const BETWEEN = "#" // a conversation and one of its messages

/** The path of a passage of a past conversation. */
export const passagePath = (conversation: string, message: string): string => `${conversation}${BETWEEN}${message}`

/**
 * What the messages since the last boundary have, folded and snipped ones too. It is read from the journal's views once, and again after a
 * boundary or a rewind.
 */
export class MemoryInView {
  readonly #views: Views
  readonly #boundaries: number
  /** Memories that were attached. */
  readonly files = new Set<string>()
  /** Messages of past conversations that were attached. */
  readonly #passages = new Set<string>()
  /** The person's messages that were looked at. */
  readonly looked = new Set<string>()
  isStarted = false
  /** The person's messages here, as far as someone has asked for them. */
  readonly #said = new Set<string>()
  #saidUpTo = 0

  constructor(views: Views) {
    this.#views = views
    this.#boundaries = views.compactions.count
    for (const message of views.context.rawMessages) if (message.type === "attachment") this.add(message.attachment)
    for (const message of views.memories.looked) this.looked.add(message)
    this.isStarted ||= views.memories.isStarted
  }

  /** Whether the same messages are in view, or the same and more. */
  holdsFor(views: Views): boolean {
    return views === this.#views && views.compactions.count === this.#boundaries
  }

  /** Messages that the conversation has: attached, or said by the person. Only what is new is read. */
  get messages(): Holding {
    const { messages } = this.#views.words
    for (; this.#saidUpTo < messages.length; this.#saidUpTo++) this.#said.add(messages[this.#saidUpTo]!.uuid)
    return { has: (uuid) => this.#passages.has(uuid) || this.#said.has(uuid) }
  }

  add(attachment: Attachment): void {
    if (attachment.type === "standing_memory") {
      this.isStarted = true
      for (const file of attachment.files ?? []) this.files.add(file)
    } else if (attachment.type === "memory") this.#addRecalled(attachment)
  }

  #addRecalled({ from, path, why }: RecalledMemory): void {
    if (from === "conversation") this.#passages.add(path.slice(path.lastIndexOf(BETWEEN) + 1))
    else this.files.add(path)
    if (why) this.looked.add(why.message)
  }
}

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
