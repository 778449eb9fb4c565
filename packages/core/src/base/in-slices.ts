/** Long work in small steps. Between slices of it the event loop serves others, so a turn does not wait for work in the background. */
import { setImmediate } from "node:timers/promises"

const SLICE_MILLISECONDS = 5 // a turn passes through the event loop several times, and may wait for a slice each time

/** Work that can pause after each step. It returns the same result however often it pauses. */
export type Steps<T> = Generator<void, T, void>

/** Does the work at once. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

/** Pauses whenever a slice is over. Rejects with the signal's reason once it is aborted. */
export async function inSlices<T>(steps: Steps<T>, signal?: AbortSignal): Promise<T> {
  let end = performance.now() + SLICE_MILLISECONDS
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    if (performance.now() < end) continue
    await setImmediate()
    signal?.throwIfAborted()
    end = performance.now() + SLICE_MILLISECONDS
  }
}
