/**
 * Memory files on the local disk: plain files that any editor can change. A change of several files is written to an intent file
 * first, so that after a kill the next reader or writer completes it. No link inside the directory is followed.
 */
import { hash } from "node:crypto"
import { lstat, mkdir, open, readdir, realpath, rename, rm, writeFile } from "node:fs/promises"
import { basename, dirname, join, relative, sep } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import type { Clock } from "../../base/clock.ts"
import { MemoryBusyError, MemoryChangedError, MemoryFileError } from "../../base/errors.ts"
import { checkedMemoryPath, type MemoryFileChange, type MemoryFileListing, type MemoryFiles } from "../memory-files.ts"
import { DIRECTORY_MODE, FILE_MODE } from "./layout.ts"
import { acquireLock } from "./lock.ts"

const INTENT = ".intent.json"
const LOCK = ".lock"
const MOST_FILE_BYTES = 4 * 1024 * 1024 // a memory has a few kilobytes; more is something else
const MOST_FILES = 20_000
const WRITES_AT_ONCE = 32 // each waits for the disk
const LOCK_PATIENCE_MS = 30_000 // a change takes milliseconds
const LOCK_RETRY_MS = 5

/** The places where a test can end the process. */
export type InstallStep = "locked" | "checked" | "intended" | "changed" | "completed"

export interface MemoryDirectoryOptions {
  readonly directory: string
  readonly clock: Clock
  /** The directory must be inside this one, links resolved: for a directory inside a repository. */
  readonly inside?: string
  /** Called at each step of an install. For tests that end the process there. */
  readonly atStep?: (step: InstallStep) => void
}

interface Intent {
  readonly changes: readonly { readonly path: string; readonly before: string | null; readonly text: string | null }[]
  /** Over the changes, so that a damaged intent is recognised. */
  readonly sum: string
}

export function memoryDirectory(options: MemoryDirectoryOptions): MemoryFiles {
  const { directory, clock, atStep = () => {} } = options
  const intentPath = join(directory, INTENT)

  async function locked<T>(work: () => Promise<T>): Promise<T> {
    return inTurn(directory, async () => {
      await mustBeInside(options)
      await mkdir(directory, { recursive: true, mode: DIRECTORY_MODE })
      await mustBeInside(options)
      const lock = await lockOf(directory, clock)
      try {
        return await work()
      } finally {
        await lock.release()
      }
    })
  }

  /** Completes what a killed process began. */
  async function settle(): Promise<void> {
    await mustBeInside(options)
    if (await exists(intentPath)) await locked(complete)
  }

  async function complete(): Promise<void> {
    const text = await readWhole(directory, INTENT)
    if (text === undefined) return
    const intent = readIntent(text)
    if (intent) await carryOut(intent)
    else await rename(intentPath, join(directory, `.intent.${hash("sha256", text, "hex").slice(0, 8)}.damaged`))
  }

  async function carryOut({ changes }: Intent): Promise<void> {
    for (let at = 0; at < changes.length; at += WRITES_AT_ONCE) {
      const some = changes.slice(at, at + WRITES_AT_ONCE)
      await Promise.all(some.map((change) => replace({ directory, ...change }).then(() => atStep("changed"))))
    }
    await rm(intentPath, { force: true })
  }

  return {
    location: directory,
    directory,

    async list(under) {
      await settle()
      const start = under === undefined ? directory : join(directory, checkedMemoryPath(under))
      const found: MemoryFileListing[] = []
      await walk({ directory, folder: start, withHidden: under !== undefined, found })
      return found.sort((a, b) => (a.path < b.path ? -1 : 1))
    },

    async read(path) {
      checkedMemoryPath(path)
      await settle()
      return readWhole(directory, path)
    },

    async install(changes) {
      for (const { path, text } of changes) checkSize(checkedMemoryPath(path), text)
      await locked(async () => {
        atStep("locked")
        await complete()
        const intended = await checkedChanges(directory, changes)
        atStep("checked")
        if (intended.length === 0) return
        const intent: Intent = { changes: intended, sum: sumOf(intended) }
        await writeWhole(intentPath, JSON.stringify(intent))
        atStep("intended")
        await carryOut(intent)
        atStep("completed")
      })
    },
  }
}

/** The changes with the texts they replace. Leaves out those that change nothing. */
async function checkedChanges(directory: string, changes: readonly MemoryFileChange[]): Promise<Intent["changes"]> {
  const found = await Promise.all(
    changes.map(async ({ path, text, expected }) => {
      const before = (await readWhole(directory, path)) ?? null
      return { path, before, text: text ?? null, isStale: expected !== undefined && expected !== before }
    }),
  )
  const stale = found.filter(({ isStale }) => isStale)
  if (stale.length > 0) throw new MemoryChangedError(stale.map(({ path }) => path))
  return found.filter(({ before, text }) => before !== text).map(({ path, before, text }) => ({ path, before, text }))
}

/** A text that someone saved after the check is kept in the archive. */
async function replace(change: {
  directory: string
  path: string
  before: string | null
  text: string | null
}): Promise<void> {
  const { directory, path, before, text } = change
  const current = (await readWhole(directory, path)) ?? null
  if (current === text) return
  if (current !== null && current !== before) {
    const name = `${hash("sha256", current, "hex").slice(0, 8)}-${basename(path)}`
    await writeInside(directory, `archive/${name}`, current)
  }
  if (text === null) await rm(join(directory, path), { force: true })
  else await writeInside(directory, path, text)
}

