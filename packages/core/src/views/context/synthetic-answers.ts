/**
 * Tool calls that a request had to answer itself, because no result had come. Such an answer is final, but only from the place where it
 * was made: earlier messages were flattened without it, and are flattened so again when the view is rebuilt.
 */

import type { DecisionEntry } from "../../journal/entries.ts"
import type { Uuid } from "../../messages/messages.ts"

export class SyntheticAnswers {
  /** The calls answered up to the message that was fed last. */
  #now: Set<string>
  /** Those from before the last boundary. */
  #before: ReadonlySet<string>
  #made: { readonly decision: Uuid; readonly at: number; readonly ids: readonly string[] }[] = []

  constructor(before: Iterable<string>) {
    this.#before = new Set(before)
    this.#now = new Set(this.#before)
  }

  get ids(): ReadonlySet<string> {
    return this.#now
  }

  /** `at`: how many messages there are. */
  decide(decision: DecisionEntry, at: number): void {
    if (decision.subtype !== "repaired") return
    const ids = decision.repairs.flatMap(({ rule, id }) => (rule === "unanswered-tool-use" ? id : []))
    this.#made.push({ decision: decision.uuid, at, ids })
    for (const id of ids) this.#now.add(id)
  }

  undo(decision: Uuid): void {
    this.#made = this.#made.filter((each) => each.decision !== decision)
  }

  /** Before the view is rebuilt. `take` then gives each answer at its place. */
  startOver(): void {
    this.#now = new Set(this.#before)
  }

  take(place: number): void {
    for (const { at, ids } of this.#made) if (at === place) for (const id of ids) this.#now.add(id)
  }

  boundary(all: Iterable<string>): void {
    this.#before = new Set(all)
    this.#made = []
  }
}
