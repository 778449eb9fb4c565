/**
 * Measures the work of a command so far: processor time, disk access and processes of its group. Used to detect commands that only wait.
 */
import { execFile } from "node:child_process"
import { readFile } from "node:fs/promises"
import { membersOf, type ProcessGroup, SEES_PROCESSES } from "./process-group.ts"

export interface ProcessActivity {
  readonly pids: readonly number[]
  readonly processorMs: number
  readonly diskBytes: number
  /** Whether a process is running, waits for a disk, or sleeps for a limited time. */
  readonly isBusy: boolean
}

const TICK_MS = 10 // clock tick of /proc on every Linux that Node supports

export async function measureActivity(processes: ProcessGroup): Promise<ProcessActivity> {
  const each = SEES_PROCESSES
    ? await Promise.all((await membersOf(processes)).map(linuxWork))
    : (await listed()).filter(({ group }) => group === processes.group)
  return {
    pids: each.map(({ pid }) => pid).sort((a, b) => a - b),
    processorMs: each.reduce((sum, { processorMs }) => sum + processorMs, 0),
    diskBytes: each.reduce((sum, { diskBytes }) => sum + diskBytes, 0),
    isBusy: each.some(({ isBusy }) => isBusy),
  }
}

interface ProcessWork {
  readonly pid: number
  readonly processorMs: number
  readonly diskBytes: number
  readonly isBusy: boolean
}

async function linuxWork(pid: number): Promise<ProcessWork> {
  const [stat, io, line] = await Promise.all(["stat", "io", "cmdline"].map((file) => procFile(pid, file)))
  const fields = stat!.slice(stat!.lastIndexOf(")") + 2).split(" ") // the name may contain anything
  const disk = /^read_bytes: (\d+)$/m.exec(io!)?.[1]
  return {
    pid,
    processorMs: TICK_MS * (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)), // user and kernel time
    diskBytes: Number(disk ?? 0),
    isBusy: /^[RD]$/.test(fields[0] ?? "") || isSleep(line!.split("\0")),
  }
}

/** Whether it is a limited `sleep`. `sleep infinity` never ends. */
const isSleep = ([program, ...times]: readonly string[]): boolean =>
  /(?:^|\/)sleep$/.test(program ?? "") && times.every((time) => time === "" || /^[\d.]+[smhd]?$/.test(time))

const procFile = (pid: number, file: string): Promise<string> =>
  readFile(`/proc/${pid}/${file}`, "latin1").catch(() => "") // ended, or owned by another user

/** Lists processes with `ps` if there is no /proc. It does not report disk access; a process that waits for a disk has state U. */
async function listed(): Promise<readonly (ProcessWork & { readonly group: number })[]> {
  const text = await new Promise<string>((resolve) =>
    execFile("/bin/ps", ["-A", "-o", "pid=,pgid=,stat=,time=,command="], { env: {} }, (_, printed) => resolve(printed)),
  )
  return text.split("\n").flatMap((row) => {
    const [pid, group, state, time, ...command] = row.trim().split(/\s+/)
    if (time === undefined) return []
    const seconds = time.split(/[:-]/).reduce((sum, part) => 60 * sum + Number(part), 0)
    const isBusy = /^[RUD]/.test(state!) || isSleep(command)
    return [{ pid: Number(pid), group: Number(group), processorMs: 1_000 * seconds, diskBytes: 0, isBusy }]
  })
}
