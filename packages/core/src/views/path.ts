/**
 * Which entries belong to the conversation as it stands. A journal is a tree: going back to an earlier message starts a branch, and
 * the branch that was left stays in the journal. The path is the way from the first message to the newest one.
 */
import type { Uuid } from "../conversation/messages.ts"
import { type Entry, isBoundaryEntry, isDecision } from "../journal/entries.ts"

/** Where each message came from, gathered in one pass over entries in the order they were written. */
export class Links {
  readonly #parents = new Map<Uuid, Uuid | null>()
  #head: Uuid | undefined
  #lastBoundary: Uuid | undefined

  add(entry: Entry): void {
    if (isDecision(entry)) {
      if (entry.subtype === "rewound" && entry.parentUuid !== null) this.#head = entry.parentUuid
      return
    }
    const isBoundary = isBoundaryEntry(entry)
    if (isBoundary) this.#lastBoundary = entry.uuid
    this.#parents.set(entry.uuid, isBoundary ? (entry.logicalParentUuid ?? entry.parentUuid) : entry.parentUuid)
    if (!entry.isSidechain) this.#head = entry.uuid
  }

  /** The message that the next one will follow. */
  get head(): Uuid | undefined {
    return this.#head
  }

  get lastBoundary(): Uuid | undefined {
    return this.#lastBoundary
  }

  /** The way back from the head (or another message): down to `stopAt`, or as far as the messages are known. */
  path({
    from = this.#head,
    stopAt,
  }: {
    readonly from?: Uuid | undefined
    readonly stopAt?: Uuid | undefined
  } = {}): ReadonlySet<Uuid> {
    const path = new Set<Uuid>()
    let at: Uuid | null | undefined = from
    while (at != null && this.#parents.has(at) && !path.has(at)) {
      path.add(at)
      if (at === stopAt) break
      at = this.#parents.get(at)
    }
    return path
  }
}

/** Whether an entry counts for the path. A decision counts where the message it was made at does. */
export function isOnPath(entry: Entry, path: ReadonlySet<Uuid>): boolean {
  if (!isDecision(entry)) return path.has(entry.uuid)
  return entry.parentUuid === null || path.has(entry.parentUuid)
}
