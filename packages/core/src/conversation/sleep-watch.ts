/**
 * Puts a conversation to sleep that no one uses: its views give their memory back, and are built again when someone asks for them. A
 * process with many conversations holds the few that are in use.
 */
import { type Clock, callAfter } from "../base/clock.ts"
import type { ConversationRecord } from "./record.ts"

const IDLE_MS = 300_000 // most caches are lost by then, so building the views again is the least of what a return costs

export interface SleepWatchParts {
  readonly record: ConversationRecord
  readonly clock: Clock
  /** Lets it sleep, unless the views were used more often than this or something is under way. */
  readonly sleep: (uses: number) => Promise<void>
}

export class SleepWatch {
  readonly #parts: SleepWatchParts
  #cancel: () => void = () => undefined
  #isOver = false

  constructor(parts: SleepWatchParts) {
    this.#parts = parts
    parts.record.events.on("woken", () => this.#await())
    this.#await()
  }

  end(): void {
    this.#isOver = true
    this.#cancel()
  }

  #await(): void {
    if (this.#isOver) return
    const { record, clock } = this.#parts
    const { uses } = record
    this.#cancel()
    this.#cancel = callAfter(clock, IDLE_MS, () => {
      if (record.uses === uses) void this.#sleep(uses)
      else this.#await()
    })
  }

  async #sleep(uses: number): Promise<void> {
    const { record, sleep } = this.#parts
    await sleep(uses).catch(() => undefined) // what cannot be read now is still in memory
    if (!record.isAsleep) this.#await()
  }
}
