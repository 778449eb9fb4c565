/** How much a command has worked so far: the processor time, the disk and the processes of its group. To see which ones only wait. */
import { execFile } from "node:child_process"
import { readFile } from "node:fs/promises"
import { membersOf, type ProcessGroup, SEES_PROCESSES } from "./process-group.ts"

export interface Work {
  readonly pids: readonly number[]
  readonly processorMs: number
  readonly diskBytes: number
  /** One of them runs at this moment, waits for a disk, or sleeps for a time that will end. */
  readonly isBusy: boolean
}

const TICK_MS = 10 // of /proc, on every Linux that Node runs on

export async function workOf(processes: ProcessGroup): Promise<Work> {
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
  const fields = stat!.slice(stat!.lastIndexOf(")") + 2).split(" ") // the name before may contain anything
  const disk = /^read_bytes: (\d+)$/m.exec(io!)?.[1]
  return {
    pid,
    processorMs: TICK_MS * (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)), // in user mode, in the kernel
    diskBytes: Number(disk ?? 0),
    isBusy: /^[RD]$/.test(fields[0] ?? "") || isSleep(line!.split("\0")),
  }
}

/** `sleep 30` waits on purpose. `sleep infinity` does not end. */
const isSleep = ([program, ...times]: readonly string[]): boolean =>
  /(?:^|\/)sleep$/.test(program ?? "") && times.every((time) => time === "" || /^[\d.]+[smhd]?$/.test(time))

const procFile = (pid: number, file: string): Promise<string> =>
  readFile(`/proc/${pid}/${file}`, "latin1").catch(() => "") // it ended, or belongs to another user

/** Without /proc, `ps` knows. It does not know the disk: a process that waits for one is in state U. */
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
