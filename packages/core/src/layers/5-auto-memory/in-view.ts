/**
 * What the messages since the last boundary have of the memory, folded and snipped ones too: what was recalled once is not recalled again.
 * It is read from the journal's views once, and again after a boundary or a rewind.
 */
import type { Attachment, RecalledMemory } from "../../messages/attachments.ts"
import type { Views } from "../../views/views.ts"

const BETWEEN = "#" // a conversation and one of its messages

/** The path of a passage of a past conversation. */
export const passagePath = (conversation: string, message: string): string => `${conversation}${BETWEEN}${message}`

export class MemoryInView {
  readonly #views: Views
  readonly #boundaries: number
  readonly #files = new Set<string>()
  readonly #passages = new Set<string>()
  /** The person's messages that were looked at. */
  readonly #looked = new Set<string>()
  isStarted = false

  constructor(views: Views) {
    this.#views = views
    this.#boundaries = views.compactions.count
    for (const message of views.context.rawMessages) if (message.type === "attachment") this.add(message.attachment)
    for (const message of views.memories.looked) this.looked(message)
    this.isStarted ||= views.memories.isStarted
  }

  /** Whether the same messages are in view, or the same and more. */
  holdsFor(views: Views): boolean {
    return views === this.#views && views.compactions.count === this.#boundaries
  }

  /** Memories that were attached. */
  get files(): ReadonlySet<string> {
    return this.#files
  }

  /** Messages of past conversations that were attached. */
  get passages(): ReadonlySet<string> {
    return this.#passages
  }

  hasLooked(message: string): boolean {
    return this.#looked.has(message)
  }

  looked(message: string): void {
    this.#looked.add(message)
  }

  add(attachment: Attachment): void {
    if (attachment.type === "standing_memory") {
      this.isStarted = true
      for (const file of attachment.files ?? []) this.#files.add(file)
    } else if (attachment.type === "memory") this.#addRecalled(attachment)
  }

  #addRecalled({ from, path, why }: RecalledMemory): void {
    if (from === "conversation") this.#passages.add(path.slice(path.lastIndexOf(BETWEEN) + 1))
    else this.#files.add(path)
    if (why) this.#looked.add(why.message)
  }
}
