/**
 * A door: a socket beside a lock that answers for as long as the lock's owner lives. It works between containers on one kernel, where
 * process ids say nothing, and also while the owner is stopped or busy, because the kernel answers for it.
 */
import { chmod, open, rm } from "node:fs/promises"
import { connect, createServer } from "node:net"
import { join } from "node:path"
import { FILE_MODE } from "./layout.ts"

export interface Door {
  /** What names it. */
  readonly digits: string
  close(): Promise<void>
}

const nameOf = (digits: string) => `.alive-${digits}.sock`
export const doorIn = (directory: string, digits: string): string => join(directory, nameOf(digits))

/** The digits in the name of a door. */
export const doorDigits = (name: string): string | undefined => /^\.alive-([0-9a-f]{8})\.sock$/.exec(name)?.[1]

interface OpenDoor {
  readonly digits: string
  readonly opening: Promise<(() => Promise<void>) | undefined>
  users: number
}

/** One for each directory: it answers for all locks that this process holds there. */
const doors = new Map<string, OpenDoor>()

/** What names the door of this process in a directory, if it has one. */
export const ownDoor = (directory: string): string | undefined => doors.get(directory)?.digits

/**
 * `digits`: the name of a new one. Nothing where the disk or the OS has no such sockets. Other systems than Linux have no pid namespaces,
 * and need none.
 */
export async function openDoor(directory: string, digits: string): Promise<Door | undefined> {
  if (process.platform !== "linux") return undefined
  const shared = doors.get(directory) ?? { digits, opening: listening(directory, digits), users: 0 }
  doors.set(directory, shared)
  shared.users++
  let isClosed = false
  const close = async () => {
    if (isClosed) return
    isClosed = true
    if (--shared.users > 0) return
    doors.delete(directory)
    await (await shared.opening)?.()
  }
  if ((await shared.opening) !== undefined) return { digits: shared.digits, close }
  await close()
  return undefined
}

/** Resolves with how to close it. */
async function listening(directory: string, digits: string): Promise<(() => Promise<void>) | undefined> {
  try {
    return await throughShortPath({ directory, digits }, async (path) => {
      const server = createServer((visitor) => visitor.destroy())
      await new Promise<void>((resolve, reject) => {
        server.once("error", reject)
        server.listen({ path, exclusive: true }, resolve)
      })
      await chmod(path, FILE_MODE)
      server.unref() // a lock does not keep a process running
      return async () => {
        await rm(doorIn(directory, digits), { force: true })
        await new Promise<void>((resolve) => server.close(() => resolve()))
      }
    })
  } catch {
    return undefined
  }
}

/** Only a refusal means that no process has it open. */
export async function doorAnswers(directory: string, digits: string): Promise<"alive" | "dead" | "unknown"> {
  try {
    return await throughShortPath({ directory, digits }, (path) => {
      const visitor = connect({ path })
      return new Promise((resolve) => {
        const answer = (verdict: "alive" | "dead" | "unknown") => {
          visitor.destroy()
          resolve(verdict)
        }
        visitor.once("connect", () => answer("alive"))
        visitor.once("error", ({ code }: NodeJS.ErrnoException) => {
          answer(code === "ECONNREFUSED" ? "dead" : code === "EAGAIN" ? "alive" : "unknown") // EAGAIN: its queue is full
        })
      })
    })
  } catch {
    return "unknown"
  }
}

/** A socket's path has at most 107 bytes. The directory's descriptor makes any path short. */
async function throughShortPath<T>(
  { directory, digits }: { directory: string; digits: string },
  work: (path: string) => Promise<T>,
): Promise<T> {
  const handle = await open(directory, "r")
  try {
    return await work(`/proc/self/fd/${handle.fd}/${nameOf(digits)}`)
  } finally {
    await handle.close()
  }
}
