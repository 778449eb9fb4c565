/**
 * A clock that tests can move: the machine's time plus an offset. `advance` adds to the offset and wakes every sleeper
 * that is due, so an idle hour passes at once.
 */

export interface Clock {
  /** The simulated time, in milliseconds since 1970. */
  now(): number
  /** Moves the time forward. */
  advance(milliseconds: number): void
  /** Resolves after this time, or as soon as `signal` is aborted. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>
}

interface Sleeper {
  readonly until: number
  readonly wake: () => void
  timer: NodeJS.Timeout | undefined
}

const MAX_TIMER_MS = 2 ** 31 - 1 // the longest delay that setTimeout accepts

/** `source` returns the time before the offset: the machine's, or a constant for tests that must not depend on it. */
export function createClock(source: () => number = Date.now): Clock {
  const sleepers = new Set<Sleeper>()
  let offset = 0
  const now = () => source() + offset

  const arm = (sleeper: Sleeper) => {
    clearTimeout(sleeper.timer)
    const remaining = sleeper.until - now()
    if (remaining <= 0) return sleeper.wake()
    sleeper.timer = setTimeout(() => arm(sleeper), Math.min(remaining, MAX_TIMER_MS))
    sleeper.timer.unref()
  }

  return {
    now,
    advance(milliseconds) {
      offset += milliseconds
      for (const sleeper of [...sleepers]) arm(sleeper)
    },
    sleep(milliseconds, signal) {
      return new Promise((resolve) => {
        if (milliseconds <= 0 || signal?.aborted) return resolve()
        const wake = () => {
          clearTimeout(sleeper.timer)
          sleepers.delete(sleeper)
          signal?.removeEventListener("abort", wake)
          resolve()
        }
        const sleeper: Sleeper = { until: now() + milliseconds, wake, timer: undefined }
        sleepers.add(sleeper)
        signal?.addEventListener("abort", wake)
        arm(sleeper)
      })
    },
  }
}

/** A clock that moves only when you advance it. */
export const frozenClock = (start = Date.UTC(2026, 10, 15)): Clock => createClock(() => start)
