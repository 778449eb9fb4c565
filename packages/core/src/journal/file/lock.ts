/**
 * A lock between processes: one file that names its owner. It outlives a dead owner by at most one look: whoever finds the
 * owner gone takes the lock over at once, and of several who try, exactly one succeeds.
 *
 * Written by hand because lock libraries judge a dead owner by time: a crashed agent would have to wait for seconds, and a
 * laptop that slept would lose a lock that it still holds.
 */
import { randomUUID } from "node:crypto"
import { link, readFile, rename, rm, writeFile } from "node:fs/promises"
import { hostname } from "node:os"

export interface LockOwner {
  readonly pid: number
  readonly host: string
  readonly since: string
  /** Tells this process from a later one with the same pid, where the system can tell. */
  readonly started: string
  readonly token: string
}

export type LockAttempt =
  | { readonly state: "acquired"; readonly lock: FileLock; readonly takenOverFrom?: LockOwner }
  | { readonly state: "held"; readonly by: LockOwner }

export interface FileLock {
  release(): Promise<void>
}

export async function acquireLock(path: string, since: string): Promise<LockAttempt> {
  const owner: LockOwner = {
    pid: process.pid,
    host: hostname(),
    since,
    started: await startOf(process.pid),
    token: randomUUID(),
  }
  // a finished file is linked into place, so nobody ever sees a lock without an owner
  const own = `${path}.${owner.token.slice(0, 8)}` // not all of it: the longest id and this must fit into a file name
  await writeFile(own, JSON.stringify(owner))
  try {
    if (await linked(own, path)) return { state: "acquired", lock: lockAt(path, owner.token) }
    const holder = await ownerOf(path)
    if (holder === undefined) return await acquireLock(path, since) // released this moment
    if (await isAlive(holder)) return { state: "held", by: holder }
    return await takeOver({ path, own, owner, dead: holder })
  } finally {
    await rm(own, { force: true })
  }
}

/**
 * Only the holder of the take-over lock may replace a dead owner's lock, and only while it is still the dead owner's.
 * The take-over lock is a lock like any other, so an owner that dies while taking over is taken over in turn.
 */
async function takeOver(step: { path: string; own: string; owner: LockOwner; dead: LockOwner }): Promise<LockAttempt> {
  const { path, own, owner, dead } = step
  const claim = await acquireLock(`${path}.takeover`, owner.since)
  if (claim.state === "held") return { state: "held", by: claim.by }
  try {
    const holder = await ownerOf(path)
    if (holder === undefined || holder.token !== dead.token) return await acquireLock(path, owner.since)
    await rename(own, path)
    return { state: "acquired", lock: lockAt(path, owner.token), takenOverFrom: dead }
  } finally {
    await claim.lock.release()
  }
}

function lockAt(path: string, token: string): FileLock {
  return {
    async release() {
      const holder = await ownerOf(path)
      if (holder?.token === token) await rm(path, { force: true })
    },
  }
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

async function ownerOf(path: string): Promise<LockOwner | undefined> {
  try {
    return JSON.parse(await readFile(path, "utf8")) as LockOwner
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined
    // not a lock of ours, or damaged: nobody can be asked, so nobody is there
    return { pid: 0, host: hostname(), since: "an unknown time", started: "", token: "" }
  }
}

async function isAlive(owner: LockOwner): Promise<boolean> {
  if (owner.host !== hostname()) return true // cannot be told from here
  if (owner.pid <= 0) return false
  try {
    process.kill(owner.pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"
  }
  return (await startOf(owner.pid)) === owner.started
}

/** When a process began, in the kernel's own count; `ended` for one that only waits to be collected. Empty where the system does not tell. */
async function startOf(pid: number): Promise<string> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, "utf8")
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ") // from the third field on: the state
    const START_TIME = 19 // the 22nd field
    return fields[0] === "Z" || fields[0] === "X" ? "ended" : (fields[START_TIME] ?? "")
  } catch {
    return ""
  }
}
