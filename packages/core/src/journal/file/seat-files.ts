/**
 * Seats as numbered lock files in one directory. As many can be taken as there are numbers, so no count has to be kept right, and a dead
 * process's seat is taken over like any lock.
 */
import { readdir } from "node:fs/promises"
import { join } from "node:path"
import type { SeatAttempt, SeatRequest } from "../seat.ts"
import { acquireLock, type FileLock, holderOf } from "./lock.ts"
import { makeDirectory } from "./make-directory.ts"

export interface SeatFiles extends Pick<SeatRequest, "id" | "most"> {
  /** Has the seats of one address, and nothing else. */
  readonly directory: string
  readonly since: string
}

/** The seats of this process, by directory and id: who asks again finds the one that it has. */
const own = new Map<string, Promise<SeatAttempt>>()

export async function seatInFiles(wanted: SeatFiles): Promise<SeatAttempt> {
  const key = join(wanted.directory, wanted.id)
  const known = own.get(key)
  if (known) return known
  const attempt = attemptAt(wanted, () => own.delete(key))
  own.set(key, attempt)
  const answer = await attempt.catch(() => undefined)
  if (answer?.state !== "acquired") own.delete(key)
  return attempt
}

/** Of each round without a seat, others have taken all that were free. */
const MOST_ROUNDS = 10

async function attemptAt(wanted: SeatFiles, onReleased: () => void): Promise<SeatAttempt> {
  const { directory, most } = wanted
  await makeDirectory(directory)
  for (let round = 1; ; round++) {
    const { free, taken } = await look(directory, most)
    const lock = taken < most ? await firstOf(free, wanted) : undefined
    if (lock) return { state: "acquired", seat: seatOf(lock, onReleased) }
    if (taken >= most || round === MOST_ROUNDS) return { state: "full", taken: Math.max(taken, most) }
  }
}

/** The numbers that can be tried, and how many seats are taken. Who holds them is asked only where all have a file. */
async function look(directory: string, most: number): Promise<{ free: readonly number[]; taken: number }> {
  const names = (await readdir(directory)).flatMap((name) => numberIn(name) ?? [])
  const dead = names.length < most ? [] : await deadAmong(directory, names)
  const living = new Set(names.filter((number) => !dead.includes(number)))
  const free = Array.from({ length: most }, (_, number) => number).filter((number) => !living.has(number))
  return { free, taken: living.size }
}

/** Of the seats with these numbers, those whose process has ended. */
async function deadAmong(directory: string, numbers: readonly number[]): Promise<readonly number[]> {
  const holders = await Promise.all(numbers.map((number) => holderOf(seatPath(directory, number))))
  return numbers.filter((_, at) => (holders[at]?.verdict ?? "dead") === "dead")
}

async function firstOf(numbers: readonly number[], { directory, since }: SeatFiles): Promise<FileLock | undefined> {
  for (const number of numbers) {
    const attempt = await acquireLock(seatPath(directory, number), since)
    if (attempt.state === "acquired") return attempt.lock
  }
  return undefined
}

function seatOf(lock: FileLock, onReleased: () => void) {
  let isReleased = false
  return {
    async release() {
      if (isReleased) return
      isReleased = true
      onReleased()
      await lock.release()
    },
  }
}

const seatPath = (directory: string, number: number) => join(directory, `seat-${number}.lock`)

const numberIn = (name: string): number | undefined => {
  const digits = /^seat-(\d{1,9})\.lock$/.exec(name)?.[1]
  return digits === undefined ? undefined : Number(digits)
}
