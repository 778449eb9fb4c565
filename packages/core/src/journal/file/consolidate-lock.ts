/**
 * The lock for consolidating memories. `.consolidate-lock` in the memory directory contains the process id of the holder, and its mtime is
 * the time of the last consolidation, even while the lock is held. So a killed holder leaves the earlier time in place.
 *
 * A pid alone is not enough: another machine or container may use the same one. So the holder also has a regular lock file next to it,
 * which decides. The pid is used only if that lock is missing, because another program wrote it.
 */

import { execFile } from "node:child_process"
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import type { Clock } from "../../base/clock.ts"
import type { NamedHolder } from "../../base/errors.ts"
import type { Permit, TakenPermit } from "../permit.ts"
import { DIRECTORY_MODE, FILE_MODE } from "./layout.ts"
import { acquireLock, type FileLock, holderOf } from "./lock.ts"

export const LOCK_FILE = ".consolidate-lock"
/** The regular lock next to `.consolidate-lock`. */
export const GUARD_FILE = `${LOCK_FILE}.guard`
const MAX_HOLD_MS = 60 * 60_000
const CLOCK_SLACK_MS = 2_000 // the kernel reports the boot time in whole seconds
const FUTURE_SLACK_MS = 60_000 // clocks of machines that share a disk differ a little
const MAX_TEXT = 64 // bytes; a pid has at most 10 digits

export interface ConsolidationLockOptions {
  readonly directory: string
  readonly clock: Clock
  /** Default: the processes of this machine. */
  readonly processes?: Processes
  /** Called at each step, for tests that end the process there. */
  readonly atStep?: (step: LockStep) => void
}

type LockStep = "guarded" | "drafted" | "written" | "acquired" | "released"

/** The permit to consolidate the memories of a directory. Only one process has it at a time. */
export const consolidatePermit = (options: ConsolidationLockOptions): Permit => ({
  async state() {
    const { last, heldBy } = await readConsolidationLock(options)
    return { taken: heldBy === undefined ? 0 : 1, ...(last ? { last } : {}) }
  },
  async take({ max }) {
    if (max < 1) return { state: "full", taken: (await this.state()).taken }
    const attempt = await acquireConsolidationLock(options)
    return attempt.state === "held" ? { state: "full", taken: 1, by: attempt.by } : { ...attempt, permit: attempt.lock }
  },
})

interface ConsolidationState {
  /** When the last consolidation succeeded. Absent if there was none, or the clock was wrong then. */
  readonly last?: Date
  /** The process that holds the lock now. */
  readonly heldBy?: number
}

type ConsolidationAttempt =
  | { readonly state: "acquired"; readonly lock: TakenPermit }
  | { readonly state: "held"; readonly by: NamedHolder }

export async function readConsolidationLock(options: ConsolidationLockOptions): Promise<ConsolidationState> {
  const { last, pid, writtenMs } = await readLockFile(options)
  const times = last ? { last } : {}
  const guard = await holderOf(join(options.directory, GUARD_FILE))
  if (guard) return guard.status === "dead" ? times : { ...times, heldBy: guard.pid }
  if (pid === undefined) return times
  return (await isHolder({ ...options, pid, writtenMs })) ? { ...times, heldBy: pid } : times
}

export async function acquireConsolidationLock(options: ConsolidationLockOptions): Promise<ConsolidationAttempt> {
  const { directory, clock, atStep = () => {} } = options
  await mkdir(directory, { recursive: true, mode: DIRECTORY_MODE })
  const attempt = await acquireLock(join(directory, GUARD_FILE), clock.now().toISOString())
  if (attempt.state === "held") return attempt
  let acquired: TakenPermit | undefined
  try {
    atStep("guarded")
    const { last, pid, writtenMs } = await readLockFile(options)
    if (attempt.takenOverFrom === undefined && pid !== undefined && (await isHolder({ ...options, pid, writtenMs })))
      return { state: "held", by: { pid, host: "this machine", since: new Date(writtenMs).toISOString() } }
    acquired = await writeLockFile(options, { guard: attempt.lock, last })
    return { state: "acquired", lock: acquired }
  } finally {
    if (!acquired) await attempt.lock.release()
  }
}

async function writeLockFile(
  { directory, atStep = () => {} }: ConsolidationLockOptions,
  { guard, last }: { guard: FileLock; last: Date | undefined },
): Promise<TakenPermit> {
  const path = join(directory, LOCK_FILE)
  await removeDrafts(directory)
  await replaceLock({ path, text: String(process.pid), time: last, drafted: () => atStep("drafted") })
  atStep("written")
  atStep("acquired")
  return {
    fence: guard.fence,
    ...(last ? { last } : {}),
    async release(done) {
      if (!guard.isHeld()) return guard.release()
      try {
        await replaceLock({ path, text: "", time: done ?? last })
      } finally {
        await guard.release()
      }
      atStep("released")
    },
  }
}

