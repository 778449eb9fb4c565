/**
 * A clock that tests can move. It runs with the machine's time plus an offset; `advance` adds to the offset and wakes
 * every sleeper whose time has come, so an idle hour passes at once.
 */

export interface Clock {
  /** Milliseconds since 1970, as the simulator sees it. */
  now(): number
  /** Moves the time forward. */
  advance(milliseconds: number): void
  /** Resolves when the time has passed, or at once when `signal` is aborted. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>
}

interface Sleeper {
  readonly until: number
  readonly wake: () => void
  timer: NodeJS.Timeout | undefined
}

const LONGEST_TIMER_MS = 2 ** 31 - 1 // what setTimeout takes

/** `source` gives the unmoved time: the machine's, or a constant where nothing may depend on when a test runs. */
export function createClock(source: () => number = Date.now): Clock {
  const sleepers = new Set<Sleeper>()
  let offset = 0
  const now = () => source() + offset

  const arm = (sleeper: Sleeper) => {
    clearTimeout(sleeper.timer)
    const remaining = sleeper.until - now()
    if (remaining <= 0) return sleeper.wake()
    sleeper.timer = setTimeout(() => arm(sleeper), Math.min(remaining, LONGEST_TIMER_MS))
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

/** A clock that stands still until it is advanced. */
export const frozenClock = (start = Date.UTC(2026, 10, 15)): Clock => createClock(() => start)
