/**
 * A lock between processes: one file that names its owner. If the owner has died, the next process takes over the lock at once. If several
 * try, exactly one succeeds.
 *
 * Lock libraries decide by time whether an owner is dead. A crashed agent would then block others for seconds, and a sleeping laptop would
 * lose a lock that it still holds. That is why this lock is our own.
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

// The file that names the owner of a lock. A finished owner file is moved into place in one step, so no process ever sees a lock without an
// owner. Each acquisition has a fencing number, larger than the previous one.

/** An owner file, stored next to its lock. */
export interface OwnerFile {
  readonly file: string
  readonly owner: LockOwner
  readonly socket: LivenessSocket | undefined
}

/** The fencing number and text that an acquisition writes. */
export interface LockStamp {
  readonly fence: number
  readonly text: string
}

/** The start of a token. Together with the longest id it must fit into a file name. */
const tokenPrefix = (token: string) => token.slice(0, 8)

export async function writeOwner(path: string, since: string): Promise<OwnerFile> {
  const owner = await thisProcess(since)
  const directory = dirname(path)
  const digits = tokenPrefix(owner.token)
  const file = `${path}.${digits}`
  const withSocketId = (door: string): OwnerFile => ({ file, owner: { ...owner, door }, socket: undefined })
  const expected = localSocketId(directory) ?? digits
  try {
    stamp(withSocketId(expected)) // before the socket is opened: the socket of a killed process is found through its owner file
    const socket = await openLivenessSocket(directory, digits)
    return { ...withSocketId(socket?.id ?? ""), socket }
  } catch (error) {
    await rm(file, { force: true }).catch(() => undefined)
    throw error
  }
}

/** Writes an owner file for a broken lock, which names no process. `former` is the previous owner, which may still run. */
export function writeBroken(path: string, former: LockOwner): OwnerFile {
  const { host, since } = former
  const owner = { ...UNKNOWN_OWNER, host, since, token: randomUUID() }
  const own = { file: `${path}.${tokenPrefix(owner.token)}`, owner, socket: undefined }
  stamp(own, former)
  return own
}

/**
 * Gives an owner file the fencing number of its next acquisition. If the file is already in the lock's place, only digits of the number
 * change.
 *
 * `former` is the owner whose lock is taken over. A released lock leaves no number, so the number comes from the clock.
 */
export function stamp({ file, owner }: OwnerFile, former?: LockOwner): LockStamp {
  const fence = Math.max(nextFence(), (former?.fence ?? 0) + 1) // the clock may have been set back
  newestFence = Math.max(newestFence, fence)
  const text = JSON.stringify({ ...owner, fence, ...(former && mayRun(former) ? { isUnsettled: true } : {}) })
  writeOver(file, text)
  return { fence, text }
}

/** Overwrites without truncating first, because some disks would then flush on close. The file is written at every acquisition. */
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

/** The largest fencing number of this process. The clock may be set back. */
let newestFence = 0

/** Microseconds since 1970. They fit into a safe integer until the year 2255. */
const nextFence = () => Math.max(newestFence + 1, Math.floor((performance.timeOrigin + performance.now()) * 1_000))

/**
 * Whether a former owner may still run although its lock is free. After a restart a machine is recognized by its id, which cloned machines
 * share.
 */
export const mayRun = (former: LockOwner): boolean => former.isUnsettled === true || !isFromThisBoot(former)

const MAX_LOCK_BYTES = 4_096 // bytes; ours have about 450

/** Reads the owner of a lock. Anything but a file in the lock's place is an error, because it cannot be taken over safely. */
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
  /** For example because of too many open files. Says nothing about who holds the lock. */
  | { readonly state: "unreadable"; readonly error: unknown }

/** Reads the lock file. Opening it makes network disks check for changes. */
export function readLock(path: string): LockText {
  try {
    return { state: "read", text: readFileSync(path, "utf8") }
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? { state: "absent" } : { state: "unreadable", error }
  }
}

/** The text of the lock file. `undefined` if no process holds the lock, or the file cannot be read. */
export function lockText(path: string): string | undefined {
  const lock = readLock(path)
  return lock.state === "read" ? lock.text : undefined
}

/** The owner of a foreign or damaged lock file. No process can be checked, so the lock is free, but its owner may run. */
const UNKNOWN_OWNER: LockOwner = {
  ...{ pid: 0, host: hostname(), since: "an unknown time", started: "", token: "" },
  isUnsettled: true,
}

/** Reads the id of the liveness socket. In earlier versions each lock had a socket of its own, stored as `true`. */
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

/** The holder of a lock. `path` is the path of the lock, `status` whether the holder lives, if known. */
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
  /** The fencing number of this acquisition, larger than all earlier ones. */
  readonly fence: number
  /** Returns `false` once the lock was broken or its file was removed. */
  isHeld(): boolean
  release(): Promise<void>
  /** Releases the lock, but records that an earlier owner may still run, because this one could not move the files out of its reach. */
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
      const stamped = stamp(own) // stamped again: if this process was paused, others may have held the lock since
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
 * Takes over a dead owner's lock. Only the holder of the takeover lock may do so, and only while the dead owner still holds the lock. The
 * takeover lock works like any other, so the next process can take over if one dies in between. Returns `undefined` if another process was
 * faster.
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
    // a process that was paused here may have replaced a later owner
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

/**
 * Removes a lock only if it is still ours, because another process may have taken over since the check. A lock of another process is put
 * back.
 */
export function removeLock({ path, token, text }: { path: string; token: string; text: string }): void {
  const aside = `${path}.${token.slice(-8)}` // not the name of the owner file, which may still be in use
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

/** Removes what killed processes left next to a lock: their sockets and their owner files. */
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

/**
 * Removes sockets of killed processes that had already removed their lock: no file names them, and no process accepts connections. For a
 * directory with one lock.
 */
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

/** A file without a token is incomplete: its process is writing it now, or was killed. */
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

const MAX_WRITE_MS = 60_000 // for writing a few hundred bytes
/** The holder of a lock with its status. `undefined` if no process holds the lock. */
export async function holderOf(path: string): Promise<(LockOwner & { readonly status: OwnerStatus }) | undefined> {
  const owner = await ownerOf(path)
  return owner && { ...owner, status: await checkOwner(owner, dirname(path)) }
}
