/**
 * Calls that a request answered because nobody else had. Such an answer stands for ever, but only from where it was made: what came before
 * was flattened without it, and must be flattened so again when the view is built anew.
 */

import type { DecisionEntry } from "../../journal/entries.ts"
import type { Uuid } from "../../messages/messages.ts"

export class MadeUpAnswers {
  /** As far as the flattener has been fed. */
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

  /** `at`: how many messages there were. */
  decide(decision: DecisionEntry, at: number): void {
    if (decision.subtype !== "repaired") return
    const ids = decision.repairs.flatMap(({ rule, id }) => (rule === "unanswered-tool-use" ? id : []))
    this.#made.push({ decision: decision.uuid, at, ids })
    for (const id of ids) this.#now.add(id)
  }

  undo(decision: Uuid): void {
    this.#made = this.#made.filter((each) => each.decision !== decision)
  }

  /** The view is built anew: `take` gives the answers again, each at its place. */
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
