/** Long work in small steps. Between slices of it the event loop serves others, so a turn does not wait for work in the background. */
import { setImmediate, setTimeout } from "node:timers/promises"

const SLICE_MILLISECONDS = 2 // a turn passes through the event loop several times, and may wait for a slice each time
const OTHERS_MILLISECONDS = 0.1 // an idle event loop comes back sooner
const PAUSE_MILLISECONDS = 20 // a turn is over by then, so a slice falls into few of them

export interface SliceOptions {
  /** Rejects with the signal's reason once it is aborted. */
  readonly signal?: AbortSignal | undefined
  /** Whether it pauses while others use the event loop. For work that no one waits for. */
  readonly givesWay?: boolean
}

/** Work that can pause after each step. It returns the same result however often it pauses. */
export type Steps<T> = Generator<void, T, void>

/** Does the work at once. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

/** When the present slice is over. Pieces of work that follow one another share it: between two awaits the event loop serves no one. */
let end = 0

/** Lets others run whenever a slice is over. */
export async function inSlices<T>(steps: Steps<T>, { signal, givesWay = false }: SliceOptions = {}): Promise<T> {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    const now = performance.now()
    if (now < end) continue
    await setImmediate()
    if (givesWay && performance.now() - now > OTHERS_MILLISECONDS)
      await setTimeout(PAUSE_MILLISECONDS, undefined, { signal }).catch(() => undefined) // an abort is thrown below
    signal?.throwIfAborted()
    end = performance.now() + SLICE_MILLISECONDS
  }
}
