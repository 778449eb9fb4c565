/**
 * Ends a process and everything it started. A group is signalled as a whole. Processes that left it (`setsid`, daemons) carry a mark in
 * their environment, by which they are found on Linux.
 */
import { readdir, readFile } from "node:fs/promises"
import { setTimeout as wait } from "node:timers/promises"

/** The variable that carries the marks, outermost first: a shell in a shell in a shell belongs to all of them. */
export const MARK_VARIABLE = "STRATA_SHELL"

export interface ProcessGroup {
  /** The id of the group's first process, which is the id of the group. */
  readonly group?: number
  /** Processes with this mark belong to it, even in another group. */
  readonly mark?: string
}

export const SEES_PROCESSES = process.platform === "linux" // through /proc; elsewhere only the group as a whole is visible
const FIRST_LOOK_MS = 2
const MAX_LOOK_MS = 50
const KILL_ROUNDS = 20 // for processes that fork while they are killed: each round finds the children of the last

/** Sends SIGTERM, and SIGKILL after the grace period. Resolves when all are gone. */
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

/** The live processes. Zombies do not count: in a container they may never be collected. */
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
  // the name is in brackets and may contain anything; after it come state, parent, group
  const [state, , pgrp] = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  return Number(pgrp) === group && state !== "Z" && state !== "X"
}

async function isMarked(pid: string, mark: string | undefined): Promise<boolean> {
  if (mark === undefined) return false
  const environment = await readProc(pid, "environ")
  return environment.split("\0").some((line) => line.startsWith(`${MARK_VARIABLE}=`) && line.includes(mark))
}

/** Empty for processes that are gone or another user's. */
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
    // already gone, or owned by another user
  }
}
