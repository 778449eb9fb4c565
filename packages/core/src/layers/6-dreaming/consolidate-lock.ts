/**
 * The lock of a consolidation: one file in the memory directory. Its text is the process id of the holder, and its mtime is the time of
 * the last consolidation, also while the lock is held. So a killed holder leaves the earlier time in place.
 *
 * Writing a pid and reading it back can let two processes win. A short second lock, which names its owner as it appears, admits one at
 * a time to that step.
 */
import { randomUUID } from "node:crypto"
import { mkdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { Clock } from "../../base/clock.ts"
import { DIRECTORY_MODE, FILE_MODE } from "../../journal/file/layout.ts"
import { acquireLock } from "../../journal/file/lock.ts"
import { machineProcesses, type Processes } from "./owner-process.ts"

export const LOCK_FILE = ".consolidate-lock"
const LONGEST_HOLD_MS = 60 * 60_000
const CLOCK_SLACK_MS = 2_000 // the kernel reports the boot time in whole seconds
const LONGEST_TEXT = 64 // bytes; a pid has at most 10 digits

export interface LockPlace {
  readonly directory: string
  readonly clock: Clock
  /** Default: those of this machine. */
  readonly processes?: Processes
  /** Called at each step. For tests that end the process there. */
  readonly atStep?: (step: LockStep) => void
}

export type LockStep = "guarded" | "drafted" | "written" | "acquired" | "released"

export interface LockReading {
  /** The time of the last consolidation. Absent: there was none. */
  readonly last?: Date
  /** The live process that holds it. */
  readonly heldBy?: number
}

export type ConsolidationLockAttempt =
  | { readonly state: "acquired"; readonly lock: ConsolidationLock }
  /** `by`: the holder, or the process that is acquiring it at this moment. */
  | { readonly state: "held"; readonly by: number }

export interface ConsolidationLock {
  /** The consolidation before this one. */
  readonly last?: Date
  /** Empties the file. After a success its mtime is now, else it is the earlier one. */
  release(outcome: "success" | "failure"): Promise<void>
}

/** The locks that this process holds. A file with its pid that is not among them is left from an earlier process with the same pid. */
const held = new Map<string, symbol>()

export async function readConsolidationLock(place: LockPlace): Promise<LockReading> {
  const path = join(place.directory, LOCK_FILE)
  const facts = await stat(path).catch(() => undefined)
  if (!facts?.isFile()) return {}
  const last = facts.mtimeMs > 0 ? { last: facts.mtime } : {}
  const pid = await namedPid(path, facts.size)
  if (pid === undefined) return last
  return (await isHolder({ ...place, path, pid, writtenMs: facts.ctimeMs })) ? { ...last, heldBy: pid } : last
}

export async function acquireConsolidationLock(place: LockPlace): Promise<ConsolidationLockAttempt> {
  const { directory, clock, atStep = () => {} } = place
  const path = join(directory, LOCK_FILE)
  await mkdir(directory, { recursive: true, mode: DIRECTORY_MODE })
  const guard = await acquireLock(`${path}.guard`, clock.now().toISOString())
  if (guard.state === "held") return { state: "held", by: guard.by.pid }
  try {
    atStep("guarded")
    const { last, heldBy } = await readConsolidationLock(place)
    if (heldBy !== undefined) return { state: "held", by: heldBy }
    await replaceLock({ path, text: String(process.pid), time: last, drafted: () => atStep("drafted") })
    atStep("written")
    const winner = (await readFile(path, "utf8")).trim()
    if (winner !== String(process.pid)) return { state: "held", by: Number(winner) }
    const hold = Symbol(path)
    held.set(path, hold)
    atStep("acquired")
    return {
      state: "acquired",
      lock: {
        ...(last ? { last } : {}),
        async release(outcome) {
          if (held.get(path) !== hold) return
          const time = outcome === "success" ? clock.now() : last
          try {
            const current = await readFile(path, "utf8").catch(() => "")
            if (current.trim() === String(process.pid)) await replaceLock({ path, text: "", time })
          } finally {
            held.delete(path)
          }
          atStep("released")
        },
      },
    }
  } finally {
    await guard.lock.release()
  }
}

/** Text and mtime change in one step. */
async function replaceLock(change: {
  path: string
  text: string
  time: Date | undefined
  drafted?: () => void
}): Promise<void> {
  const { path, text, time = new Date(0), drafted = () => {} } = change
  const draft = `${path}.${randomUUID().slice(0, 8)}.draft`
  try {
    await writeFile(draft, text, { mode: FILE_MODE, flush: true, flag: "wx" })
    await utimes(draft, time, time)
    drafted()
    await rename(draft, path)
  } finally {
    await rm(draft, { force: true })
  }
}

async function namedPid(path: string, size: number): Promise<number | undefined> {
  if (size === 0 || size > LONGEST_TEXT) return undefined
  const text = (await readFile(path, "utf8").catch(() => "")).trim()
  return /^[1-9]\d{0,9}$/.test(text) ? Number(text) : undefined
}

interface Claim extends LockPlace {
  readonly path: string
  readonly pid: number
  /** When the pid was written, by the machine's clock. */
  readonly writtenMs: number
}

/**
 * A live process holds the lock. After an hour it must also have begun before its pid was written: a later one only has the same pid,
 * and is not this program.
 */
async function isHolder({ path, pid, writtenMs, clock, processes = machineProcesses }: Claim): Promise<boolean> {
  if (pid === process.pid) return held.has(path)
  if (!(await processes.isAlive(pid))) return false
  if (clock.now().getTime() - writtenMs < LONGEST_HOLD_MS) return true
  const began = await processes.startedAt(pid)
  return began === undefined || began.getTime() <= writtenMs + CLOCK_SLACK_MS
}