async function writeInside(directory: string, path: string, text: string): Promise<void> {
  const target = join(directory, path)
  await mkdir(dirname(target), { recursive: true, mode: DIRECTORY_MODE })
  await mustNotBeLinked(directory, path)
  await writeWhole(target, text)
}

async function writeWhole(path: string, text: string): Promise<void> {
  const draft = join(dirname(path), `.${hash("sha256", path, "hex").slice(0, 12)}.draft`)
  await rm(draft, { force: true }) // of a killed process, or a link that someone put there
  await writeFile(draft, text, { mode: FILE_MODE, flush: true, flag: "wx" })
  await rename(draft, path)
}

async function readWhole(directory: string, path: string): Promise<string | undefined> {
  await mustNotBeLinked(directory, path)
  const file = join(directory, path)
  try {
    const handle = await open(file, "r")
    try {
      const facts = await handle.stat()
      if (!facts.isFile()) throw new MemoryFileError(path, "it is not a plain file")
      if (facts.size > MOST_FILE_BYTES) throw new MemoryFileError(path, `it has more than ${MOST_FILE_BYTES} bytes`)
      return asText(path, await handle.readFile())
    } finally {
      await handle.close()
    }
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

function asText(path: string, bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new MemoryFileError(path, "it is not UTF-8 text")
  }
}

function checkSize(path: string, text: string | undefined): void {
  if (text === undefined) return
  if (Buffer.byteLength(text) > MOST_FILE_BYTES)
    throw new MemoryFileError(path, `it would have more than ${MOST_FILE_BYTES} bytes`)
  if (!text.isWellFormed()) throw new MemoryFileError(path, "the text has half a character in it")
}

async function mustNotBeLinked(directory: string, path: string): Promise<void> {
  let at = directory
  for (const part of path.split("/")) {
    at = join(at, part)
    const facts = await lstat(at).catch((error: unknown) => {
      if (isMissing(error)) return undefined
      throw error
    })
    if (facts === undefined) return
    if (facts.isSymbolicLink()) throw new MemoryFileError(path, "it is a link, or in a folder that is one")
  }
}

async function mustBeInside({ directory, inside }: MemoryDirectoryOptions): Promise<void> {
  if (inside === undefined) return
  const [outer, inner] = [await realpath(inside), await realpath(await nearestExisting(directory))]
  if (inner !== outer && !inner.startsWith(outer + sep))
    throw new MemoryFileError(directory, `it leads out of ${outer}, to ${inner}`)
}

async function nearestExisting(path: string): Promise<string> {
  const facts = await lstat(path).catch(() => undefined)
  return facts || dirname(path) === path ? path : nearestExisting(dirname(path))
}

interface Walk {
  readonly directory: string
  readonly folder: string
  readonly withHidden: boolean
  readonly found: MemoryFileListing[]
}

async function walk(step: Walk): Promise<void> {
  const { directory, folder, withHidden, found } = step
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    if (isMissing(error)) return []
    throw error
  })
  for (const entry of entries) {
    if (found.length >= MOST_FILES) return
    const file = join(folder, entry.name)
    const path = relative(directory, file).split(sep).join("/")
    if (!isUsable(path) || entry.name.endsWith(".draft") || (!withHidden && entry.name.startsWith("."))) continue
    if (entry.isDirectory()) await walk({ ...step, folder: file })
    else if (entry.isFile()) {
      const facts = await lstat(file, { bigint: true }).catch(() => undefined) // removed in the meantime
      if (!facts?.isFile()) continue
      const version = [facts.ino, facts.size, facts.mtimeNs, facts.ctimeNs].join("-")
      found.push({ path, modified: facts.mtime.toISOString(), bytes: Number(facts.size), version })
    }
  }
}

function isUsable(path: string): boolean {
  try {
    checkedMemoryPath(path)
    return true
  } catch {
    return false
  }
}

function readIntent(text: string): Intent | undefined {
  try {
    const intent = JSON.parse(text) as Intent
    for (const { path } of intent.changes) checkedMemoryPath(path)
    return sumOf(intent.changes) === intent.sum ? intent : undefined
  } catch {
    return undefined
  }
}

const sumOf = (changes: Intent["changes"]) => hash("sha256", JSON.stringify(changes), "hex")

async function lockOf(directory: string, clock: Clock): Promise<{ release(): Promise<void> }> {
  const deadline = performance.now() + LOCK_PATIENCE_MS
  for (;;) {
    const attempt = await acquireLock(join(directory, LOCK), clock.now().toISOString())
    if (attempt.state === "acquired") return attempt.lock
    if (performance.now() > deadline) throw new MemoryBusyError(directory, attempt.by)
    await wait(LOCK_RETRY_MS)
  }
}

/** Within this process, one after the other: the lock is for other processes. */
const turns = new Map<string, Promise<unknown>>()

async function inTurn<T>(directory: string, work: () => Promise<T>): Promise<T> {
  const earlier = turns.get(directory) ?? Promise.resolve()
  const mine = earlier.then(work, work)
  turns.set(directory, mine)
  try {
    return await mine
  } finally {
    if (turns.get(directory) === mine) turns.delete(directory)
  }
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    (error: unknown) => {
      if (isMissing(error)) return false
      throw error
    },
  )
}

function isMissing(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code
  return code === "ENOENT" || code === "ENOTDIR"
}
