/**
 * Where deletions inside the server's cache stand among the messages (L2-2, L2-3). Each is pinned: the block that asks for it comes at the
 * same place in every request, behind the message that was the newest when it was decided, also when the view is built again. Where
 * the assistant spoke last, it waits for the next words of the user's side, since only there may such a block stand.
 */
import type { Flattener } from "../../messages/flatten.ts"
import type { Uuid } from "../../messages/messages.ts"
import { renderCacheEdits } from "./render-decisions.ts"

export class PinnedEdits {
  /** How many messages there were when each was decided. */
  readonly #places = new Map<Uuid, number>()
  #waiting: Uuid[] = []
  #droppedAt = -1

  /** How many messages there were when deletions were last given up; -1 where they never were. */
  get droppedAt(): number {
    return this.#droppedAt
  }

  drop(place: number): void {
    this.#droppedAt = place
  }

  pin(decision: Uuid, place: number): void {
    this.#places.set(decision, place)
  }

  /** At a boundary the messages go. */
  forget(): void {
    this.#places.clear()
    this.#waiting = []
    this.#droppedAt = -1
  }

  /** Before the messages are fed again from the first. */
  startOver(): void {
    this.#waiting = []
  }

  /** To be called when so many messages have been fed, after each of them. `inForce`: what each decision deletes. */
  feed(flattener: Flattener, fed: number, inForce: ReadonlyMap<Uuid, readonly string[]>): void {
    if (this.#places.size === 0) return
    for (const [decision, place] of this.#places)
      if (place === fed && inForce.has(decision)) this.#waiting.push(decision)
    if (this.#waiting.length === 0 || !flattener.endsWithUser) return
    for (const decision of this.#waiting.splice(0)) {
      const ids = inForce.get(decision)
      if (ids) flattener.add(renderCacheEdits(decision, ids))
    }
  }

  /** The first place among those in force. */
  earliest(inForce: ReadonlyMap<Uuid, readonly string[]>): number {
    return Math.min(...[...inForce.keys()].map((decision) => this.#places.get(decision) ?? Number.POSITIVE_INFINITY))
  }
}
