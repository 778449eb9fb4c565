/**
 * A file that gives its descriptor back while no one uses it: a server has thousands of conversations, and a process about a thousand
 * descriptors. The files used last stay open. One that is opened again must still be the same file.
 */

import { constants, fstatSync, linkSync, renameSync, rmSync, writeSync } from "node:fs"
import { type FileHandle, open, rm, writeFile } from "node:fs/promises"
import { crc32 } from "node:zlib"
import { ClosedError, JournalWriteError, LockLostError, type StrataError } from "../../base/errors.ts"
import type { CooperativeTask } from "../../base/work.ts"
import type { AppendedLines } from "../store.ts"
import { FILE_MODE } from "./layout.ts"
import { type FileLock, readLock, readOwner } from "./lock.ts"

// The check of a lock in the write itself. A process can be paused between the check and the write, so the check alone is not enough: who
// takes the lock from an owner that may still run continues on files of its own (`renew-files.ts`), and what passed the check then
// goes to a file without a name.

/** What is written next. */
export type WriteStep =
  | "open"
  | "append"
  | "truncate"
  | "checkpoint"
  | "blob"
  | "notes"
  | "in-flight"
  | "set-aside"
  | "renew"
  | "remove"

export interface Fence {
  /** Throws a `LockLostError` unless the lock is held, and a `JournalWriteError` where that cannot be known. Called right before a write, in the same turn of the event loop. */
  check(step: WriteStep): void
}

/** A lock that this process has, and its check. */
export interface HeldLock {
  readonly lock: FileLock
  readonly fence: Fence
}

/** `atStep`: called after each check. For tests that pause the process there. */
export const createFence = (lock: FileLock, atStep: (step: WriteStep) => void = () => {}): Fence => ({
  check(step) {
    if (!lock.isHeld()) throw lockLost(lock.path)
    atStep(step)
  },
})

/**
 * Names who holds the lock now, or why that cannot be known. `written`: bytes may have reached the file before the lock was lost.
 */
export function lockLost(path: string, { written = false } = {}): StrataError {
  const lock = readLock(path)
  if (lock.state === "unreadable") return new JournalWriteError(path, lock.error)
  const owner = lock.state === "read" ? readOwner(lock.text) : undefined
  const { pid, host, since, fence } = owner ?? { pid: 0, host: "", since: "" }
  const holder = pid > 0 ? { pid, host, since, path, ...(fence === undefined ? {} : { fence }) } : undefined
  return new LockLostError(path, { written, ...(holder ? { holder } : {}) })
}

/** Also when more are used at once: the others wait. */
const MAX_OPEN = 128
/** `a+` without making a new file. */
const APPEND_EXISTING = constants.O_APPEND | constants.O_RDWR

/** The open ones, the one used last at the end. */
const openFiles = new Set<PooledFile>()
/** Files that are being opened again, and those that wait until one of the open ones is idle. */
let opening = 0
const waiting: (() => void)[] = []

/** What reads bytes at a place of a file. */
export type ByteSource = Pick<FileHandle, "read">

interface OpenResult {
  readonly flags: "r" | "a+"
  readonly handle: FileHandle
  readonly inode: number
  readonly fence: Fence | undefined
}

export class PooledFile implements ByteSource {
  readonly #path: string
  readonly #flags: "r" | "a+"
  readonly #inode: number
  readonly #fence: Fence | undefined
  #handle: FileHandle | undefined
  #opening: Promise<FileHandle> | undefined
  #users = 0
  #isClosed = false

  private constructor(path: string, opened: OpenResult) {
    this.#path = path
    this.#flags = opened.flags
    this.#inode = opened.inode
    this.#fence = opened.fence
    this.#handle = opened.handle
    openFiles.add(this)
    while (openFiles.size > MAX_OPEN && releaseOldest());
  }

  /** For writing, `a+`, the fence is checked in every write: after the opening, so that the descriptor is of this owner's file. */
  static async open(path: string, ...how: [flags: "r"] | [flags: "a+", fence: Fence]): Promise<PooledFile> {
    const [flags, fence] = how
    const handle = await open(path, flags, FILE_MODE)
    const { ino: inode } = await handle.stat()
    return new PooledFile(path, { flags, handle, inode, fence })
  }

