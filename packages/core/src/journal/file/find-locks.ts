/** The locks below some directories, and breaking one whose holder is gone. A living holder's lock is never broken. */
import { link, readdir, rename, rm } from "node:fs/promises"
import { dirname, join } from "node:path"
import { holderOf, ownerOf } from "./lock.ts"
import { doorIn } from "./lock-door.ts"
import type { LockOwner, Verdict } from "./lock-owner.ts"

export interface FoundLock extends LockOwner {
  readonly path: string
  readonly verdict: Verdict
}

// <id>.lock, .lock of a memory, lock of a team, the guard of a consolidation, and those of processes that were taking over
const LOCK_NAME = /(?:^|\.)(?:lock|guard)(?:\.takeover)*$/

/** Sorted by path. A file with such a name that no one of ours wrote is left out. */
export async function findLocks(directories: readonly string[]): Promise<readonly FoundLock[]> {
  const found = new Map<string, FoundLock>()
  for (const directory of directories) {
    const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => [])
    for (const entry of entries.filter((one) => one.isFile() && LOCK_NAME.test(one.name))) {
      const path = join(entry.parentPath, entry.name)
      const holder = await holderOf(path).catch(() => undefined)
      if (holder && holder.token !== "") found.set(path, { ...holder, path })
    }
  }
  return [...found.values()].sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** False if it is no longer that holder's, or if the holder lives. */
export async function breakLock({ path, token }: FoundLock): Promise<boolean> {
  const holder = await holderOf(path)
  if (holder?.token !== token || holder.verdict === "alive") return false
  const aside = `${path}.${token.slice(0, 8)}.broken`
  await rename(path, aside)
  const taken = await ownerOf(aside)
  if (taken?.token !== token) await link(aside, path) // someone acquired it in between
  await rm(aside, { force: true })
  if (taken?.token !== token) return false
  // one that cannot be judged may answer for other locks
  if (holder.verdict === "dead" && holder.door) await rm(doorIn(dirname(path), holder.door), { force: true })
  return true
}
