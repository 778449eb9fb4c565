/**
 * A directory in memory for temporary files of tests. Journals wait for the disk with every line, so on a disk the suite takes far longer.
 * What tests prove about crashes is about killed processes, which is the same in memory.
 */
import { spawnSync } from "node:child_process"
import { chmodSync, mkdtempSync, readdirSync, rmSync, statfsSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"

const SHARED_MEMORY = "/dev/shm" // Linux
const LEAST_BYTES = 2 ** 30 // a container may have 64 MB there, and tests write more
const PREFIX = "strata-" // short: screens of 80 columns show paths in it
const UNUSED_MS = 24 * 60 * 60_000

/** A new one, or `undefined` where the system has none that is large enough and lets programs run. */
export function directoryInMemory(place = SHARED_MEMORY): string | undefined {
  try {
    removeOld(place)
    const { bavail, bsize } = statfsSync(place)
    if (bavail * bsize < LEAST_BYTES) return undefined
    const directory = mkdtempSync(join(place, PREFIX))
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

/** Left by runs that were killed. */
function removeOld(place: string): void {
  for (const name of readdirSync(place).filter((one) => one.startsWith(PREFIX))) {
    const old = join(place, name)
    if (Date.now() - statSync(old).mtimeMs > UNUSED_MS) rmSync(old, { recursive: true, force: true })
  }
}
