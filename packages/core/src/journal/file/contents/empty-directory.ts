/** Removes directories without files. Locks and sockets of processes that no longer run do not count as files. */
import { readdir, rmdir } from "node:fs/promises"
import { join } from "node:path"
import { breakLock, findLocks } from "../find-locks.ts"
import { removeDeadSockets, removeLeftovers } from "../lock.ts"

/** A lock's file of one process, named after the lock. */
const OWNER_FILE = /^(.*(?:lock|guard))\.[0-9a-f]{8}$/

export async function removeEmptyDirectory(directory: string): Promise<void> {
  for (const lock of await findLocks([directory])) await breakLock(lock) // only if its holder is dead
  await removeEmpty(directory)
}

async function removeEmpty(directory: string): Promise<void> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => [])
  for (const entry of entries) if (entry.isDirectory()) await removeEmpty(join(directory, entry.name))
  const locks = new Set(entries.flatMap(({ name }) => OWNER_FILE.exec(name)?.[1] ?? []))
  for (const lock of locks) await removeLeftovers(join(directory, lock))
  await removeDeadSockets(join(directory, ".lock"))
  await rmdir(directory).catch(() => undefined) // not empty: a process uses it, or a file is not ours
}
