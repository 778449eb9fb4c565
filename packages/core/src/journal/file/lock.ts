/**
 * A lock between processes: one file that names its owner. If the owner has died, the next process takes the lock over at
 * once; of several that try, exactly one succeeds.
 *
 * Lock libraries decide by time whether an owner is dead. A crashed agent would then wait for seconds, and a laptop that
 * slept would lose a lock it still holds. That is why this one is our own.
 */

import { randomUUID } from "node:crypto"
import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs"
import { link, lstat, readdir, readFile, rename, rm } from "node:fs/promises"
import { hostname } from "node:os"
import { basename, dirname, join } from "node:path"
import { FILE_MODE } from "./layout.ts"
import {
  checkOwner,
  isFromThisBoot,
  type LivenessSocket,
  type LockOwner,
  livenessSocketId,
  livenessSocketPath,
  localSocketId,
  type OwnerStatus,
  openLivenessSocket,
  probeLivenessSocket,
  thisProcess,
} from "./lock-owner.ts"

// The file that names the owner of a lock. A finished one is put into the lock's place in one step, so no process ever sees a lock
// without an owner. Each acquisition has a fencing number, larger than the one before.

/** An owner file beside its lock. */
export interface OwnerFile {
  readonly file: string
  readonly owner: LockOwner
  readonly socket: LivenessSocket | undefined
}

/** What is in a lock's place after an acquisition. */
export interface LockStamp {
  readonly fence: number
  readonly text: string
}

/** The beginning of a token: together with the longest id it must fit into a file name. */
const tokenPrefix = (token: string) => token.slice(0, 8)

export async function writeOwner(path: string, since: string): Promise<OwnerFile> {
  const owner = await thisProcess(since)
  const directory = dirname(path)
  const digits = tokenPrefix(owner.token)
  const file = `${path}.${digits}`
  const withSocketId = (door: string): OwnerFile => ({ file, owner: { ...owner, door }, socket: undefined })
  const expected = localSocketId(directory) ?? digits
  try {
    stamp(withSocketId(expected)) // before the door: a door that a killed process left is found by its owner file
    const socket = await openLivenessSocket(directory, digits)
    return { ...withSocketId(socket?.id ?? ""), socket }
  } catch (error) {
    await rm(file, { force: true }).catch(() => undefined)
    throw error
  }
}

/** The owner of a lock that was broken: no process. `former`: who had it, and may still run. */
export function writeBroken(path: string, former: LockOwner): OwnerFile {
  const { host, since } = former
  const owner = { ...UNKNOWN_OWNER, host, since, token: randomUUID() }
  const own = { file: `${path}.${tokenPrefix(owner.token)}`, owner, socket: undefined }
  stamp(own, former)
  return own
}

/**
 * Gives an owner file the number of its next acquisition. If it is in the lock's place already, only digits of the number change there.
 *
 * `former`: whose lock it takes over. A lock that was released has left no number, so the time decides.
 */
export function stamp({ file, owner }: OwnerFile, former?: LockOwner): LockStamp {
  const fence = Math.max(nextFence(), (former?.fence ?? 0) + 1) // the clock may have been set back
  newestFence = Math.max(newestFence, fence)
  const text = JSON.stringify({ ...owner, fence, ...(former && mayRun(former) ? { isUnsettled: true } : {}) })
  writeOver(file, text)
  return { fence, text }
}

/** Not emptied first: some disks would then write it out when it is closed, and it is written at every acquisition. */
function writeOver(file: string, text: string): void {
  const bytes = Buffer.from(text)
  const fd = openSync(file, constants.O_RDWR | constants.O_CREAT, FILE_MODE)
  try {
    writeSync(fd, bytes, 0, bytes.length, 0)
    if (fstatSync(fd).size > bytes.length) ftruncateSync(fd, bytes.length)
  } finally {
    closeSync(fd)
  }
}

/** The largest number that this process has given. Its clock may be set back. */
let newestFence = 0

/** Microseconds since 1970: they fit into a number until the year 2255. */
const nextFence = () => Math.max(newestFence + 1, Math.floor((performance.timeOrigin + performance.now()) * 1_000))

/** Whether a former owner whose lock is free may run all the same. After a restart the machine is known by its id, which copies of a machine share. */
export const mayRun = (former: LockOwner): boolean => former.isUnsettled === true || !isFromThisBoot(former)

const MAX_LOCK_BYTES = 4_096 // bytes; ours have about 450

