/**
 * The file that names the owner of a lock. A finished one is put into the lock's place in one step, so no process ever sees a lock
 * without an owner. Each acquisition has a fencing number, larger than the one before.
 */
import { randomUUID } from "node:crypto"
import { closeSync, constants, fstatSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs"
import { lstat, readFile, rm } from "node:fs/promises"
import { hostname } from "node:os"
import { dirname } from "node:path"
import { FILE_MODE } from "./layout.ts"
import { type Door, openDoor, ownDoor } from "./lock-door.ts"
import { isOfThisBoot, type LockOwner, thisProcess } from "./lock-owner.ts"

/** An owner file beside its lock. */
export interface OwnerFile {
  readonly file: string
  readonly owner: LockOwner
  readonly door: Door | undefined
}

/** What is in a lock's place after an acquisition. */
export interface Stamped {
  readonly fence: number
  readonly text: string
}

/** The beginning of a token: together with the longest id it must fit into a file name. */
const digitsOf = (token: string) => token.slice(0, 8)

export async function writeOwner(path: string, since: string): Promise<OwnerFile> {
  const owner = await thisProcess(since)
  const directory = dirname(path)
  const digits = digitsOf(owner.token)
  const file = `${path}.${digits}`
  const named = (door: string): OwnerFile => ({ file, owner: { ...owner, door }, door: undefined })
  const expected = ownDoor(directory) ?? digits
  try {
    stamp(named(expected)) // before the door: a door that a killed process left is found by its owner file
    const door = await openDoor(directory, digits)
    return { ...named(door?.digits ?? ""), door }
  } catch (error) {
    await rm(file, { force: true }).catch(() => undefined)
    throw error
  }
}

/** The owner of a lock that was broken: no process. `former`: who had it, and may still run. */
export function writeBroken(path: string, former: LockOwner): OwnerFile {
  const { host, since } = former
  const owner = { ...NO_OWNER, host, since, token: randomUUID() }
  const own = { file: `${path}.${digitsOf(owner.token)}`, owner, door: undefined }
  stamp(own, former)
  return own
}

/**
 * Gives an owner file the number of its next acquisition. If it is in the lock's place already, only digits of the number change there.
 *
 * `former`: whose lock it takes over. A lock that was released has left no number, so the time decides.
 */
export function stamp({ file, owner }: OwnerFile, former?: LockOwner): Stamped {
  const fence = Math.max(fenceNow(), (former?.fence ?? 0) + 1) // the clock may have been set back
  newest = Math.max(newest, fence)
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
let newest = 0

/** Microseconds since 1970: they fit into a number until the year 2255. */
const fenceNow = () => Math.max(newest + 1, Math.floor((performance.timeOrigin + performance.now()) * 1_000))

/** Whether a former owner whose lock is free may run all the same. After a restart the machine is known by its id, which copies of a machine share. */
export const mayRun = (former: LockOwner): boolean => former.isUnsettled === true || !isOfThisBoot(former)

const LONGEST_LOCK = 4_096 // bytes; ours have about 450

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
const NO_OWNER: LockOwner = {
  ...{ pid: 0, host: hostname(), since: "an unknown time", started: "", token: "" },
  isUnsettled: true,
}

/** Of earlier versions: each lock had its own. */
const doorOf = (door: unknown, token: string): string => {
  const digits = door === true ? digitsOf(token) : typeof door === "string" ? door : ""
  return /^[0-9a-f]{8}$/.test(digits) ? digits : ""
}

export function readOwner(text: string): LockOwner {
  try {
    const value = (JSON.parse(text) ?? {}) as Partial<Record<keyof LockOwner, unknown>>
    const { pid, host, token, fence } = value
    if (!Number.isSafeInteger(pid) || typeof host !== "string" || typeof token !== "string") return NO_OWNER
    const word = (key: keyof LockOwner) => (typeof value[key] === "string" ? (value[key] as string) : "")
    return {
      ...{ pid: pid as number, host, token, since: word("since") || NO_OWNER.since, started: word("started") },
      ...{ boot: word("boot"), space: word("space"), machine: word("machine"), door: doorOf(value.door, token) },
      ...(isFence(fence) ? { fence } : {}),
      ...(value.isUnsettled === true ? { isUnsettled: true } : {}),
    }
  } catch {
    return NO_OWNER
  }
}

const isFence = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) > 0 && (value as number) < Number.MAX_SAFE_INTEGER
