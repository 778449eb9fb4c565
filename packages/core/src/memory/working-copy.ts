/**
 * The memories of a store without files, so that an agent can read and write them with its file tools. The directory follows what is
 * read from the store and written to it. What a tool writes there is installed into the store, unless someone else changed that memory.
 */
import { rmSync, type Stats } from "node:fs"
import { lstat, mkdir, readdir, rename, rm, writeFile } from "node:fs/promises"
import { dirname, join, relative, sep } from "node:path"
import { MemoryChangedError } from "../base/errors.ts"
import { readPlainFile } from "../base/files.ts"
import { SerialQueue } from "../base/work.ts"
import { DIRECTORY_MODE, FILE_MODE } from "../journal/file/layout.ts"
import {
  isMemoryPath,
  type MemoryFileListing,
  type MemoryFiles,
  type MemoryNamespace,
  validateMemoryPath,
} from "../journal/memory-files.ts"
import type { Store } from "../journal/store.ts"
import { INDEX_FILE, isTopicFile, MAX_MEMORY_BYTES } from "./file-names.ts"
import { claimScratch, type Scratch } from "./scratch.ts"

/** A file that was not installed: someone else changed it meanwhile, or it cannot be a memory. */
export interface RejectedFile {
  readonly path: string
  readonly reason: "changed" | "no-text"
}

export interface WorkingCopy extends MemoryFiles {
  readonly directory: string
  /** Installs the files that tools wrote. Resolves with the rejected ones, for which the directory has the store's text again. */
  installChanges(): Promise<readonly RejectedFile[]>
  /** The last user in this process removes the directory. */
  close(): void
}

/** Open copies of this process: agents that use one store share a directory. */
const openCopies = new WeakMap<Store, Map<string, SharedCopy>>()

interface SharedCopy {
  readonly copy: Promise<WorkingCopyFiles>
  users: number
}

/** A directory is released before the next one is claimed. */
let closing: Promise<unknown> = Promise.resolve()

/** Undefined if the store has files: tools work on those directly. */
export async function openWorkingCopy(store: Store, namespace: MemoryNamespace): Promise<WorkingCopy | undefined> {
  const files = store.memories(namespace)
  if (files.directory !== undefined) return undefined
  const ofStore: Map<string, SharedCopy> = openCopies.get(store) ?? new Map()
  openCopies.set(store, ofStore)
  const key = JSON.stringify(namespace, Object.keys(namespace).sort()) // the store's own name of a namespace is only for display
  const shared = ofStore.get(key) ?? { copy: createCopy(files, key), users: 0 }
  ofStore.set(key, shared)
  shared.users++
  let isClosed = false
  let copy: WorkingCopyFiles | undefined
  const close = () => {
    if (isClosed) return
    isClosed = true
    if (--shared.users > 0) return
    ofStore.delete(key)
    copy?.removeNow() // the process may end at once
    const released = shared.copy.then((made) => made.release()).catch(() => undefined) // otherwise the next process does it
    closing = Promise.all([closing, released])
  }
  try {
    copy = await shared.copy
    return copy.forUser(close)
  } catch (error) {
    close()
    throw error
  }
}

async function createCopy(files: MemoryFiles, key: string): Promise<WorkingCopyFiles> {
  await closing
  const copy = new WorkingCopyFiles(files, await claimScratch({ kind: "memory", of: `${files.location} ${key}` }))
  await copy.follow(await files.list())
  return copy
}

/** A file as the store had it when it was written to the directory. */
interface MirroredFile {
  readonly version: string
  readonly text: string
  /** State of the file in the directory. If it differs, a tool wrote the file. */
  readonly state: string
}

class WorkingCopyFiles {
  readonly #files: MemoryFiles
  readonly #scratch: Scratch
  readonly #mirrored = new Map<string, MirroredFile>()
  /** Runs all file operations serially. */
  readonly #queue = new SerialQueue()

  constructor(files: MemoryFiles, scratch: Scratch) {
    this.#files = files
    this.#scratch = scratch
  }

  forUser(close: () => void): WorkingCopy {
    const files = this.#files
    return {
      location: files.location,
      directory: this.#scratch.directory,
      read: (path) => files.read(path),
      readAll: async (query) => {
        const read = await files.readAll(query)
        if (query.folders.includes(undefined)) await this.follow(read.filter(({ path }) => !isHidden(path)))
        return read
      },
      ...(files.watch ? { watch: () => files.watch!() } : {}),
      ...(files.problems ? { problems: () => files.problems!() } : {}),
      list: async (under) => {
        const listed = await files.list(under)
        if (under === undefined) await this.follow(listed)
        return listed
      },
      install: async (changes, options) => {
        const report = await files.install(changes, options)
        const paths = changes.map(({ path }) => path).filter(isCopied)
        if (paths.length > 0) await this.#queue.run(() => this.#mirror(paths))
        return report
      },
      installChanges: () => this.#queue.run(() => this.#takeIn()),
      close,
    }
  }

