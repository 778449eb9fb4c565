/**
 * A lock between processes: one file that names its owner. If the owner has died, the next process takes the lock over at
 * once; of several that try, exactly one succeeds.
 *
 * Lock libraries decide by time whether an owner is dead. A crashed agent would then wait for seconds, and a laptop that
 * slept would lose a lock it still holds. That is why this one is our own.
 */
import { linkSync, renameSync, rmSync } from "node:fs"
import { link, lstat, readdir, rename, rm } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { doorAnswers, doorDigits, doorIn } from "./lock-door.ts"
import { judge, type LockOwner, type Verdict } from "./lock-owner.ts"
import { lockText, type OwnerFile, ownerOf, type Stamped, stamp, writeBroken, writeOwner } from "./owner-file.ts"

/** `path`: of the lock. `verdict`: whether the holder lives, as far as it can be seen from here. */
export interface LockHolder extends LockOwner {
  readonly path: string
  readonly verdict: Exclude<Verdict, "dead">
  readonly isSelf: boolean
}

export type LockAttempt =
  | { readonly state: "acquired"; readonly lock: FileLock; readonly takenOverFrom?: LockOwner }
  | { readonly state: "held"; readonly by: LockHolder }

export interface FileLock {
  readonly path: string
  /** The number of this acquisition: larger than all before it. */
  readonly fence: number
  /** False once someone broke the lock, or removed its file. */
  isHeld(): boolean
  release(): Promise<void>
  /** Gives it back with the mark that an owner before this one may still run: this one could not move the files away from it. */
  abandon(): Promise<void>
}

export async function acquireLock(path: string, since: string): Promise<LockAttempt> {
  const own = await writeOwner(path, since)
  let attempt: LockAttempt | undefined
  try {
    attempt = await attemptWith(own, path)
    return attempt
  } finally {
    await rm(own.file, { force: true })
    if (attempt?.state !== "acquired") await own.door?.close()
  }
}

async function attemptWith(own: OwnerFile, path: string): Promise<LockAttempt> {
  for (;;) {
    stamp(own)
    if (await linked(own.file, path)) {
      const stamped = stamp(own) // again: if this process was paused, others may have had the lock since
      return { state: "acquired", lock: lockAt(path, { ...own, ...stamped }) }
    }
    const holder = await ownerOf(path)
    if (holder === undefined) continue // it was released in the meantime
    const verdict = await judge(holder, dirname(path))
    if (verdict !== "dead")
      return { state: "held", by: { ...holder, path, verdict, isSelf: isSame(holder, own.owner) } }
    const taken = await takeOver({ path, own, dead: holder })
    if (taken) return taken
  }
}

const isSame = (a: LockOwner, b: LockOwner): boolean =>
  a.pid === b.pid && a.started === b.started && (a.space ?? "") === (b.space ?? "") && a.host === b.host

/**
 * Only the holder of the takeover lock may replace a dead owner's lock, and only while that owner still holds it. The takeover
 * lock works like any other, so the next process can take over from one that dies in the middle. Nothing if someone else was faster.
 */
export async function takeOver(step: {
  path: string
  own: OwnerFile
  dead: LockOwner
}): Promise<LockAttempt | undefined> {
  const { path, own, dead } = step
  const claim = await acquireLock(`${path}.takeover`, own.owner.since)
  if (claim.state === "held") return claim
  try {
    const holder = await ownerOf(path)
    if (holder === undefined || holder.token !== dead.token) return undefined
    const stamped = stamp(own, dead)
    await rename(own.file, path)
    await removeLeftovers(path, dead)
    // a process that was paused here may have replaced one that came after it
    const former = claim.lock.isHeld() ? dead : { ...dead, isUnsettled: true }
    return { state: "acquired", lock: lockAt(path, { ...own, ...stamped }), takenOverFrom: former }
  } finally {
    await claim.lock.release()
  }
}

function lockAt(path: string, { owner, door, fence, text }: OwnerFile & Stamped): FileLock {
  const isHeld = () => lockText(path) === text
  return {
    path,
    fence,
    isHeld,
    async release() {
      if (isHeld()) removeLock({ path, token: owner.token, text })
      await door?.close()
    },
    async abandon() {
      if (isHeld()) renameSync(writeBroken(path, owner).file, path)
      await door?.close()
    },
  }
}

/** Removes a lock only if it is ours: another process may have taken over since it was looked at. What is not ours goes back. */
export function removeLock({ path, token, text }: { path: string; token: string; text: string }): void {
  const aside = `${path}.${token.slice(-8)}` // not the name of its owner file, which may still be in use
  try {
    renameSync(path, aside)
    if (lockText(aside) !== text) linkSync(aside, path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== "ENOENT" && code !== "EEXIST") throw error
  } finally {
    rmSync(aside, { force: true })
  }
}

/** What killed processes left beside a lock: their doors, and owner files that they did not get to remove. */
export async function removeLeftovers(path: string, dead?: LockOwner): Promise<void> {
  const directory = dirname(path)
  const start = `${basename(path)}.`
  const names = await readdir(directory).catch(() => [] as string[])
  const files = names.filter((name) => name.startsWith(start) && /^[0-9a-f]{8}$/.test(name.slice(start.length)))
  const gone = dead?.door ? [dead.door] : []
  for (const file of files.map((name) => join(directory, name))) {
    const owner = await ownerOf(file)
    if (!owner || (owner.token === "" && (await isBeingWritten(file)))) continue
    if ((await judge(owner, directory)) !== "dead") continue
    if (owner.door) gone.push(owner.door)
    await rm(file, { force: true })
  }
  for (const digits of gone) await rm(doorIn(directory, digits), { force: true })
}

/** Doors that killed processes left after they had removed their lock: no file names them, and no one answers. For a directory with one lock. */
export async function removeDeadDoors(path: string): Promise<void> {
  const directory = dirname(path)
  const names = await readdir(directory).catch(() => [] as string[])
  const doors = names.flatMap((name) => doorDigits(name) ?? [])
  if (doors.length === 0) return
  const holders = await Promise.all([path, `${path}.takeover`].map((lock) => ownerOf(lock)))
  for (const digits of doors) {
    const isNamed = names.some((name) => name.endsWith(`.${digits}`)) || holders.some((one) => one?.door === digits)
    if (!isNamed && (await doorAnswers(directory, digits)) === "dead")
      await rm(doorIn(directory, digits), { force: true })
  }
}

/** A file without a token is unfinished: its process writes it now, or was killed. */
async function isBeingWritten(file: string): Promise<boolean> {
  const facts = await lstat(file).catch(() => undefined)
  return facts !== undefined && Math.abs(Date.now() - facts.mtimeMs) < LONGEST_WRITE_MS
}

async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false
    throw error
  }
}

const LONGEST_WRITE_MS = 60_000 // of a few hundred bytes
/** The holder of a lock, with the verdict. Nothing if no one holds it. */
export async function holderOf(path: string): Promise<(LockOwner & { readonly verdict: Verdict }) | undefined> {
  const owner = await ownerOf(path)
  return owner && { ...owner, verdict: await judge(owner, dirname(path)) }
}