  readonly read = ((...args: Parameters<FileHandle["read"]>) =>
    this.#using((handle) => handle.read(...args))) as FileHandle["read"]

  append(bytes: Buffer): Promise<void> {
    return this.#using((handle) => {
      this.#fence?.check("append")
      return appendBytes(handle, bytes)
    })
  }

  truncate(size: number): Promise<void> {
    return this.#using((handle) => {
      this.#fence?.check("truncate")
      return handle.truncate(size)
    })
  }

  /** Also what was written through a descriptor that was given back. */
  datasync(): Promise<void> {
    return this.#using((handle) => handle.datasync())
  }

  size(): Promise<number> {
    return this.#using(async (handle) => (await handle.stat()).size)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    openFiles.delete(this)
    const handle = this.#handle ?? (await this.#opening?.catch(() => undefined))
    this.#handle = undefined
    await handle?.close()
    waiting.shift()?.()
  }

  async #using<T>(work: (handle: FileHandle) => Promise<T>): Promise<T> {
    this.#users++
    try {
      const handle = this.#handle ?? (await this.#opened())
      this.#noteOpen()
      return await work(handle)
    } finally {
      if (--this.#users === 0) waiting.shift()?.()
    }
  }

  /** It is the one used last. One that is being closed no longer counts. */
  #noteOpen(): void {
    openFiles.delete(this)
    if (!this.#isClosed) openFiles.add(this)
  }

  /** Several may ask at once. */
  async #opened(): Promise<FileHandle> {
    if (this.#isClosed) throw new ClosedError()
    this.#opening ??= this.#openAgain().finally(() => {
      this.#opening = undefined
    })
    return this.#opening
  }

  async #openAgain(): Promise<FileHandle> {
    while (openFiles.size + opening >= MAX_OPEN && !releaseOldest())
      await new Promise<void>((resolve) => waiting.push(resolve))
    opening++
    try {
      const handle = await open(this.#path, this.#flags === "r" ? "r" : APPEND_EXISTING)
      try {
        this.#mustBeSame(handle)
      } catch (error) {
        await handle.close()
        throw error
      }
      this.#handle = handle
      this.#noteOpen()
      return handle
    } finally {
      opening--
    }
  }

  /** A number of a file can be used again. A write then still finds that the lock is lost. */
  #mustBeSame(handle: FileHandle): void {
    if (fstatSync(handle.fd).ino === this.#inode) return
    this.#fence?.check("open")
    throw Object.assign(new Error(`${this.#path} is another file than before`), { code: "ESTALE", path: this.#path })
  }

  /** Whether it was idle and gave its descriptor back. */
  releaseDescriptor(): boolean {
    if (this.#users > 0 || this.#handle === undefined) return false
    openFiles.delete(this)
    const handle = this.#handle
    this.#handle = undefined
    void handle.close()
    return true
  }
}

/** Up to here the write itself takes less time than handing it to another thread and waiting for the answer. */
const MAX_SYNC_BYTES = 128 * 1024

/** Resolves when all bytes are written. A failure may leave some of them. */
async function appendBytes(handle: FileHandle, bytes: Buffer): Promise<void> {
  if (bytes.length > MAX_SYNC_BYTES) await handle.appendFile(bytes)
  else for (let done = 0; done < bytes.length; ) done += writeSync(handle.fd, bytes, done)
}

/** Whether one of the open files was idle and gave its descriptor back. */
function releaseOldest(): boolean {
  for (const file of openFiles) if (file.releaseDescriptor()) return true
  return false
}

// Says in this process what was appended to the journals of a directory, so that who follows them need not read it again.

type Listener = (appended: AppendedLines) => void

const listeners = new Map<string, Set<Listener>>()

/** Returns what ends it. */
export function onAppended(directory: string, listener: Listener): () => void {
  const all = listeners.get(directory) ?? new Set()
  listeners.set(directory, all.add(listener))
  return () => {
    all.delete(listener)
    if (all.size === 0 && listeners.get(directory) === all) listeners.delete(directory)
  }
}

export function notifyAppended(directory: string, appended: AppendedLines): void {
  for (const listener of listeners.get(directory) ?? []) listener(appended)
}

// Replaces a file in one step: a reader sees the old content or the new, never a mix. The draft is finished before the lock is checked, and
// a new owner of the lock removes drafts. So a process that was paused after the check has nothing left to name.

let drafts = 0

/** `number`: the fencing number of the writer, so that no two processes share a draft. Two writes at the same time do not share one either. */
export const draftName = (path: string, number: number): string =>
  `${path}.${number.toString(36)}_${(++drafts).toString(36)}.draft`

export interface AtomicFile {
  readonly path: string
  readonly data: string | Uint8Array
  readonly number: number
  /** Whether the content is on disk before the file gets its name. */
  readonly flush: boolean
  /** Throws unless the lock is held. */
  readonly check: () => void
}

export async function writeAtomically({ path, data, number, flush, check }: AtomicFile): Promise<void> {
  const draft = draftName(path, number)
  try {
    await writeFile(draft, data, { mode: FILE_MODE, flush })
    publishDraft({ draft, path, check })
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}

interface DraftPublication extends Pick<AtomicFile, "path" | "check"> {
  readonly draft: string
  /** What is at the path by then stays, and the call fails with `EEXIST`. */
  readonly isNew?: boolean
}

/** Check and rename in one turn of the event loop. A draft that a new owner removed means that the lock is lost, which a second check says. */
export function publishDraft({ draft, path, check, isNew = false }: DraftPublication): void {
  check()
  try {
    if (isNew) linkSync(draft, path)
    else renameSync(draft, path)
  } catch (error) {
    check()
    throw error
  }
}

/** Removes a file only while the lock is held. One that is moved after the lock was lost is the new owner's and goes back. */
export function removeFile({ path, number, check }: Pick<AtomicFile, "path" | "number" | "check">): void {
  const aside = draftName(path, number)
  check()
  try {
    renameSync(path, aside)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return
    throw error
  }
  try {
    check()
  } catch (error) {
    linkSync(aside, path)
    throw error
  } finally {
    rmSync(aside, { force: true })
  }
}

// A checkpoint as a file: JSON, and on a second line its checksum. Damage is noticed, and the journal has everything to rebuild it.

const LINE_END = 0x0a
const SUM = /^[0-9a-f]{8}$/

export type CheckpointReadResult =
  | { readonly state: "used"; readonly value: unknown }
  /** Written by a version that had no checksums. */
  | { readonly state: "absent" }
  | { readonly state: "damaged" }

export function* encodeCheckpointTask(value: unknown): CooperativeTask<string> {
  const json = yield* jsonTask(value)
  return `${json}\n${checksum(Buffer.from(json))}\n`
}

const ITEMS_PER_STEP = 50 // of a list

/** The same text as `JSON.stringify`, for plain JSON, in steps. */
function* jsonTask(value: unknown): CooperativeTask<string> {
  if (Array.isArray(value)) {
    const pieces: string[] = []
    for (const [at, item] of value.entries()) {
      if (at % ITEMS_PER_STEP === 0) yield
      pieces.push(JSON.stringify(item) ?? "null")
    }
    return `[${pieces.join(",")}]`
  }
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  const fields: string[] = []
  for (const [key, item] of Object.entries(value))
    if (item !== undefined) fields.push(`${JSON.stringify(key)}:${yield* jsonTask(item)}`)
  return `{${fields.join(",")}}`
}

export function decodeCheckpoint(bytes: Buffer): CheckpointReadResult {
  const end = bytes.lastIndexOf(LINE_END, bytes.length - 2)
  const sum = bytes.toString("latin1", end + 1, bytes.length - 1)
  if (end > 0 && SUM.test(sum) && bytes.at(-1) === LINE_END && sum === checksum(bytes.subarray(0, end)))
    return { state: "used", value: JSON.parse(bytes.toString("utf8", 0, end)) as unknown }
  return bytes.includes(LINE_END) || !isJson(bytes) ? { state: "damaged" } : { state: "absent" }
}

const checksum = (bytes: Buffer) => crc32(bytes).toString(16).padStart(8, "0")

function isJson(bytes: Buffer): boolean {
  try {
    JSON.parse(bytes.toString("utf8"))
    return true
  } catch {
    return false
  }
}
