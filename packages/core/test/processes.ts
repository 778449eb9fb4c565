/** Helpers for tests that watch processes: their ids, and whether they still run. */
import { existsSync, readFileSync } from "node:fs"
import { setTimeout as wait } from "node:timers/promises"

/** The ids that programs wrote into a file, one per line, once there are `count` of them. */
export async function pidsIn(file: string, count: number): Promise<readonly number[]> {
  for (;;) {
    const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : []
    if (lines.length >= count) return lines.map(Number)
    await wait(2)
  }
}

/** A zombie process does not count as running. */
export function isRunning(pid: number): boolean {
  if (process.platform !== "linux") return exists(pid)
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1")
    return stat.slice(stat.lastIndexOf(")") + 2)[0] !== "Z"
  } catch {
    return false
  }
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

export async function allEnded(pids: readonly number[]): Promise<void> {
  while (pids.some(isRunning)) await wait(2)
}