/** Anything but a file in the lock's place cannot be taken over safely, so it is an error. */
export async function ownerOf(path: string): Promise<LockOwner | undefined> {
  const found = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined
    throw error
  })
  if (found === undefined) return undefined
  if (!found.isFile()) throw new Error(`${path} is not a file. Remove it if no process uses the conversation`)
  if (found.size > MAX_LOCK_BYTES) return UNKNOWN_OWNER
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined
    throw error
  })
  return text === undefined ? undefined : readOwner(text)
}

export type LockText =
  | { readonly state: "read"; readonly text: string }
  | { readonly state: "absent" }
  /** Such as with too many open files. It says nothing about who holds the lock. */
  | { readonly state: "unreadable"; readonly error: unknown }

/** What is in a lock's place. Opened, so that a network disk looks. */
export function readLock(path: string): LockText {
  try {
    return { state: "read", text: readFileSync(path, "utf8") }
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? { state: "absent" } : { state: "unreadable", error }
  }
}

/** The text in a lock's place. Nothing if no one holds it, or if it cannot be read. */
export function lockText(path: string): string | undefined {
  const lock = readLock(path)
  return lock.state === "read" ? lock.text : undefined
}

/** Not our lock, or damaged. No process can be asked for, so the lock is free, but its owner may run. */
const UNKNOWN_OWNER: LockOwner = {
  ...{ pid: 0, host: hostname(), since: "an unknown time", started: "", token: "" },
  isUnsettled: true,
}

/** Of earlier versions: each lock had its own. */
const readSocketId = (door: unknown, token: string): string => {
  const digits = door === true ? tokenPrefix(token) : typeof door === "string" ? door : ""
  return /^[0-9a-f]{8}$/.test(digits) ? digits : ""
}

export function readOwner(text: string): LockOwner {
  try {
    const value = (JSON.parse(text) ?? {}) as Partial<Record<keyof LockOwner, unknown>>
    const { pid, host, token, fence } = value
    if (!Number.isSafeInteger(pid) || typeof host !== "string" || typeof token !== "string") return UNKNOWN_OWNER
    const word = (key: keyof LockOwner) => (typeof value[key] === "string" ? (value[key] as string) : "")
    return {
      ...{ pid: pid as number, host, token, since: word("since") || UNKNOWN_OWNER.since, started: word("started") },
      ...{ boot: word("boot"), space: word("space"), machine: word("machine"), door: readSocketId(value.door, token) },
      ...(isFence(fence) ? { fence } : {}),
      ...(value.isUnsettled === true ? { isUnsettled: true } : {}),
    }
  } catch {
    return UNKNOWN_OWNER
  }
}

const isFence = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) > 0 && (value as number) < Number.MAX_SAFE_INTEGER

/** `path`: of the lock. `status`: whether the holder lives, as far as it can be seen from here. */
export interface LockHolder extends LockOwner {
  readonly path: string
  readonly status: Exclude<OwnerStatus, "dead">
  readonly isSelf: boolean
}

export type LockAttempt =
  | { readonly state: "acquired"; readonly lock: FileLock; readonly takenOverFrom?: LockOwner }
  | { readonly state: "held"; readonly by: LockHolder }

export interface FileLock {
  readonly path: string
  /** The number of this acquisition: larger than all before it. */
  readonly fence: number
  /** False once someone broke the lock, or removed its file. */
  isHeld(): boolean
  release(): Promise<void>
  /** Gives it back with the mark that an owner before this one may still run: this one could not move the files away from it. */
  abandon(): Promise<void>
}

export async function acquireLock(path: string, since: string): Promise<LockAttempt> {
  const own = await writeOwner(path, since)
  let attempt: LockAttempt | undefined
  try {
    attempt = await attemptWith(own, path)
    return attempt
  } finally {
    await rm(own.file, { force: true })
    if (attempt?.state !== "acquired") await own.socket?.close()
  }
}

async function attemptWith(own: OwnerFile, path: string): Promise<LockAttempt> {
  for (;;) {
    stamp(own)
    if (await linkIfFree(own.file, path)) {
      const stamped = stamp(own) // again: if this process was paused, others may have had the lock since
      return { state: "acquired", lock: lockAt(path, { ...own, ...stamped }) }
    }
    const holder = await ownerOf(path)
    if (holder === undefined) continue // it was released in the meantime
    const status = await checkOwner(holder, dirname(path))
    if (status !== "dead") return { state: "held", by: { ...holder, path, status, isSelf: isSame(holder, own.owner) } }
    const taken = await takeOver({ path, own, dead: holder })
    if (taken) return taken
  }
}

