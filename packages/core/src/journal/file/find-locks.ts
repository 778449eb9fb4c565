/** Finds the locks below some directories, and breaks locks whose holder no longer runs. A living holder's lock is never broken. */
import { readdir, rm } from "node:fs/promises"
import { join } from "node:path"
import { acquireLock, holderOf, mayRun, takeOver, writeBroken } from "./lock.ts"
import type { LockOwner, OwnerStatus } from "./lock-owner.ts"

export interface FoundLock extends LockOwner {
  readonly path: string
  readonly status: OwnerStatus
}

// <id>.lock, .lock of a memory, lock of a team, the guard of a consolidation, and locks of takeovers
const LOCK_NAME = /(?:^|\.)(?:lock|guard)(?:\.takeover)*$/

/** Sorted by path. Files that only have such a name and locks that were broken are omitted. */
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
 * Returns `false` if another process holds the lock by now, or if the holder lives. A holder whose status is unknown may live, so the lock
 * is marked, and the next owner continues on files of its own.
 */
export async function breakLock({ path, token }: FoundLock): Promise<boolean> {
  const holder = await holderOf(path)
  if (holder?.token !== token || holder.status === "alive") return false
  if (holder.status === "dead" && !mayRun(holder)) return takenAndReleased(path, holder.since)
  const own = writeBroken(path, holder)
  try {
    const former = { ...holder, door: "" } // its socket may serve other locks
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
