/**
 * A lock between processes: one file that names its owner. If the owner has died, the next process takes the lock over at
 * once; of several that try, exactly one succeeds.
 *
 * Lock libraries decide by time whether an owner is dead. A crashed agent would then wait for seconds, and a laptop that
 * slept would lose a lock it still holds. That is why this one is our own.
 */
import { randomUUID } from "node:crypto"
import { link, lstat, readFile, rename, rm, writeFile } from "node:fs/promises"
import { hostname } from "node:os"
import { FILE_MODE } from "./layout.ts"

export interface LockOwner {
  readonly pid: number
  readonly host: string
  readonly since: string
  /** Distinguishes this process from a later one with the same pid, if the OS reports start times. */
  readonly started: string
  readonly token: string
}

export type LockAttempt =
  | { readonly state: "acquired"; readonly lock: FileLock; readonly takenOverFrom?: LockOwner }
  | { readonly state: "held"; readonly by: LockOwner }

export interface FileLock {
  release(): Promise<void>
}

export async function acquireLock(path: string, since: string): Promise<LockAttempt> {
  const owner = await thisProcess(since)
  // a finished file is linked into place, so that no process ever sees a lock without an owner
  const own = ownFile(path, owner)
  try {
    await writeFile(own, JSON.stringify(owner), { mode: FILE_MODE })
    if (await linked(own, path)) return { state: "acquired", lock: lockAt(path, owner.token) }
    const holder = await ownerOf(path)
    if (holder === undefined) return await acquireLock(path, since) // it was released in the meantime
    if (await isAlive(holder)) return { state: "held", by: holder }
    return await takeOver({ path, own, owner, dead: holder })
  } finally {
    await rm(own, { force: true })
  }
}

/** This process as an owner, with a new token. */
export async function thisProcess(since: string): Promise<LockOwner> {
  return { pid: process.pid, host: hostname(), since, started: await startOf(process.pid), token: randomUUID() }
}

/** The token is shortened: together with the longest id it must fit into a file name. */
export const ownFile = (path: string, { token }: LockOwner): string => `${path}.${token.slice(0, 8)}`

/**
 * Only the holder of the takeover lock may replace a dead owner's lock, and only while that owner still holds it. The takeover
 * lock works like any other, so the next process can take over from one that dies in the middle.
 */
export async function takeOver(step: {
  path: string
  own: string
  owner: LockOwner
  dead: LockOwner
}): Promise<LockAttempt> {
  const { path, own, owner, dead } = step
  const claim = await acquireLock(`${path}.takeover`, owner.since)
  if (claim.state === "held") return { state: "held", by: claim.by }
  try {
    const holder = await ownerOf(path)
    if (holder === undefined || holder.token !== dead.token) return await acquireLock(path, owner.since)
    await rename(own, path)
    return { state: "acquired", lock: lockAt(path, owner.token), takenOverFrom: dead }
  } finally {
    await claim.lock.release()
  }
}

function lockAt(path: string, token: string): FileLock {
  return {
    async release() {
      const holder = await ownerOf(path)
      if (holder?.token === token) await rm(path, { force: true })
    },
  }
}

async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false
    throw error
  }
}

const LONGEST_LOCK = 4_096 // bytes; ours have about 200

/** Anything but a file in the lock's place cannot be taken over safely, so it is an error. */
export async function ownerOf(path: string): Promise<LockOwner | undefined> {
  const found = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined
    throw error
  })
  if (found === undefined) return undefined
  if (!found.isFile()) throw new Error(`${path} is not a file. Remove it if no process uses the conversation`)
  if (found.size > LONGEST_LOCK) return NO_OWNER
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined
    throw error
  })
  return text === undefined ? undefined : readOwner(text)
}

/** Not our lock, or damaged: no owner can be found, so treat it as dead. */
const NO_OWNER: LockOwner = { pid: 0, host: hostname(), since: "an unknown time", started: "", token: "" }

function readOwner(text: string): LockOwner {
  try {
    const { pid, host, since, started, token } = (JSON.parse(text) ?? {}) as Partial<Record<keyof LockOwner, unknown>>
    if (!Number.isSafeInteger(pid) || typeof host !== "string" || typeof token !== "string") return NO_OWNER
    return {
      pid: pid as number,
      host,
      since: typeof since === "string" ? since : NO_OWNER.since,
      started: typeof started === "string" ? started : "",
      token,
    }
  } catch {
    return NO_OWNER
  }
}

export async function isAlive(owner: Pick<LockOwner, "pid" | "host" | "started">): Promise<boolean> {
  if (owner.host !== hostname()) return true // another machine cannot be checked from here
  if (owner.pid <= 0) return false
  try {
    process.kill(owner.pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"
  }
  return (await startOf(owner.pid)) === owner.started
}

/** When a process began, in kernel ticks. `ended` for a zombie. Empty if the OS does not report it. */
async function startOf(pid: number): Promise<string> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, "utf8")
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ") // from the third field on: the state
    const START_TIME = 19 // the 22nd field
    return fields[0] === "Z" || fields[0] === "X" ? "ended" : (fields[START_TIME] ?? "")
  } catch {
    return ""
  }
}
