/**
 * Ends a process with all processes it started. A group is signalled together. Processes that left it (`setsid`, daemons) are found by a
 * mark in their environment on Linux.
 */
import { readdir, readFile } from "node:fs/promises"
import { setTimeout as wait } from "node:timers/promises"

/** The environment variable with the ids of the enclosing shells, outermost first: a nested shell belongs to all of them. */
export const MARK_VARIABLE = "STRATA_SHELL"

export interface ProcessGroup {
  /** Id of the group, which is the id of its first process. */
  readonly group?: number
  /** Processes with this mark belong to it, even in other groups. */
  readonly mark?: string
}

export const SEES_PROCESSES = process.platform === "linux" // through /proc; elsewhere only the complete group is visible
const FIRST_LOOK_MS = 2
const MAX_LOOK_MS = 50
const KILL_ROUNDS = 20 // for processes that fork while they are killed; each round finds the children of the last

/** Sends SIGTERM, and SIGKILL after the grace period. Resolves when all processes have ended. */
export async function endProcesses(processes: ProcessGroup, graceMs: number): Promise<void> {
  await signalAll(processes, "SIGTERM")
  if (await areGoneWithin(processes, graceMs)) return
  for (let round = 0; round < KILL_ROUNDS; round++) {
    await signalAll(processes, "SIGKILL")
    if (await areGoneWithin(processes, MAX_LOOK_MS)) return
  }
}

export function groupExists(group: number): boolean {
  try {
    process.kill(-group, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"
  }
}

async function signalAll(processes: ProcessGroup, signal: NodeJS.Signals): Promise<void> {
  const { group } = processes
  if (group !== undefined) deliver(-group, signal)
  for (const pid of await membersOf(processes)) deliver(pid, signal)
}

async function areGoneWithin(processes: ProcessGroup, ms: number): Promise<boolean> {
  const until = performance.now() + ms
  for (let pause = FIRST_LOOK_MS; ; pause = Math.min(2 * pause, MAX_LOOK_MS)) {
    if (!(await anyLeft(processes))) return true
    if (performance.now() >= until) return false
    await wait(Math.min(pause, Math.max(1, until - performance.now())))
  }
}

async function anyLeft(processes: ProcessGroup): Promise<boolean> {
  if (!SEES_PROCESSES) return processes.group !== undefined && groupExists(processes.group)
  return (await membersOf(processes)).length > 0
}

/** Ids of the live processes. Zombies are excluded, because in a container they may never be reaped. */
export async function membersOf({ group, mark }: ProcessGroup): Promise<readonly number[]> {
  if (!SEES_PROCESSES) return []
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name))
  const found = await Promise.all(
    pids.map(async (pid) => {
      const [inGroup, marked] = await Promise.all([isIn(pid, group), isMarked(pid, mark)])
      return inGroup || marked ? [Number(pid)] : []
    }),
  )
  return found.flat().filter((pid) => pid !== process.pid)
}

async function isIn(pid: string, group: number | undefined): Promise<boolean> {
  if (group === undefined) return false
  const stat = await readProc(pid, "stat")
  // the name is in parentheses and may contain anything; after it come state, parent, group
  const [state, , pgrp] = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  return Number(pgrp) === group && state !== "Z" && state !== "X"
}

async function isMarked(pid: string, mark: string | undefined): Promise<boolean> {
  if (mark === undefined) return false
  const environment = await readProc(pid, "environ")
  return environment.split("\0").some((line) => line.startsWith(`${MARK_VARIABLE}=`) && line.includes(mark))
}

/** Reads a file in /proc. Empty for processes that have ended or belong to another user. */
async function readProc(pid: string, file: "stat" | "environ"): Promise<string> {
  try {
    return await readFile(`/proc/${pid}/${file}`, "latin1")
  } catch {
    return ""
  }
}

function deliver(target: number, signal: NodeJS.Signals): void {
  try {
    process.kill(target, signal)
  } catch {
    // ended, or owned by another user
  }
}
