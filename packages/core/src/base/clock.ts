/** Time as an argument, so that tests can move it and never wait. */
export interface Clock {
  now(): Date
}

export const systemClock: Clock = { now: () => new Date() }

/** A clock that moves only when `advance` is called. */
export function manualClock(start: string | Date = "2026-01-01T00:00:00.000Z"): Clock & { advance(ms: number): void } {
  let time = new Date(start).getTime()
  return {
    now: () => new Date(time),
    advance: (ms) => {
      time += ms
    },
  }
}
