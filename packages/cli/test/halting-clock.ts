/**
 * A clock for slow streams that halt in the middle: each sends a number of events at once, and the rest when it is released. So a test has
 * all the time it needs to check and to type, however slow the machine is.
 */
import { once } from "node:events"
import { type Clock, createClock } from "@strata/sim"

export interface HaltingClock extends Clock {
  /** Releases all streams; later ones do not halt. */
  goOn(): void
}

export function haltingClock(events: number): HaltingClock {
  const sent = new WeakMap<AbortSignal, number>() // one signal for each request
  const going = Promise.withResolvers<void>()
  return {
    ...createClock(),
    goOn: () => going.resolve(),
    async sleep(_milliseconds, signal) {
      if (signal === undefined || signal.aborted) return
      const count = (sent.get(signal) ?? 0) + 1
      sent.set(signal, count)
      if (count > events) await Promise.race([going.promise, once(signal, "abort")])
    },
  }
}
