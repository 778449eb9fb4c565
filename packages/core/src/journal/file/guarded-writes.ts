/**
 * Writes that check the lock, and a pool of open files. A server has thousands of conversations, but a process has only about a thousand
 * descriptors, so idle files release theirs. The most recently used files stay open. A file that is opened again must still be the same
 * file.
 */

import { constants, fstatSync, linkSync, renameSync, rmSync, writeSync } from "node:fs"
import { type FileHandle, open, rm, writeFile } from "node:fs/promises"
import { crc32 } from "node:zlib"
import { ClosedError, JournalWriteError, LockLostError, type StrataError } from "../../base/errors.ts"
import type { CooperativeTask } from "../../base/work.ts"
import type { AppendedLines } from "../store.ts"
import { FILE_MODE } from "./layout.ts"
import { type FileLock, readLock, readOwner } from "./lock.ts"

// The lock is checked in the write itself. A process can be paused between the check and the write, so the check alone is not enough: a
// process that takes the lock from an owner that may still run continues on copies of the files (`fence-files.ts`). What the paused process
// then writes goes to a file without a name.

/** The kind of the next write. Tests use it to choose where to pause a process. */
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
  /**
   * Throws a `LockLostError` unless the lock is held, and a `JournalWriteError` if that cannot be determined. Called right before a write,
   * in the same turn of the event loop.
   */
  check(step: WriteStep): void
}

/** A lock that this process holds, and its fence. */
export interface HeldLock {
  readonly lock: FileLock
  readonly fence: Fence
}

/** `atStep` is called after each check, for tests that pause the process there. */
export const createFence = (lock: FileLock, atStep: (step: WriteStep) => void = () => {}): Fence => ({
  check(step) {
    if (!lock.isHeld()) throw lockLost(lock.path)
    atStep(step)
  },
})

/**
 * The error for a lost lock. It names the present holder, or says why that is unknown. `written`: bytes may have reached the file before
 * the lock was lost.
 */
export function lockLost(path: string, { written = false } = {}): StrataError {
  const lock = readLock(path)
  if (lock.state === "unreadable") return new JournalWriteError(path, lock.error)
  const owner = lock.state === "read" ? readOwner(lock.text) : undefined
  const { pid, host, since, fence } = owner ?? { pid: 0, host: "", since: "" }
  const holder = pid > 0 ? { pid, host, since, path, ...(fence === undefined ? {} : { fence }) } : undefined
  return new LockLostError(path, { written, ...(holder ? { holder } : {}) })
}

/** Maximum number of open files. Further users wait. */
const MAX_OPEN = 128
/** `a+` without creating the file. */
const APPEND_EXISTING = constants.O_APPEND | constants.O_RDWR

/** Open files. The most recently used one is last. */
const openFiles = new Set<PooledFile>()
/** Number of files that are being reopened. `waiting` holds those that wait until an open file is idle. */
let opening = 0
const waiting: (() => void)[] = []

/** Reads bytes at a position of a file. */
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

  /** With `a+`, every write checks the fence after opening, so that the descriptor belongs to this owner's file. */
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

  /** Flushes everything, including what was written through an earlier descriptor. */
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

  /** Makes this file the most recently used one, unless it is being closed. */
  #noteOpen(): void {
    openFiles.delete(this)
    if (!this.#isClosed) openFiles.add(this)
  }

  /** Opens the file again. Concurrent callers share one opening. */
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

  /** Inode numbers can be reused. In that case the fence still detects the lost lock. */
  #mustBeSame(handle: FileHandle): void {
    if (fstatSync(handle.fd).ino === this.#inode) return
    this.#fence?.check("open")
    throw Object.assign(new Error(`${this.#path} is another file than before`), { code: "ESTALE", path: this.#path })
  }

  /** Closes the descriptor if the file is idle. Returns whether it did. */
  releaseDescriptor(): boolean {
    if (this.#users > 0 || this.#handle === undefined) return false
    openFiles.delete(this)
    const handle = this.#handle
    this.#handle = undefined
    void handle.close()
    return true
  }
}

/** Up to this size, a synchronous write takes less time than handing it to another thread and waiting for the result. */
const MAX_SYNC_BYTES = 128 * 1024

/** Resolves when all bytes are written. After a failure some of them may be in the file. */
async function appendBytes(handle: FileHandle, bytes: Buffer): Promise<void> {
  if (bytes.length > MAX_SYNC_BYTES) await handle.appendFile(bytes)
  else for (let done = 0; done < bytes.length; ) done += writeSync(handle.fd, bytes, done)
}

/** Releases the descriptor of the oldest idle file. Returns whether there was one. */
function releaseOldest(): boolean {
  for (const file of openFiles) if (file.releaseDescriptor()) return true
  return false
}

// Announces appended lines within this process, so that trackers need not read them from disk.

type Listener = (appended: AppendedLines) => void

const listeners = new Map<string, Set<Listener>>()

/** Returns a function that removes the listener. */
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

// Replaces a file atomically: a reader sees the old content or the new, never a mix. The draft is finished before the lock is checked, and
// a new owner removes drafts. So a process that was paused after the check has nothing left to publish.

let drafts = 0

/**
 * `number` is the writer's fencing number, so that no two processes share a draft. The counter separates concurrent writes of one process.
 */
export const draftName = (path: string, number: number): string =>
  `${path}.${number.toString(36)}_${(++drafts).toString(36)}.draft`

export interface AtomicFile {
  readonly path: string
  readonly data: string | Uint8Array
  readonly number: number
  /** Whether the content is flushed before the file gets its name. */
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
  /** Fails with `EEXIST` instead of replacing an existing file. */
  readonly isNew?: boolean
}

/**
 * Checks the lock and renames in one turn of the event loop. A missing draft means that a new owner removed it, which the second check
 * reports.
 */
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

/** Removes a file only while the lock is held. If the lock was lost in between, the file belongs to the new owner and is put back. */
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

// A checkpoint file: JSON, then its checksum on a second line. Damage is detected, and the journal can rebuild the checkpoint.

const LINE_END = 0x0a
const SUM = /^[0-9a-f]{8}$/

export type CheckpointReadResult =
  | { readonly state: "used"; readonly value: unknown }
  /** Written by a version without checksums. */
  | { readonly state: "absent" }
  | { readonly state: "damaged" }

export function* encodeCheckpointTask(value: unknown): CooperativeTask<string> {
  const json = yield* jsonTask(value)
  return `${json}\n${checksum(Buffer.from(json))}\n`
}

const ITEMS_PER_STEP = 50 // items of a list

/** The same text as `JSON.stringify` for plain JSON, as a cooperative task. */
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
