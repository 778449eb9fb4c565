/**
 * Identifies the owner of a lock, and whether that process lives. A process id is meaningful only in the kernel and pid namespace that
 * assigned it: two containers with one host name and one volume both have a process 1. So an owner also names its boot and its namespace.
 *
 * Time never decides. A machine that slept, or a container that was paused, still holds its locks.
 */

import { hash, randomUUID } from "node:crypto"
import { readFileSync, readlinkSync } from "node:fs"
import { chmod, open, readFile, rm } from "node:fs/promises"
import { connect, createServer } from "node:net"
import { hostname } from "node:os"
import { join } from "node:path"
import { FILE_MODE } from "./layout.ts"

// A liveness socket, next to a lock, accepts connections while the lock's owner lives. It works between containers on one kernel, where
// process ids are not comparable. It also works while the owner is stopped or busy, because the kernel accepts for it.

export interface LivenessSocket {
  /** Eight hex digits in the socket's file name. */
  readonly id: string
  close(): Promise<void>
}

const socketName = (digits: string) => `.alive-${digits}.sock`
export const livenessSocketPath = (directory: string, digits: string): string => join(directory, socketName(digits))

/** The id in the file name of a liveness socket. */
export const livenessSocketId = (name: string): string | undefined => /^\.alive-([0-9a-f]{8})\.sock$/.exec(name)?.[1]

interface SharedSocket {
  readonly digits: string
  readonly opening: Promise<(() => Promise<void>) | undefined>
  users: number
}

/** One socket per directory serves all locks that this process holds there. */
const openSockets = new Map<string, SharedSocket>()

/** The id of this process's socket in a directory, if it has one. */
export const localSocketId = (directory: string): string | undefined => openSockets.get(directory)?.digits

/**
 * Opens the socket of a directory, or shares the existing one. `digits` is the id of a new socket. Returns `undefined` if the disk or the
 * OS has no such sockets. Systems other than Linux have no pid namespaces and need none.
 */
export async function openLivenessSocket(directory: string, digits: string): Promise<LivenessSocket | undefined> {
  if (process.platform !== "linux") return undefined
  const shared = openSockets.get(directory) ?? { digits, opening: listen(directory, digits), users: 0 }
  openSockets.set(directory, shared)
  shared.users++
  let isClosed = false
  const close = async () => {
    if (isClosed) return
    isClosed = true
    if (--shared.users > 0) return
    openSockets.delete(directory)
    await (await shared.opening)?.()
  }
  if ((await shared.opening) !== undefined) return { id: shared.digits, close }
  await close()
  return undefined
}

/** Resolves with a function that closes the socket. */
async function listen(directory: string, digits: string): Promise<(() => Promise<void>) | undefined> {
  try {
    return await throughShortPath({ directory, digits }, async (path) => {
      const server = createServer((visitor) => visitor.destroy())
      await new Promise<void>((resolve, reject) => {
        server.once("error", reject)
        server.listen({ path, exclusive: true }, resolve)
      })
      await chmod(path, FILE_MODE)
      server.unref() // a lock does not keep its process running
      return async () => {
        await rm(livenessSocketPath(directory, digits), { force: true })
        await new Promise<void>((resolve) => server.close(() => resolve()))
      }
    })
  } catch {
    return undefined
  }
}

/** Connects to a socket. Only a refused connection proves that no process has it open. */
export async function probeLivenessSocket(directory: string, digits: string): Promise<"alive" | "dead" | "unknown"> {
  try {
    return await throughShortPath({ directory, digits }, (path) => {
      const visitor = connect({ path })
      return new Promise((resolve) => {
        const answer = (status: "alive" | "dead" | "unknown") => {
          visitor.destroy()
          resolve(status)
        }
        visitor.once("connect", () => answer("alive"))
        visitor.once("error", ({ code }: NodeJS.ErrnoException) => {
          answer(code === "ECONNREFUSED" ? "dead" : code === "EAGAIN" ? "alive" : "unknown") // EAGAIN: the queue of connections is full
        })
      })
    })
  } catch {
    return "unknown"
  }
}

