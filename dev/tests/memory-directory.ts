/**
 * Creates a directory in memory for temporary files of tests. Journals wait for the disk with every line, so the suite takes far longer on
 * a disk. Crash tests kill processes, for which memory makes no difference.
 */
import { spawnSync } from "node:child_process"
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"

const SHARED_MEMORY = "/dev/shm" // Linux
const MIN_BYTES = 4 * 2 ** 30 // a container may have only 64 MB there, and memory used by others must not be filled
const PREFIX = "strata-" // short: screens of 80 columns show paths in it
const OWNER = ".run" // in each directory: the number of the process that removes it

/**
 * Creates a directory, or returns `undefined` if the system has no file system in memory that is large enough and allows programs to run.
 */
export function directoryInMemory(place = SHARED_MEMORY): string | undefined {
  try {
    removeOld(place)
    const { bavail, bsize } = statfsSync(place)
    if (Math.min(bavail * bsize, process.availableMemory()) < MIN_BYTES) return undefined
    const directory = mkdtempSync(join(place, PREFIX))
    writeFileSync(join(directory, OWNER), String(process.pid))
    if (runsPrograms(directory)) return directory
    rmSync(directory, { recursive: true })
  } catch {
    // another system, or no right to write there
  }
  return undefined
}

function runsPrograms(directory: string): boolean {
  const program = join(directory, "program")
  writeFileSync(program, "#!/bin/sh\n")
  chmodSync(program, 0o755)
  const { status } = spawnSync(program)
  rmSync(program)
  return status === 0
}

/** Removes directories of runs that were killed. */
function removeOld(place: string): void {
  for (const name of readdirSync(place).filter((one) => one.startsWith(PREFIX))) {
    const old = join(place, name)
    const owner = join(old, OWNER)
    if (existsSync(owner) && !isRunning(Number(readFileSync(owner, "utf8"))))
      rmSync(old, { recursive: true, force: true })
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"
  }
}
