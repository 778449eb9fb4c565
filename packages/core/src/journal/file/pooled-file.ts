/**
 * A file that gives its descriptor back while no one uses it: a server has thousands of conversations, and a process about a thousand
 * descriptors. The files used last stay open. One that is opened again must still be the same file.
 */
import { constants, fstatSync, writeSync } from "node:fs"
import { type FileHandle, open } from "node:fs/promises"
import { ClosedError } from "../../base/errors.ts"
import type { Fence } from "./fence.ts"
import { FILE_MODE } from "./layout.ts"

/** Also when more are used at once: the others wait. */
const MOST_OPEN = 128
/** `a+` without making a new file. */
const APPEND_EXISTING = constants.O_APPEND | constants.O_RDWR

/** The open ones, the one used last at the end. */
const openFiles = new Set<PooledFile>()
/** Files that are being opened again, and those that wait until one of the open ones is idle. */
let opening = 0
const waiting: (() => void)[] = []

/** What reads bytes at a place of a file. */
export type ByteSource = Pick<FileHandle, "read">

interface Opened {
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

  private constructor(path: string, opened: Opened) {
    this.#path = path
    this.#flags = opened.flags
    this.#inode = opened.inode
    this.#fence = opened.fence
    this.#handle = opened.handle
    openFiles.add(this)
    while (openFiles.size > MOST_OPEN && closeOldest());
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
    while (openFiles.size + opening >= MOST_OPEN && !closeOldest())
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
  giveBack(): boolean {
    if (this.#users > 0 || this.#handle === undefined) return false
    openFiles.delete(this)
    const handle = this.#handle
    this.#handle = undefined
    void handle.close()
    return true
  }
}

/** Up to here the write itself takes less time than handing it to another thread and waiting for the answer. */
const AT_ONCE_BYTES = 128 * 1024

/** Resolves when all bytes are written. A failure may leave some of them. */
async function appendBytes(handle: FileHandle, bytes: Buffer): Promise<void> {
  if (bytes.length > AT_ONCE_BYTES) await handle.appendFile(bytes)
  else for (let done = 0; done < bytes.length; ) done += writeSync(handle.fd, bytes, done)
}

/** Whether one of the open files was idle and gave its descriptor back. */
function closeOldest(): boolean {
  for (const file of openFiles) if (file.giveBack()) return true
  return false
}
