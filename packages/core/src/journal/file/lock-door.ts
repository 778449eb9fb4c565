/**
 * A door: a socket beside a lock that answers for as long as the lock's owner lives. It works between containers on one kernel, where
 * process ids say nothing, and also while the owner is stopped or busy, because the kernel answers for it.
 */
import { chmod, open, rm } from "node:fs/promises"
import { connect, createServer } from "node:net"
import { join } from "node:path"
import { FILE_MODE } from "./layout.ts"

export interface Door {
  close(): Promise<void>
}

const NAME_DIGITS = 8

const nameOf = (token: string) => `.alive-${token.slice(0, NAME_DIGITS)}.sock`
export const doorIn = (directory: string, token: string): string => join(directory, nameOf(token))

/** The beginning of the token, from the name of a door. */
export const doorDigits = (name: string): string | undefined => /^\.alive-([0-9a-f]{8})\.sock$/.exec(name)?.[1]

/** Nothing where the disk or the OS has no such sockets. Other systems than Linux have no pid namespaces, and need none. */
export async function openDoor(directory: string, token: string): Promise<Door | undefined> {
  if (process.platform !== "linux") return undefined
  try {
    return await throughShortPath({ directory, token }, async (path) => {
      const server = createServer((visitor) => visitor.destroy())
      await new Promise<void>((resolve, reject) => {
        server.once("error", reject)
        server.listen({ path, exclusive: true }, resolve)
      })
      await chmod(path, FILE_MODE)
      server.unref() // a lock does not keep a process running
      return {
        async close() {
          await rm(doorIn(directory, token), { force: true })
          await new Promise<void>((resolve) => server.close(() => resolve()))
        },
      }
    })
  } catch {
    return undefined
  }
}

/** Only a refusal means that no process has it open. */
export async function doorAnswers(directory: string, token: string): Promise<"alive" | "dead" | "unknown"> {
  try {
    return await throughShortPath({ directory, token }, (path) => {
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
  { directory, token }: { directory: string; token: string },
  work: (path: string) => Promise<T>,
): Promise<T> {
  const handle = await open(directory, "r")
  try {
    return await work(`/proc/self/fd/${handle.fd}/${nameOf(token)}`)
  } finally {
    await handle.close()
  }
}
