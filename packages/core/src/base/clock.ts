/** Clocks and timers, and ids: creates them, and checks which ids are safe in a path. */

import { hash, randomUUID } from "node:crypto"
import { InvalidIdError } from "./errors.ts"

/** The source of time, passed as an argument so that tests can control it and never wait. */
export interface Clock {
  now(): Date
  /** Calls back once after this time. Returns a function that cancels the call. Default: the machine's timer. */
  after?(ms: number, call: () => void): () => void
}

/** The UTC date of a time: YYYY-MM-DD. */
export const utcDay = (time: Date | string): string =>
  (typeof time === "string" ? time : time.toISOString()).slice(0, "YYYY-MM-DD".length)

export const systemClock: Clock = { now: () => new Date() }

const MAX_TIMER_MS = 2 ** 31 - 1 // the most setTimeout accepts

/** Starts a timer on this clock. It does not keep the process alive. */
export function callAfter(clock: Clock, ms: number, call: () => void): () => void {
  if (clock.after) return clock.after(ms, call)
  const timer = setTimeout(call, Math.min(ms, MAX_TIMER_MS))
  timer.unref()
  return () => clearTimeout(timer)
}

/**
 * Keeps the process alive until the returned function is called, for a caller that waits on timers or sockets that do not keep it alive.
 */
export function keepProcess(): () => void {
  const timer = setInterval(() => undefined, MAX_TIMER_MS)
  return () => clearInterval(timer)
}

interface Alarm {
  readonly at: number
  readonly call: () => void
}

/** A clock that moves only when `advance` is called, which fires due timers in order. */
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

/** Creates the ids of conversations and entries. Tests can pass their own. */
export interface Ids {
  uuid(): string
}

export const randomIds: Ids = { uuid: () => randomUUID() }

/** Creates the same ids in the same order for the same seed. */
export function seededIds(seed: string): Ids {
  let count = 0
  return { uuid: () => uuidFrom(`${seed}:${count++}`) }
}

/** A uuid derived from a text. Equal texts give equal uuids. */
export function uuidFrom(text: string): string {
  const hex = hash("sha256", text, "hex")
  const variant = "89ab"[Number.parseInt(hex[16]!, 16) % 4]
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

const SAFE_ID = /^[A-Za-z0-9_-]{1,220}$/ // file names may have 255 bytes; the rest is for extensions

export function isSafeId(id: string): boolean {
  return SAFE_ID.test(id)
}

/** Returns the id if it is safe in a path; throws otherwise. */
export function validateId(kind: string, id: string): string {
  if (!isSafeId(id)) throw new InvalidIdError(kind, id)
  return id
}

const MAX_PROJECT_NAME = 200 // characters; file names may have 255 bytes

/** The directory name for a project's path: everything but letters and digits becomes a dash. */
export function projectName(path: string): string {
  const name = path.replace(/[^A-Za-z0-9]/g, "-")
  if (name.length <= MAX_PROJECT_NAME) return name
  return `${name.slice(0, MAX_PROJECT_NAME)}-${hash("sha256", path, "hex").slice(0, 8)}`
}