/** Removes drafts of killed processes. Only the holder of the guard writes drafts. */
async function removeDrafts(directory: string): Promise<void> {
  const names = (await readdir(directory)).filter((name) => name.startsWith(`${LOCK_FILE}.`) && name.endsWith(".draft"))
  for (const name of names) await rm(join(directory, name), { force: true })
}

/** Changes text and mtime in one step. */
async function replaceLock(change: {
  path: string
  text: string
  time: Date | undefined
  drafted?: () => void
}): Promise<void> {
  const { path, text, time = new Date(0), drafted = () => {} } = change
  const draft = `${path}.draft`
  try {
    await writeFile(draft, text, { mode: FILE_MODE, flush: true, flag: "wx" })
    await utimes(draft, time, time)
    drafted()
    await rename(draft, path)
  } finally {
    await rm(draft, { force: true })
  }
}

/** Ignores a time in the future, because the clock was wrong when it was written. */
async function readLockFile({ directory, clock }: ConsolidationLockOptions) {
  const path = join(directory, LOCK_FILE)
  const facts = await stat(path).catch(() => undefined)
  if (!facts?.isFile()) return { writtenMs: 0 }
  const isPast = facts.mtimeMs > 0 && facts.mtimeMs <= clock.now().getTime() + FUTURE_SLACK_MS
  const pid = await namedPid(path, facts.size)
  return { last: isPast ? facts.mtime : undefined, pid, writtenMs: facts.ctimeMs }
}

async function namedPid(path: string, size: number): Promise<number | undefined> {
  if (size === 0 || size > MAX_TEXT) return undefined
  const text = (await readFile(path, "utf8").catch(() => "")).trim()
  return /^[1-9]\d{0,9}$/.test(text) ? Number(text) : undefined
}

/** Whether a live process holds the lock. After an hour it must also be the process that wrote the pid. */
async function isHolder({
  pid,
  writtenMs,
  clock,
  processes = machineProcesses,
}: ConsolidationLockOptions & PidClaim): Promise<boolean> {
  if (pid === process.pid) return false // this process would hold the guard
  const isRecent = clock.now().getTime() - writtenMs < MAX_HOLD_MS
  return isRecent ? processes.isAlive(pid) : isWriterAlive({ pid, writtenMs }, processes)
}

/** A pid found in a lock file. */
interface PidClaim {
  readonly pid: number
  /** When the pid was written, by the machine's clock. */
  readonly writtenMs: number
}

/** A process that started after the pid was written only reuses the same pid. */
async function isWriterAlive({ pid, writtenMs }: PidClaim, processes = machineProcesses): Promise<boolean> {
  if (!(await processes.isAlive(pid))) return false
  const began = await processes.startedAt(pid)
  return began === undefined || began.getTime() <= writtenMs + CLOCK_SLACK_MS
}

/** Other processes on this machine. */
interface Processes {
  isAlive(pid: number): Promise<boolean>
  /** When the process started. `undefined` if the OS does not report it. */
  startedAt(pid: number): Promise<Date | undefined>
}

const TICKS_PER_SECOND = 100 // what Linux reports to programs, on every architecture
const START_TIME = 19 // the 22nd field of the line, counted from the third

export const machineProcesses: Processes = {
  async isAlive(pid) {
    if (!Number.isSafeInteger(pid) || pid <= 0) return false
    try {
      process.kill(pid, 0)
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === "EPERM" // the process lives and belongs to another user
    }
    const fields = await statFields(pid)
    return fields === undefined || (fields[0] !== "Z" && fields[0] !== "X")
  },

  async startedAt(pid) {
    const ticks = Number((await statFields(pid))?.[START_TIME])
    const boot = /^btime (\d+)$/m.exec(await readFile("/proc/stat", "utf8").catch(() => ""))?.[1]
    if (Number.isFinite(ticks) && boot) return new Date(1_000 * (Number(boot) + ticks / TICKS_PER_SECOND))
    return startByPs(pid)
  },
}

/** The fields of Linux's process line from the third on. The second is a name, which may have spaces in it. */
async function statFields(pid: number): Promise<readonly string[] | undefined> {
  const line = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined)
  return line?.slice(line.lastIndexOf(")") + 2).split(" ")
}

/** For systems without /proc: the elapsed time as POSIX `ps` prints it, `[[dd-]hh:]mm:ss`. */
async function startByPs(pid: number): Promise<Date | undefined> {
  const { stdout } = await promisify(execFile)("ps", ["-o", "etime=", "-p", String(pid)]).catch(() => ({ stdout: "" }))
  const match = /^(?:(?:(\d+)-)?(\d+):)?(\d+):(\d+)$/.exec(stdout.trim())
  if (!match) return undefined
  const [days, hours, minutes, seconds] = match.slice(1).map((part) => Number(part ?? 0)) as [
    number,
    number,
    number,
    number,
  ]
  return new Date(Date.now() - 1_000 * (((days * 24 + hours) * 60 + minutes) * 60 + seconds))
}
