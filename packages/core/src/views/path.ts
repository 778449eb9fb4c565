/**
 * Which entries belong to the conversation as it stands. A journal is a tree: going back to an earlier message starts a branch, and
 * the branch that was left stays in the journal. The path is the way from the first message to the newest one.
 */

import { type BoundaryEntry, type Entry, isBoundaryEntry, isDecision } from "../journal/entries.ts"
import type { Uuid } from "../messages/messages.ts"

/** Where each message came from, gathered in one pass over entries in the order they were written. */
export class Links {
  readonly #parents = new Map<Uuid, Uuid | null>()
  #head: Uuid | undefined
  #lastBoundary: Uuid | undefined
  /** A compaction that is not whole yet: its boundary and what follows it, and where the conversation stood before. */
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

  /** The message that the next one will follow. A compaction of which only a part came to disk has not happened. */
  get head(): Uuid | undefined {
    const { messages, before } = this.#unfinished ?? {}
    return this.#head !== undefined && messages?.has(this.#head) ? before : this.#head
  }

  get lastBoundary(): Uuid | undefined {
    return this.#lastBoundary
  }

  /** The way back from the head (or another message): down to `stopAt`, or as far as the messages are known. */
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
      // the last of its entries tells that it is whole, and so does whatever came of it later, as a branch does
      if (!isPartOfCompaction(entry)) this.#unfinished = undefined
      else if (!isDecision(entry)) this.#unfinished.messages.add(entry.uuid)
    }
  }
}

/** Boundaries of ours say which tools were known; of those that others wrote, nothing tells whether something is missing. */
const isOurs = ({ compactMetadata }: BoundaryEntry) => compactMetadata?.toolsDiscovered !== undefined

/** What stands between a boundary and the `compacted` decision that ends what is written with it. */
function isPartOfCompaction(entry: Entry): boolean {
  if (isDecision(entry)) return entry.subtype === "session" || entry.subtype === "thinking-dropped"
  return entry.type === "attachment" || (entry.type === "user" && entry.isCompactSummary === true)
}

/** Whether an entry counts for the path. A decision counts where the message it was made at does. */
export function isOnPath(entry: Entry, path: ReadonlySet<Uuid>): boolean {
  if (!isDecision(entry)) return path.has(entry.uuid)
  return entry.parentUuid === null || path.has(entry.parentUuid)
}
