/**
 * The entries that each compaction wrote. An undo disables exactly these: the boundary, the summary, the restored content after it, and
 * the decisions that follow from it. Later messages and decisions stay.
 */

import { type DecisionEntry, type Entry, isBoundaryEntry, isDecision } from "../journal/entries.ts"
import { isSummary, type Uuid } from "../messages/messages.ts"

/** Why a compaction drops thinking. An undo restores the content that thinking is bound to, and so the thinking. */
export const THINKING_DROP_REASONS = {
  compacted: "the messages before it were compacted",
  promptChanged: "the prompt before it has changed",
} as const

export class CompactionEntries {
  /** The entries of each compaction, by its boundary. */
  readonly #entries = new Map<Uuid, Set<Uuid>>()
  /** The boundary of each message that a compaction wrote. */
  readonly #boundaries = new Map<Uuid, Uuid>()
  readonly #undone: { readonly boundary: Uuid; readonly entry: DecisionEntry }[] = []
  /** The compaction that is still being written, with its newest message. */
  #open: { readonly boundary: Uuid; last: Uuid } | undefined
  /** Why the newest prompt of a compaction was rendered. */
  #promptChangedBy: string | undefined

  add(entry: Entry): void {
    if (isDecision(entry)) this.#addDecision(entry)
    else if (isBoundaryEntry(entry)) {
      this.#entries.set(entry.uuid, new Set([entry.uuid]))
      this.#boundaries.set(entry.uuid, entry.uuid)
      this.#open = { boundary: entry.uuid, last: entry.uuid }
    } else if (this.#open && entry.parentUuid === this.#open.last) {
      if (isSummary(entry) || entry.type === "attachment") this.#take(this.#open, entry.uuid)
      else this.#open = undefined
    }
  }

  /** The entries of one compaction. */
  of(boundary: Uuid): ReadonlySet<Uuid> | undefined {
    return this.#entries.get(boundary)
  }

  /** The entries of all compactions that were undone, and of `these`. `counts`: whether an undo applies. */
  undone(counts: (undo: Entry) => boolean, these: readonly Uuid[]): ReadonlySet<Uuid> {
    const boundaries = this.#undone.flatMap(({ boundary, entry }) => (counts(entry) ? boundary : []))
    return new Set([...boundaries, ...these].flatMap((boundary) => [...(this.#entries.get(boundary) ?? [])]))
  }

  #take(open: { readonly boundary: Uuid; last: Uuid }, uuid: Uuid): void {
    this.#entries.get(open.boundary)!.add(uuid)
    this.#boundaries.set(uuid, open.boundary)
    open.last = uuid
  }

  #addDecision(decision: DecisionEntry): void {
    if (decision.subtype === "undone") this.#undone.push({ boundary: decision.decision, entry: decision })
    const boundary = decision.parentUuid === null ? undefined : this.#boundaries.get(decision.parentUuid)
    const isBeforeItsEnd = boundary !== undefined && boundary === this.#open?.boundary
    if (decision.subtype === "compacted" && decision.boundary === this.#open?.boundary) this.#open = undefined
    if (boundary === undefined) return
    if (decision.subtype === "prompt-rendered") this.#promptChangedBy = decision.why
    // shortens results of the tail; a later one is a decision of its own
    const shortensKept = decision.subtype === "tool-results-shortened" && isBeforeItsEnd
    if (shortensKept || this.#followsFromCompaction(decision)) this.#entries.get(boundary)!.add(decision.uuid)
  }

  #followsFromCompaction(decision: DecisionEntry): boolean {
    switch (decision.subtype) {
      case "compacted":
        return true
      case "prompt-rendered":
        return decision.why === "boundary"
      case "thinking-dropped":
        return (
          decision.why === THINKING_DROP_REASONS.compacted ||
          (decision.why === THINKING_DROP_REASONS.promptChanged && this.#promptChangedBy === "boundary")
        )
      default:
        return false
    }
  }
}