  /** Updates the directory to match a complete listing of the store. */
  follow(listed: readonly MemoryFileListing[]): Promise<void> {
    return this.#queue.run(async () => {
      const now = new Map(listed.filter(({ path }) => isCopied(path)).map(({ path, version }) => [path, version]))
      const changed = [...now].filter(([path, version]) => this.#mirrored.get(path)?.version !== version)
      const deleted = [...this.#mirrored.keys()].filter((path) => !now.has(path))
      const paths = [...changed.map(([path]) => path), ...deleted]
      if (paths.length > 0) await this.#mirror(paths)
    })
  }

  removeNow(): void {
    rmSync(this.#scratch.directory, { recursive: true, force: true })
  }

  release(): Promise<void> {
    return this.#queue.run(() => this.#scratch.release())
  }

  /** Writes these files with the text of the store. A file that a tool has written since is skipped: it is installed first. */
  async #mirror(paths: readonly string[]): Promise<void> {
    const read = await this.#files.readAll({ folders: [], paths, maxBytes: MAX_MEMORY_BYTES })
    const found = new Map(read.map((file) => [file.path, file]))
    for (const path of paths) {
      if ((await this.#stateOf(path)) !== (this.#mirrored.get(path)?.state ?? NOT_THERE)) continue
      const { text, version } = found.get(path) ?? {}
      await this.#write(path, text)
      if (text === undefined || version === undefined) this.#mirrored.delete(path)
      else this.#mirrored.set(path, { text, version, state: await this.#stateOf(path) })
    }
  }

  async #takeIn(): Promise<readonly RejectedFile[]> {
    const refused: RejectedFile[] = []
    for (const path of await this.#written()) {
      const before = this.#mirrored.get(path)?.text
      const read = await this.#textOf(path)
      if (read === NO_TEXT) refused.push({ path, reason: "no-text" })
      const text = read === NO_TEXT ? before : read
      if (text !== before)
        try {
          await this.#files.install([{ path, text, expected: before ?? null }])
        } catch (error) {
          if (!(error instanceof MemoryChangedError)) throw error
          refused.push({ path, reason: "changed" })
        }
      // the file's current state is known, so the next line may replace it
      this.#mirrored.set(path, { text: text ?? "", version: "", state: await this.#stateOf(path) })
      await this.#mirror([path])
    }
    return refused
  }

  /** Files that differ from the text written by this class. */
  async #written(): Promise<readonly string[]> {
    const { directory } = this.#scratch
    const entries = await readdir(directory, { recursive: true, withFileTypes: true })
    const present = entries
      .filter((entry) => entry.isFile())
      .map((entry) => relative(directory, join(entry.parentPath, entry.name)).split(sep).join("/"))
      .filter((path) => isCopied(path) && isMemoryPath(path))
    const paths = [...new Set([...present, ...this.#mirrored.keys()])].sort()
    const states = await Promise.all(paths.map((path) => this.#stateOf(path)))
    return paths.filter((path, at) => states[at] !== (this.#mirrored.get(path)?.state ?? NOT_THERE))
  }

  /** Undefined if the file was deleted. */
  async #textOf(path: string): Promise<string | typeof NO_TEXT | undefined> {
    try {
      const bytes = await readPlainFile(this.#at(path), MAX_MEMORY_BYTES)
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === "ENOENT" ? undefined : NO_TEXT
    }
  }

  /** Writes atomically. */
  async #write(path: string, text: string | undefined): Promise<void> {
    const file = this.#at(path)
    if (text === undefined) return rm(file, { force: true, recursive: true })
    await mkdir(dirname(file), { recursive: true, mode: DIRECTORY_MODE })
    const draft = `${file}.draft`
    await writeFile(draft, text, { mode: FILE_MODE })
    await rename(draft, file)
  }

  async #stateOf(path: string): Promise<string> {
    const facts: Stats | undefined = await lstat(this.#at(path)).catch(() => undefined)
    return facts ? `${facts.ino}-${facts.size}-${facts.mtimeMs}-${facts.ctimeMs}` : NOT_THERE
  }

  #at(path: string): string {
    return join(this.#scratch.directory, validateMemoryPath(path))
  }
}

const NOT_THERE = ""
const NO_TEXT = Symbol("too large, or not UTF-8")

const isHidden = (path: string): boolean => /(?:^|\/)\./.test(path)

const isCopied = (path: string): boolean => isTopicFile(path) || path === INDEX_FILE
