/**
 * The check of a lock in the write itself. A process can be paused between the check and the write, so the check alone is not enough: who
 * takes the lock from an owner that may still run continues on files of its own (`renew-files.ts`), and what passed the check then
 * goes to a file without a name.
 */
import { JournalWriteError, LockLostError, type StrataError } from "../../base/errors.ts"
import type { FileLock } from "./lock.ts"
import { readLock, readOwner } from "./owner-file.ts"

/** What is written next. */
export type WriteStep =
  | "open"
  | "append"
  | "truncate"
  | "checkpoint"
  | "blob"
  | "notes"
  | "in-flight"
  | "set-aside"
  | "renew"
  | "remove"

export interface Fence {
  /** Throws a `LockLostError` unless the lock is held, and a `JournalWriteError` where that cannot be known. Called right before a write, in the same turn of the event loop. */
  check(step: WriteStep): void
}

/** A lock that this process has, and its check. */
export interface Held {
  readonly lock: FileLock
  readonly fence: Fence
}

/** `atStep`: called after each check. For tests that pause the process there. */
export const fenceOf = (lock: FileLock, atStep: (step: WriteStep) => void = () => {}): Fence => ({
  check(step) {
    if (!lock.isHeld()) throw lockLost(lock.path)
    atStep(step)
  },
})

/**
 * Names who holds the lock now, or why that cannot be known. `written`: bytes may have reached the file before the lock was lost.
 */
export function lockLost(path: string, { written = false } = {}): StrataError {
  const lock = readLock(path)
  if (lock.state === "unreadable") return new JournalWriteError(path, lock.error)
  const owner = lock.state === "read" ? readOwner(lock.text) : undefined
  const { pid, host, since, fence } = owner ?? { pid: 0, host: "", since: "" }
  const holder = pid > 0 ? { pid, host, since, path, ...(fence === undefined ? {} : { fence }) } : undefined
  return new LockLostError(path, { written, ...(holder ? { holder } : {}) })
}
