/**
 * Who holds a lock, and whether that process lives. A process id says something only on the kernel and in the pid namespace that
 * gave it: two containers with one host name and one volume both have a process 1. So an owner names its boot and its namespace too.
 *
 * Time never decides. A machine that slept, or a container that was paused, still holds what it held.
 */
import { hash, randomUUID } from "node:crypto"
import { readFileSync, readlinkSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { hostname } from "node:os"
import { doorAnswers } from "./lock-door.ts"

export interface LockOwner {
  readonly pid: number
  readonly host: string
  readonly since: string
  /** Distinguishes this process from a later one with the same pid, if the OS reports start times. */
  readonly started: string
  readonly token: string
  /** Of the running kernel. Empty where the OS has none. */
  readonly boot?: string
  /** The pid namespace. */
  readonly space?: string
  /** The same after a restart of the machine. */
  readonly machine?: string
  /** The digits of its door beside the lock. Empty if it has none. */
  readonly door?: string
  /** The number of this acquisition, larger than those before it. Absent in locks of earlier versions. */
  readonly fence?: number
  /** It took the lock from an owner that may still run, or it is what such an owner left. Who comes next continues on files of its own. */
  readonly isUnsettled?: boolean
}

/** What is needed to judge an owner. */
export type Holder = Pick<LockOwner, "pid" | "host" | "started" | "boot" | "space" | "machine"> &
  Partial<Pick<LockOwner, "door">>

/** `unknown`: it is on another machine, or in another container that left no sign. */
export type Verdict = "alive" | "dead" | "unknown"

/** This process as an owner, with a new token. */
export async function thisProcess(since: string): Promise<LockOwner> {
  const started = await startOf(process.pid)
  return { pid: process.pid, host: hostname(), since, started, token: randomUUID(), ...surroundings() }
}

/** `directory`: where its lock is, for its door. */
export async function judge(owner: Holder, directory?: string): Promise<Verdict> {
  if (owner.pid <= 0) return "dead"
  const here = surroundings()
  const isSameHost = owner.host === hostname()
  if (owner.boot && here.boot && owner.boot !== here.boot)
    return isSameHost && owner.machine && owner.machine === here.machine ? "dead" : "unknown" // dead: it was restarted since
  const isSameKernel = Boolean(owner.boot) && owner.boot === here.boot
  if (!isSameKernel && !isSameHost) return "unknown"
  if (owner.space && owner.space !== here.space)
    return owner.door && directory !== undefined ? doorAnswers(directory, owner.door) : "unknown"
  return (await isRunning(owner)) ? "alive" : "dead"
}

/** Whether the running kernel is the one that it ran on, as far as it can be seen. */
export const isOfThisBoot = ({ boot }: Pick<LockOwner, "boot">): boolean => !boot || boot === surroundings().boot

/** An owner that cannot be judged counts as alive. */
export const isAlive = async (owner: Holder, directory?: string): Promise<boolean> =>
  (await judge(owner, directory)) !== "dead"

async function isRunning({ pid, started }: Holder): Promise<boolean> {
  try {
    process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"
  }
  return (await startOf(pid)) === started
}

let known: Required<Pick<LockOwner, "boot" | "space" | "machine">> | undefined

function surroundings() {
  known ??= {
    boot: tried(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()),
    space: tried(() => readlinkSync("/proc/self/ns/pid")),
    machine: tried(machineId),
  }
  return known
}

/** Hashed: the id itself is not meant to leave the machine. */
function machineId(): string {
  const id = readFileSync("/etc/machine-id", "utf8").trim()
  return /^[0-9a-f]{32}$/.test(id) ? hash("sha256", `strata ${id}`, "hex").slice(0, 16) : ""
}

function tried(read: () => string): string {
  try {
    return read()
  } catch {
    return ""
  }
}

/** When a process began, in kernel ticks. `ended` for a zombie. Empty if the OS does not report it. */
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
