/**
 * A lock between processes: one file that names its owner. If the owner has died, the next process takes the lock over at
 * once; of several that try, exactly one succeeds.
 *
 * Lock libraries decide by time whether an owner is dead. A crashed agent would then wait for seconds, and a laptop that
 * slept would lose a lock it still holds. That is why this one is our own.
 */
import { closeSync, fstatSync, openSync } from "node:fs"
import { link, lstat, readdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import { hostname } from "node:os"
import { basename, dirname, join } from "node:path"
import { FILE_MODE } from "./layout.ts"
import { type Door, doorAnswers, doorDigits, doorIn, openDoor, ownDoor } from "./lock-door.ts"
import { judge, type LockOwner, thisProcess, type Verdict } from "./lock-owner.ts"

/** `path`: of the lock. `verdict`: whether the holder lives, as far as it can be seen from here. */
export interface LockHolder extends LockOwner {
  readonly path: string
  readonly verdict: Exclude<Verdict, "dead">
  readonly isSelf: boolean
}

export type LockAttempt =
  | { readonly state: "acquired"; readonly lock: FileLock; readonly takenOverFrom?: LockOwner }
  | { readonly state: "held"; readonly by: LockHolder }

export interface FileLock {
  /** False once someone broke the lock, or removed its file. */
  isHeld(): boolean
  release(): Promise<void>
}

/** A finished owner file, to be linked into the lock's place. So no process ever sees a lock without an owner. */
export interface OwnerFile {
  readonly file: string
  readonly owner: LockOwner
  readonly door: Door | undefined
}

export async function acquireLock(path: string, since: string): Promise<LockAttempt> {
  const own = await writeOwner(path, since)
  let attempt: LockAttempt | undefined
  try {
    attempt = await attemptWith(own, path)
    return attempt
  } finally {
    await rm(own.file, { force: true })
    if (attempt?.state !== "acquired") await own.door?.close()
  }
}

async function attemptWith(own: OwnerFile, path: string): Promise<LockAttempt> {
  for (;;) {
    if (await linked(own.file, path)) return { state: "acquired", lock: lockAt(path, own) }
    const holder = await ownerOf(path)
    if (holder === undefined) continue // it was released in the meantime
    const verdict = await judge(holder, dirname(path))
    if (verdict !== "dead")
      return { state: "held", by: { ...holder, path, verdict, isSelf: isSame(holder, own.owner) } }
    const taken = await takeOver({ path, own, dead: holder })
    if (taken) return taken
  }
}

const isSame = (a: LockOwner, b: LockOwner): boolean =>
  a.pid === b.pid && a.started === b.started && (a.space ?? "") === (b.space ?? "") && a.host === b.host

/** The beginning of a token: together with the longest id it must fit into a file name. */
const digitsOf = (token: string) => token.slice(0, 8)

export async function writeOwner(path: string, since: string): Promise<OwnerFile> {
  const owner = await thisProcess(since)
  const directory = dirname(path)
  const digits = digitsOf(owner.token)
  const file = `${path}.${digits}`
  const write = (door: string) => writeFile(file, JSON.stringify({ ...owner, door }), { mode: FILE_MODE })
  const expected = ownDoor(directory) ?? digits
  try {
    await write(expected) // before the door: a door that a killed process left is found by its owner file
    const door = await openDoor(directory, digits)
    if (door?.digits !== expected) await write(door?.digits ?? "")
    return { file, owner: { ...owner, door: door?.digits ?? "" }, door }
  } catch (error) {
    await rm(file, { force: true }).catch(() => undefined)
    throw error
  }
}

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
    await rename(own.file, path)
    await removeLeftovers(path, dead)
    return { state: "acquired", lock: lockAt(path, own), takenOverFrom: dead }
  } finally {
    await claim.lock.release()
  }
}

function lockAt(path: string, { door }: OwnerFile): FileLock {
  const own = identityOf(path)
  const isHeld = () => own !== undefined && identityOf(path) === own
  return {
    isHeld,
    async release() {
      if (isHeld()) await rm(path, { force: true })
      await door?.close()
    },
  }
}

/** Which file it is, and when it was written: a number of a file can be used again. Opened, so that a network disk looks. */
function identityOf(path: string): string | undefined {
  try {
    const file = openSync(path, "r")
    const { ino, mtimeNs } = fstatSync(file, { bigint: true })
    closeSync(file)
    return `${ino} ${mtimeNs}`
  } catch {
    return undefined
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
    if ((await judge(owner, directory)) !== "dead") continue
    if (owner.door) gone.push(owner.door)
    await rm(file, { force: true })
  }
  for (const digits of gone) await rm(doorIn(directory, digits), { force: true })
}

/** Doors that killed processes left after they had removed their lock: no file names them, and no one answers. For a directory with one lock. */
export async function removeDeadDoors(path: string): Promise<void> {
  const directory = dirname(path)
  const names = await readdir(directory).catch(() => [] as string[])
  const doors = names.flatMap((name) => doorDigits(name) ?? [])
  if (doors.length === 0) return
  const holders = await Promise.all([path, `${path}.takeover`].map((lock) => ownerOf(lock)))
  for (const digits of doors) {
    const isNamed = names.some((name) => name.endsWith(`.${digits}`)) || holders.some((one) => one?.door === digits)
    if (!isNamed && (await doorAnswers(directory, digits)) === "dead")
      await rm(doorIn(directory, digits), { force: true })
  }
}

/** A file without a token is unfinished: its process writes it now, or was killed. */
async function isBeingWritten(file: string): Promise<boolean> {
  const facts = await lstat(file).catch(() => undefined)
  return facts !== undefined && Math.abs(Date.now() - facts.mtimeMs) < LONGEST_WRITE_MS
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

const LONGEST_WRITE_MS = 60_000 // of a few hundred bytes
const LONGEST_LOCK = 4_096 // bytes; ours have about 400

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

/** The holder of a lock, with the verdict. Nothing if no one holds it. */
export async function holderOf(path: string): Promise<(LockOwner & { readonly verdict: Verdict }) | undefined> {
  const owner = await ownerOf(path)
  return owner && { ...owner, verdict: await judge(owner, dirname(path)) }
}

/** Not our lock, or damaged: no owner can be found, so treat it as dead. */
const NO_OWNER: LockOwner = { pid: 0, host: hostname(), since: "an unknown time", started: "", token: "" }

/** Of earlier versions: each lock had its own. */
const doorOf = (door: unknown, token: string): string => {
  const digits = door === true ? digitsOf(token) : typeof door === "string" ? door : ""
  return /^[0-9a-f]{8}$/.test(digits) ? digits : ""
}

function readOwner(text: string): LockOwner {
  try {
    const value = (JSON.parse(text) ?? {}) as Partial<Record<keyof LockOwner, unknown>>
    const { pid, host, token } = value
    if (!Number.isSafeInteger(pid) || typeof host !== "string" || typeof token !== "string") return NO_OWNER
    const word = (key: keyof LockOwner) => (typeof value[key] === "string" ? (value[key] as string) : "")
    return {
      ...{ pid: pid as number, host, token, since: word("since") || NO_OWNER.since, started: word("started") },
      ...{ boot: word("boot"), space: word("space"), machine: word("machine"), door: doorOf(value.door, token) },
    }
  } catch {
    return NO_OWNER
  }
}
