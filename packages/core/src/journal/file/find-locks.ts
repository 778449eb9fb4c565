/** The locks below some directories, and breaking one whose holder is gone. A living holder's lock is never broken. */
import { readdir, rm } from "node:fs/promises"
import { join } from "node:path"
import { acquireLock, holderOf, mayRun, takeOver, writeBroken } from "./lock.ts"
import type { LockOwner, OwnerStatus } from "./lock-owner.ts"

export interface FoundLock extends LockOwner {
  readonly path: string
  readonly status: OwnerStatus
}

// <id>.lock, .lock of a memory, lock of a team, the guard of a consolidation, and those of processes that were taking over
const LOCK_NAME = /(?:^|\.)(?:lock|guard)(?:\.takeover)*$/

/** Sorted by path. A file with such a name that no one of ours wrote is left out, and a lock that was broken. */
export async function findLocks(directories: readonly string[]): Promise<readonly FoundLock[]> {
  const found = new Map<string, FoundLock>()
  for (const directory of directories) {
    const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => [])
    for (const entry of entries.filter((one) => one.isFile() && LOCK_NAME.test(one.name))) {
      const path = join(entry.parentPath, entry.name)
      const holder = await holderOf(path).catch(() => undefined)
      if (holder && holder.token !== "" && holder.pid > 0) found.set(path, { ...holder, path })
    }
  }
  return [...found.values()].sort((a, b) => (a.path < b.path ? -1 : 1))
}

/**
 * False if it is no longer that holder's, or if the holder lives. A holder that cannot be judged may live too: what it leaves says so to
 * the next owner, which then continues on files of its own.
 */
export async function breakLock({ path, token }: FoundLock): Promise<boolean> {
  const holder = await holderOf(path)
  if (holder?.token !== token || holder.status === "alive") return false
  if (holder.status === "dead" && !mayRun(holder)) return takenAndReleased(path, holder.since)
  const own = writeBroken(path, holder)
  try {
    const former = { ...holder, door: "" } // its door may answer for other locks
    return (await takeOver({ path, own, dead: former }))?.state === "acquired"
  } finally {
    await rm(own.file, { force: true })
  }
}

async function takenAndReleased(path: string, since: string): Promise<boolean> {
  const attempt = await acquireLock(path, since)
  if (attempt.state === "held") return false
  await attempt.lock.release()
  return true
}
