/**
 * Which entries belong to the current conversation. A journal is a tree: rewinding to an earlier message starts a branch, and the old
 * branch stays in the journal. The path leads from the first message to the newest one.
 */

import { isPartOfCompaction } from "../journal/bridge.ts"
import { type BoundaryEntry, type Entry, isBoundaryEntry, isDecision } from "../journal/entries.ts"
import type { Uuid } from "../messages/messages.ts"

/** The parent of each message, gathered in one pass over the entries in the order they were written. */
export class Links {
  readonly #parents = new Map<Uuid, Uuid | null>()
  #head: Uuid | undefined
  #lastBoundary: Uuid | undefined
  /** A compaction that is not complete yet: its messages so far, and the head before it. */
  #unfinished: { readonly messages: Set<Uuid>; readonly before: Uuid | undefined } | undefined

  add(entry: Entry): void {
    if (isDecision(entry)) {
      if (entry.subtype === "rewound" && entry.parentUuid !== null) this.#head = entry.parentUuid
      this.#follow(entry)
      return
    }
    const isBoundary = isBoundaryEntry(entry)
    if (isBoundary) this.#lastBoundary = entry.uuid
    this.#follow(entry)
    this.#parents.set(entry.uuid, isBoundary ? (entry.logicalParentUuid ?? entry.parentUuid) : entry.parentUuid)
    if (!entry.isSidechain) this.#head = entry.uuid
  }

  /** The message that the next one will follow. A compaction that reached the disk only in part does not count. */
  get head(): Uuid | undefined {
    const { messages, before } = this.#unfinished ?? {}
    return this.#head !== undefined && messages?.has(this.#head) ? before : this.#head
  }

  get lastBoundary(): Uuid | undefined {
    return this.#lastBoundary
  }

  /** The messages from the head (or another message) back to `stopAt`, or as far as they are known. */
  path({
    from = this.head,
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

  #follow(entry: Entry): void {
    if (isBoundaryEntry(entry)) {
      this.#unfinished = isOurs(entry) ? { messages: new Set([entry.uuid]), before: this.head } : undefined
    } else if (entry.parentUuid !== null && this.#unfinished?.messages.has(entry.parentUuid)) {
      // its last entry shows that it is complete, and so does anything that follows it later, such as a branch
      if (!isPartOfCompaction(entry)) this.#unfinished = undefined
      else if (!isDecision(entry)) this.#unfinished.messages.add(entry.uuid)
    }
  }
}

/** Our boundaries list the known tools. For those of other programs there is no telling whether something is missing. */
const isOurs = ({ compactMetadata }: BoundaryEntry) => compactMetadata?.toolsDiscovered !== undefined

/** Whether an entry is on the path. A decision is on it if the message it was made at is. */
export function isOnPath(entry: Entry, path: ReadonlySet<Uuid>): boolean {
  if (!isDecision(entry)) return path.has(entry.uuid)
  return entry.parentUuid === null || path.has(entry.parentUuid)
}
