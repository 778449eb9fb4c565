/**
 * Permits as numbered lock files in one directory. There are as many numbers as permits, so no counter has to stay correct, and a dead
 * process's permit is taken over like any lock. The permit to consolidate is a file of its own (`consolidate-lock.ts`).
 */
import { readdir } from "node:fs/promises"
import { join } from "node:path"
import type { Clock } from "../../base/clock.ts"
import { validateId } from "../../base/clock.ts"
import { CONSOLIDATE, type Permit, type PermitAddress, type PermitAttempt, type TakenPermit } from "../permit.ts"
import { consolidatePermit } from "./consolidate-lock.ts"
import { memoryDirectory, permitDirectory } from "./layout.ts"
import { acquireLock, type FileLock, holderOf } from "./lock.ts"
import { makeDirectory } from "./make-directory.ts"

/** The permits of this process, by directory and id: a repeated request finds the permit that it already has. */
const localPermits = new Map<string, Promise<PermitAttempt>>()

export function permitInFiles(
  address: PermitAddress,
  { root, clock }: { readonly root: string; readonly clock: Clock },
): Permit {
  const directory = permitDirectory(root, address)
  const permit =
    address.name === CONSOLIDATE
      ? consolidatePermit({ directory: memoryDirectory(root, address.project), clock })
      : numberedPermit(directory, clock)
  return {
    state: permit.state,
    async take(wanted) {
      const key = join(directory, validateId("permit id", wanted.id))
      const known = localPermits.get(key)
      if (known) return known
      const attempt = permit.take(wanted).then((taken) => releaseOnce(taken, () => localPermits.delete(key)))
      localPermits.set(key, attempt)
      const answer = await attempt.catch(() => undefined)
      if (answer?.state !== "acquired") localPermits.delete(key)
      return attempt
    },
  }
}

function releaseOnce(attempt: PermitAttempt, onReleased: () => void): PermitAttempt {
  if (attempt.state === "full") return attempt
  const { permit } = attempt
  let isReleased = false
  const release: TakenPermit["release"] = async (done) => {
    if (isReleased) return
    isReleased = true
    onReleased()
    await permit.release(done)
  }
  return { state: "acquired", permit: { ...permit, release } }
}

/** In each round without a permit, other processes have taken all free ones. */
const MAX_ROUNDS = 10

const numberedPermit = (directory: string, clock: Clock): Permit => ({
  async state() {
    const numbers = await permitNumbers(directory)
    return { taken: numbers.length - (await findDead(directory, numbers)).length }
  },
  async take({ max }) {
    await makeDirectory(directory)
    for (let round = 1; ; round++) {
      const { free, taken } = await findFree(directory, max)
      const lock = taken < max ? await lockFirstFree(free, { directory, since: clock.now().toISOString() }) : undefined
      if (lock) return { state: "acquired", permit: { fence: lock.fence, release: () => lock.release() } }
      if (taken >= max || round === MAX_ROUNDS) return describeFull(directory, Math.max(taken, max))
    }
  },
})

/** The numbers to try, and how many permits are taken. Holders are checked only if all numbers have a file. */
async function findFree(directory: string, max: number): Promise<{ free: readonly number[]; taken: number }> {
  const numbers = await permitNumbers(directory)
  const dead = numbers.length < max ? [] : await findDead(directory, numbers)
  const living = new Set(numbers.filter((number) => !dead.includes(number)))
  const free = Array.from({ length: max }, (_, number) => number).filter((number) => !living.has(number))
  return { free, taken: living.size }
}

const permitNumbers = async (directory: string): Promise<readonly number[]> =>
  (await readdir(directory).catch(() => [])).flatMap((name) => parsePermitNumber(name) ?? [])

/** The numbers whose process has ended. */
async function findDead(directory: string, numbers: readonly number[]): Promise<readonly number[]> {
  const holders = await Promise.all(numbers.map((number) => holderOf(lockPath(directory, number))))
  return numbers.filter((_, at) => (holders[at]?.status ?? "dead") === "dead")
}

async function lockFirstFree(
  numbers: readonly number[],
  { directory, since }: { readonly directory: string; readonly since: string },
): Promise<FileLock | undefined> {
  for (const number of numbers) {
    const attempt = await acquireLock(lockPath(directory, number), since)
    if (attempt.state === "acquired") return attempt.lock
  }
  return undefined
}

async function describeFull(directory: string, taken: number): Promise<PermitAttempt> {
  for (const number of await permitNumbers(directory)) {
    const path = lockPath(directory, number)
    const holder = await holderOf(path)
    if (!holder || holder.status === "dead") continue
    return { state: "full", taken, by: { ...holder, path, status: holder.status } }
  }
  return { state: "full", taken }
}

// earlier versions count files with the same name
const lockPath = (directory: string, number: number) => join(directory, `seat-${number}.lock`)

const parsePermitNumber = (name: string): number | undefined => {
  const digits = /^seat-(\d{1,9})\.lock$/.exec(name)?.[1]
  return digits === undefined ? undefined : Number(digits)
}