/** Socket paths are limited to 107 bytes. Going through the directory's descriptor makes any path short. */
async function throughShortPath<T>(
  { directory, digits }: { directory: string; digits: string },
  work: (path: string) => Promise<T>,
): Promise<T> {
  const handle = await open(directory, "r")
  try {
    return await work(`/proc/self/fd/${handle.fd}/${socketName(digits)}`)
  } finally {
    await handle.close()
  }
}

export interface LockOwner {
  readonly pid: number
  readonly host: string
  readonly since: string
  /** Distinguishes this process from a later one with the same pid, if the OS reports start times. */
  readonly started: string
  readonly token: string
  /** The boot id of the running kernel. Empty if the OS has none. */
  readonly boot?: string
  /** The pid namespace. */
  readonly space?: string
  /** An id that survives a restart of the machine. */
  readonly machine?: string
  /** Named as on disk: the id of the liveness socket next to the lock. Empty without a socket. */
  readonly door?: string
  /** The fencing number of this acquisition, larger than all earlier ones. Absent in locks of earlier versions. */
  readonly fence?: number
  /** The lock was taken from an owner that may still run, or such an owner left it. The next owner continues on files of its own. */
  readonly isUnsettled?: boolean
}

/** The fields that determine whether an owner lives. */
export type OwnerIdentity = Pick<LockOwner, "pid" | "host" | "started" | "boot" | "space" | "machine"> &
  Partial<Pick<LockOwner, "door">>

/** `unknown`: the owner is on another machine, or in another container without a socket. */
export type OwnerStatus = "alive" | "dead" | "unknown"

/** Describes this process as an owner, with a new token. */
export async function thisProcess(since: string): Promise<LockOwner> {
  const started = await startOf(process.pid)
  return { pid: process.pid, host: hostname(), since, started, token: randomUUID(), ...machineIdentity() }
}

/** `directory` is the directory of the lock, which contains the owner's socket. */
export async function checkOwner(owner: OwnerIdentity, directory?: string): Promise<OwnerStatus> {
  if (owner.pid <= 0) return "dead"
  const here = machineIdentity()
  const isSameHost = owner.host === hostname()
  if (owner.boot && here.boot && owner.boot !== here.boot)
    return isSameHost && owner.machine && owner.machine === here.machine ? "dead" : "unknown" // dead: the machine was restarted since
  const isSameKernel = Boolean(owner.boot) && owner.boot === here.boot
  if (!isSameKernel && !isSameHost) return "unknown"
  if (owner.space && owner.space !== here.space)
    return owner.door && directory !== undefined ? probeLivenessSocket(directory, owner.door) : "unknown"
  return (await isRunning(owner)) ? "alive" : "dead"
}

/** Whether the owner ran under the present boot of this kernel, as far as that is known. */
export const isFromThisBoot = ({ boot }: Pick<LockOwner, "boot">): boolean => !boot || boot === machineIdentity().boot

/** Counts an owner with an unknown status as alive. */
export const isOwnerAlive = async (owner: OwnerIdentity, directory?: string): Promise<boolean> =>
  (await checkOwner(owner, directory)) !== "dead"

async function isRunning({ pid, started }: OwnerIdentity): Promise<boolean> {
  try {
    process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"
  }
  return (await startOf(pid)) === started
}

let cachedIdentity: Required<Pick<LockOwner, "boot" | "space" | "machine">> | undefined

function machineIdentity() {
  cachedIdentity ??= {
    boot: readOrEmpty(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()),
    space: readOrEmpty(() => readlinkSync("/proc/self/ns/pid")),
    machine: readOrEmpty(machineId),
  }
  return cachedIdentity
}

/** Hashed, because the id itself should not leave the machine. */
function machineId(): string {
  const id = readFileSync("/etc/machine-id", "utf8").trim()
  return /^[0-9a-f]{32}$/.test(id) ? hash("sha256", `strata ${id}`, "hex").slice(0, 16) : ""
}

function readOrEmpty(read: () => string): string {
  try {
    return read()
  } catch {
    return ""
  }
}

/** The start time of a process in kernel ticks. `ended` for a zombie. Empty if the OS does not report it. */
async function startOf(pid: number): Promise<string> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, "utf8")
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ") // from the third field, the state
    const START_TIME = 19 // the 22nd field
    return fields[0] === "Z" || fields[0] === "X" ? "ended" : (fields[START_TIME] ?? "")
  } catch {
    return ""
  }
}
