/** Time as an argument, so that tests can move it and never wait. */
export interface Clock {
  now(): Date
  /** Calls back once after this time; the result cancels it. Default: the machine's timer. */
  after?(ms: number, call: () => void): () => void
}

/** Of an ISO time, in UTC: YYYY-MM-DD. */
export const dayOf = (time: Date | string): string =>
  (typeof time === "string" ? time : time.toISOString()).slice(0, "YYYY-MM-DD".length)

export const systemClock: Clock = { now: () => new Date() }

const LONGEST_TIMER_MS = 2 ** 31 - 1 // the most setTimeout accepts

/** A timer on this clock. It keeps no process alive. */
export function callAfter(clock: Clock, ms: number, call: () => void): () => void {
  if (clock.after) return clock.after(ms, call)
  const timer = setTimeout(call, Math.min(ms, LONGEST_TIMER_MS))
  timer.unref()
  return () => clearTimeout(timer)
}

/** The process does not end until the result is called, also where only timers and sockets that keep none alive are left. For someone who waits. */
export function keepProcess(): () => void {
  const timer = setInterval(() => undefined, LONGEST_TIMER_MS)
  return () => clearInterval(timer)
}

interface Alarm {
  readonly at: number
  readonly call: () => void
}

/** A clock that moves only when `advance` is called. Timers that are due then fire, in order. */
export function manualClock(
  start: string | Date = "2026-01-01T00:00:00.000Z",
): Required<Clock> & { advance(ms: number): void } {
  let time = new Date(start).getTime()
  const alarms = new Set<Alarm>()
  const nextAlarm = (until: number) =>
    [...alarms].filter(({ at }) => at <= until).sort((first, second) => first.at - second.at)[0]
  return {
    now: () => new Date(time),
    after(ms, call) {
      const alarm = { at: time + ms, call }
      alarms.add(alarm)
      return () => alarms.delete(alarm)
    },
    advance(ms) {
      const until = time + ms
      for (let alarm = nextAlarm(until); alarm; alarm = nextAlarm(until)) {
        alarms.delete(alarm)
        time = Math.max(time, alarm.at)
        alarm.call()
      }
      time = until
    },
  }
}
