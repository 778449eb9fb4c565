/**
 * Which entries belong to the current conversation. A journal is a tree: rewinding to an earlier message starts a branch, and the old
 * branch stays in the journal. The path leads from the first message to the newest one.
 */

import { type BoundaryEntry, type Entry, isBoundaryEntry, isDecision } from "../journal/entries.ts"
import { isPartOfCompaction } from "../journal/parent-relinker.ts"
import type { Uuid } from "../messages/messages.ts"
import { CompactionEntries } from "./compaction-entries.ts"

/** The parent of each message, collected in one pass over the entries in the order they were written. */
export class ParentLinks {
  readonly #parents = new Map<Uuid, Uuid | null>()
  readonly #compactions = new CompactionEntries()
  #head: Uuid | undefined
  #lastBoundary: Uuid | undefined
  #last: Uuid | undefined
  /** A compaction that is not complete yet: its messages so far, and the head before it. */
  #unfinished: { readonly messages: Set<Uuid>; readonly before: Uuid | undefined } | undefined

  add(entry: Entry): void {
    this.#last = entry.uuid
    this.#compactions.add(entry)
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

  /** The message that the next one will follow. A partially written compaction is ignored. */
  get head(): Uuid | undefined {
    const { messages, before } = this.#unfinished ?? {}
    return this.#head !== undefined && messages?.has(this.#head) ? before : this.#head
  }

  /** The entry that was added last. */
  get last(): Uuid | undefined {
    return this.#last
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

  /**
   * The position of each entry: on this path, off it, or part of a compaction on it that was undone. `undoing`: boundaries that are
   * being undone.
   */
  placesOn(path: ReadonlySet<Uuid>, undoing: readonly Uuid[] = []): PathLookup {
    const undone = this.#compactions.undone((undo) => isOnPath(undo, path), undoing)
    return (entry) => (!isOnPath(entry, path) ? "off-path" : undone.has(entry.uuid) ? "undone" : "on-path")
  }

  /** The entries that a compaction wrote, and the message before it. `undefined` for anything but a boundary. */
  compaction(boundary: Uuid): { readonly entries: ReadonlySet<Uuid>; readonly before: Uuid | undefined } | undefined {
    const entries = this.#compactions.of(boundary)
    return entries && { entries, before: this.#parents.get(boundary) ?? undefined }
  }

  #follow(entry: Entry): void {
    if (isBoundaryEntry(entry)) {
      this.#unfinished = isStrataBoundary(entry) ? { messages: new Set([entry.uuid]), before: this.head } : undefined
    } else if (entry.parentUuid !== null && this.#unfinished?.messages.has(entry.parentUuid)) {
      // its last entry shows that it is complete, and so does anything that follows it later, such as a branch
      if (!isPartOfCompaction(entry)) this.#unfinished = undefined
      else if (!isDecision(entry)) this.#unfinished.messages.add(entry.uuid)
    }
  }
}

/** Checks while reading that a journal has no branches: every message follows the one before. Then every entry is on the path. */
export class StraightPath {
  readonly #messages = new Set<Uuid>()
  #head: Uuid | null = null

  /** Whether the next entry continues the path. */
  continuesWith(entry: Entry): boolean {
    if (isDecision(entry)) {
      if (entry.subtype === "rewound" || entry.subtype === "undone") return false
      return entry.parentUuid === null || this.#messages.has(entry.parentUuid)
    }
    const parent = isBoundaryEntry(entry) ? (entry.logicalParentUuid ?? entry.parentUuid) : entry.parentUuid
    if (entry.isSidechain || (parent ?? null) !== this.#head) return false
    this.#messages.add(entry.uuid)
    this.#head = entry.uuid
    return true
  }
}

export type PathPosition = "on-path" | "off-path" | "undone"
export type PathLookup = (entry: Entry) => PathPosition

/**
 * Whether Strata wrote the boundary, which then lists the known tools. For boundaries of other programs, completeness cannot be
 * determined.
 */
const isStrataBoundary = ({ compactMetadata }: BoundaryEntry) => compactMetadata?.toolsDiscovered !== undefined

/** Whether an entry is on the path. A decision is on it if the message at which it was made is. */
export function isOnPath(entry: Entry, path: ReadonlySet<Uuid>): boolean {
  if (!isDecision(entry)) return path.has(entry.uuid)
  return entry.parentUuid === null || path.has(entry.parentUuid)
}