const isSame = (a: LockOwner, b: LockOwner): boolean =>
  a.pid === b.pid && a.started === b.started && (a.space ?? "") === (b.space ?? "") && a.host === b.host

/**
 * Only the holder of the takeover lock may replace a dead owner's lock, and only while that owner still holds it. The takeover
 * lock works like any other, so the next process can take over from one that dies in the middle. Nothing if someone else was faster.
 */
export async function takeOver(step: {
  path: string
  own: OwnerFile
  dead: LockOwner
}): Promise<LockAttempt | undefined> {
  const { path, own, dead } = step
  const claim = await acquireLock(`${path}.takeover`, own.owner.since)
  if (claim.state === "held") return claim
  try {
    const holder = await ownerOf(path)
    if (holder === undefined || holder.token !== dead.token) return undefined
    const stamped = stamp(own, dead)
    await rename(own.file, path)
    await removeLeftovers(path, dead)
    // a process that was paused here may have replaced one that came after it
    const former = claim.lock.isHeld() ? dead : { ...dead, isUnsettled: true }
    return { state: "acquired", lock: lockAt(path, { ...own, ...stamped }), takenOverFrom: former }
  } finally {
    await claim.lock.release()
  }
}

function lockAt(path: string, { owner, socket, fence, text }: OwnerFile & LockStamp): FileLock {
  const isHeld = () => lockText(path) === text
  return {
    path,
    fence,
    isHeld,
    async release() {
      if (isHeld()) removeLock({ path, token: owner.token, text })
      await socket?.close()
    },
    async abandon() {
      if (isHeld()) renameSync(writeBroken(path, owner).file, path)
      await socket?.close()
    },
  }
}

/** Removes a lock only if it is ours: another process may have taken over since it was looked at. What is not ours goes back. */
export function removeLock({ path, token, text }: { path: string; token: string; text: string }): void {
  const aside = `${path}.${token.slice(-8)}` // not the name of its owner file, which may still be in use
  try {
    renameSync(path, aside)
    if (lockText(aside) !== text) linkSync(aside, path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== "ENOENT" && code !== "EEXIST") throw error
  } finally {
    rmSync(aside, { force: true })
  }
}

/** What killed processes left beside a lock: their doors, and owner files that they did not get to remove. */
export async function removeLeftovers(path: string, dead?: LockOwner): Promise<void> {
  const directory = dirname(path)
  const start = `${basename(path)}.`
  const names = await readdir(directory).catch(() => [] as string[])
  const files = names.filter((name) => name.startsWith(start) && /^[0-9a-f]{8}$/.test(name.slice(start.length)))
  const gone = dead?.door ? [dead.door] : []
  for (const file of files.map((name) => join(directory, name))) {
    const owner = await ownerOf(file)
    if (!owner || (owner.token === "" && (await isBeingWritten(file)))) continue
    if ((await checkOwner(owner, directory)) !== "dead") continue
    if (owner.door) gone.push(owner.door)
    await rm(file, { force: true })
  }
  for (const digits of gone) await rm(livenessSocketPath(directory, digits), { force: true })
}

/** Doors that killed processes left after they had removed their lock: no file names them, and no one answers. For a directory with one lock. */
export async function removeDeadSockets(path: string): Promise<void> {
  const directory = dirname(path)
  const names = await readdir(directory).catch(() => [] as string[])
  const sockets = names.flatMap((name) => livenessSocketId(name) ?? [])
  if (sockets.length === 0) return
  const holders = await Promise.all([path, `${path}.takeover`].map((lock) => ownerOf(lock)))
  for (const digits of sockets) {
    const isNamed = names.some((name) => name.endsWith(`.${digits}`)) || holders.some((one) => one?.door === digits)
    if (!isNamed && (await probeLivenessSocket(directory, digits)) === "dead")
      await rm(livenessSocketPath(directory, digits), { force: true })
  }
}

/** A file without a token is unfinished: its process writes it now, or was killed. */
async function isBeingWritten(file: string): Promise<boolean> {
  const facts = await lstat(file).catch(() => undefined)
  return facts !== undefined && Math.abs(Date.now() - facts.mtimeMs) < MAX_WRITE_MS
}

async function linkIfFree(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false
    throw error
  }
}

const MAX_WRITE_MS = 60_000 // of a few hundred bytes
/** The holder of a lock, with the status. Nothing if no one holds it. */
export async function holderOf(path: string): Promise<(LockOwner & { readonly status: OwnerStatus }) | undefined> {
  const owner = await ownerOf(path)
  return owner && { ...owner, status: await checkOwner(owner, dirname(path)) }
}
