/**
 * Makes summaries take simulated time, while the work goes on. Where someone waits for one, nothing else moves the clock: then it is moved
 * to the end of that summary.
 */
import type { Clock } from "@strata/sim"

export class SlowSummariser {
  readonly #clock: Clock
  readonly #ms: number
  readonly #pending = new Set<number>()
  #isAwaited = false

  constructor(clock: Clock, seconds: number) {
    this.#clock = clock
    this.#ms = seconds * 1_000
  }

  /** Resolves when a summary that is asked for now is written. */
  async write(): Promise<void> {
    if (this.#isAwaited) return this.#clock.advance(this.#ms)
    const end = this.#clock.now() + this.#ms
    this.#pending.add(end)
    await this.#clock.sleep(this.#ms)
    this.#pending.delete(end)
  }

  /** Someone waits from now on, or no longer. */
  await(isAwaited: boolean): void {
    this.#isAwaited = isAwaited
    if (isAwaited) this.finish()
  }

  /** Time passes until those under way are written. */
  finish(): void {
    const last = Math.max(0, ...this.#pending)
    if (last > this.#clock.now()) this.#clock.advance(last - this.#clock.now())
  }
}
