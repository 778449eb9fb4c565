/** Facts about another process on this machine: whether it lives, and when it began. */
import { execFile } from "node:child_process"
import { readFile } from "node:fs/promises"
import { promisify } from "node:util"

export interface Processes {
  isAlive(pid: number): Promise<boolean>
  /** When it began. `undefined` if the OS does not say. */
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
      return (error as NodeJS.ErrnoException).code === "EPERM" // it lives and belongs to another user
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
