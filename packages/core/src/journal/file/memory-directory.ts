/**
 * Memory files on the local disk: plain files that any editor can change. A change of several files is first written to an intent file, so
 * that after a kill the next reader or writer completes it. Links inside the directory are not followed.
 */
import { lstatSync, type Stats } from "node:fs"
import { mkdir, readdir, rm } from "node:fs/promises"
import { join } from "node:path"
import { setImmediate, setTimeout as wait } from "node:timers/promises"
import type { Clock } from "../../base/clock.ts"
import { busyError, MemoryChangedError, MemoryWriteError, StrataError } from "../../base/errors.ts"
import { KeyedQueues } from "../../base/work.ts"
import {
  checkMemoryText,
  isMemoryPath,
  type MemoryFileChange,
  type MemoryFileListing,
  type MemoryFiles,
  type MemoryInstallReport,
  type ReadMemoryFile,
  type TextSelection,
  validateMemoryPath,
} from "../memory-files.ts"
import { lockLost } from "./guarded-writes.ts"
import { flushDirectory } from "./index-file.ts"
import { DIRECTORY_MODE, type MemoryDirectoryLocation } from "./layout.ts"
import { acquireLock, type FileLock, removeDeadSockets, removeLeftovers } from "./lock.ts"
import { DAMAGED, listDamage, quarantineDamaged, unreportedDamage } from "./memory-damage.ts"
import {
  carryOut,
  createIntent,
  hasReplacedFiles,
  INTENT,
  type IntendedChange,
  type Intent,
  intendedText,
  isNotText,
  quarantineReports,
  readIntent,
  recheckReplaced,
  writeIntent,
} from "./memory-intent.ts"
import { exists, isMissing, makeFolder, mustBeInside, readText, writeText } from "./memory-texts.ts"
import { MemoryWatch } from "./watch.ts"

const LOCK = ".lock"
const MAX_READINGS = 50 // each retry means that another process succeeded
const FILES_AT_ONCE = 500 // about 3 ms, then the event loop continues
const LOCK_TIMEOUT_MS = 30_000 // a change takes milliseconds
const LOCK_RETRY_MS = 5

/** Steps at which a test can end the process. */
export type InstallStep = "locked" | "checked" | "intended" | "moved" | "changed" | "completed"

export interface MemoryDirectoryOptions extends MemoryDirectoryLocation {
  readonly clock: Clock
  /** Called at each step of an install, for tests that end the process there. */
  readonly atStep?: (step: InstallStep) => void
}

export function memoryDirectory(options: MemoryDirectoryOptions): MemoryFiles {
  const { directory, clock, atStep = () => {} } = options
  const intentPath = join(directory, INTENT)

  /** Runs work under the directory's lock. `check` is called before each write, because a paused process may have lost the lock. */
  async function locked<T>(work: (check: () => void) => Promise<T>): Promise<T> {
    return writes.run(directory, async () => {
      await mustBeInside(options)
      await mkdir(directory, { recursive: true, mode: DIRECTORY_MODE })
      await mustBeInside(options)
      const lock = await acquireMemoryLock(directory, clock)
      try {
        return await work(() => {
          if (!lock.isHeld()) throw lockLost(lock.path)
        })
      } finally {
        await lock.release()
      }
    })
  }

  /** Completes what a killed process started. Resolves with an intent that has to wait because the directory is not writable. */
  async function settle(): Promise<Intent | undefined> {
    await mustBeInside(options)
    if (!(await exists(intentPath))) return undefined
    try {
      await locked(complete)
      return undefined
    } catch (error) {
      if (!isUnwritable(error)) throw error
      const read = await readIntent(directory)
      return read?.state === "whole" ? read.intent : undefined
    }
  }

  async function complete(check: () => void): Promise<void> {
    const read = await readIntent(directory)
    if (read === undefined) return
    if (read.state === "whole") await carryOut({ directory, intent: read.intent, check, atStep })
    else await quarantineDamaged(directory, read.changes)
  }

  /** Puts back what was written into a file while it was being replaced. */
  async function giveBackLateEdits(): Promise<void> {
    if (!(await hasReplacedFiles(directory))) return
    await locked(() => recheckReplaced(directory)).catch((error: unknown) => {
      if (!isUnwritable(error)) throw error // the next writer checks again
    })
  }

  async function list(under: string | undefined): Promise<readonly MemoryFileListing[]> {
    const waiting = await settle()
    if (under === undefined) await giveBackLateEdits()
    const found: MemoryFileListing[] = []
    const folder = under === undefined ? "" : validateMemoryPath(under)
    await walk({ directory, folder, withHidden: under !== undefined, found })
    const shown = waiting ? await withIntended({ directory, waiting, under, found }) : found
    return shown.sort((a, b) => (a.path < b.path ? -1 : 1))
  }

  async function read(path: string): Promise<string | undefined> {
    validateMemoryPath(path)
    const waiting = await settle()
    return waiting ? intendedText(directory, waiting, path) : readText(directory, path)
  }

  async function readAll(wanted: TextSelection): Promise<readonly ReadMemoryFile[]> {
    const { guard } = wanted
    const guarded = guard === undefined ? wanted : { ...wanted, paths: [...(wanted.paths ?? []), guard] }
    for (let reading = 1; ; reading++) {
      const [before] = guard === undefined ? [] : listingAt(guard)
      const all = await readOnce(guarded)
      const [after] = guard === undefined ? [] : listingAt(guard)
      if (before?.version === after?.version || reading >= MAX_READINGS) return all
    }
  }

  async function readOnce({
    folders,
    paths = [],
    knownVersions,
    maxBytes,
  }: TextSelection): Promise<readonly ReadMemoryFile[]> {
    const listed = [...(await Promise.all(folders.map(list))).flat(), ...paths.flatMap((path) => listingAt(path))]
    const wanted = new Map(listed.map((listing) => [listing.path, listing]))
    const isWanted = ({ path, version, bytes, isUnlistable }: MemoryFileListing) =>
      !isUnlistable && knownVersions?.get(path) !== version && bytes <= (maxBytes ?? Number.POSITIVE_INFINITY)
    const found: ReadMemoryFile[] = []
    for (const listing of wanted.values()) found.push(isWanted(listing) ? await withText(listing) : listing)
    return found
  }

  async function withText(listing: MemoryFileListing): Promise<ReadMemoryFile> {
    try {
      const text = await read(listing.path)
      return text === undefined ? listing : { ...listing, text }
    } catch (error) {
      return { ...listing, error }
    }
  }

  function listingAt(path: string): readonly MemoryFileListing[] {
    const facts = statIfPossible(`${directory}/${validateMemoryPath(path)}`)
    return facts?.isFile() ? [listingOf(path, facts)] : []
  }

  return {
    location: directory,
    directory,
    list,
    read,
    readAll,
    watch: () => new MemoryWatch(directory),

    async install(changes, { permanent = false } = {}) {
      for (const { path, text } of changes) checkMemoryText(validateMemoryPath(path), text)
      let isIntended = false
      try {
        return await locked(async (check) => {
          atStep("locked")
          await removeLeftovers(join(directory, LOCK))
          await removeDeadSockets(join(directory, LOCK))
          await complete(check)
          await recheckReplaced(directory)
          const intended = await checkChanges(directory, changes)
          atStep("checked")
          check()
          if (intended.length === 0) return { skipped: [] }
          if (intended.length === 1 && (options.isInternal || isInternalFile(intended[0]!.path)))
            return await replaceInternalFile(directory, intended[0]!)
          const intent = createIntent(intended)
          await writeIntent(intentPath, intent)
          isIntended = true
          await flushDirectory(directory) // from here on, a power cut leaves the complete change
          atStep("intended")
          const skipped = await carryOut({ directory, intent, check, atStep })
          if (permanent) {
            await recheckReplaced(directory, { all: true })
            await rm(join(directory, DAMAGED), { recursive: true, force: true })
          }
          atStep("completed")
          return { skipped }
        })
      } catch (cause) {
        if (cause instanceof StrataError) throw cause
        throw new MemoryWriteError({ location: directory, state: isIntended ? "unfinished" : "unchanged", cause })
      }
    },

    problems: async () => [...(await quarantineReports(directory)), ...(await listDamage(directory))],
    async notices() {
      await settle()
      return unreportedDamage(directory)
    },
  }
}

/**
 * Completes what a killed process started, as every reader does. Also removes copies of replaced texts that no editor writes to any more.
 */
export async function settleMemories(options: MemoryDirectoryOptions): Promise<void> {
  const { directory } = options
  if ((await exists(join(directory, INTENT))) || (await hasReplacedFiles(directory)))
    await memoryDirectory(options).list(undefined)
}

/** A file that only Strata writes, such as the daily totals. It never contains what a user wrote. */
const isInternalFile = (path: string) => path.startsWith(".") && !path.includes("/")

/** Replaces a file in one step, without waiting for the disk: it is written often, and what a power cut loses is computed again. */
async function replaceInternalFile(directory: string, { path, text }: IntendedChange): Promise<MemoryInstallReport> {
  const target = await makeFolder(directory, path)
  if (text === null) await rm(target, { force: true })
  else await writeText(target, text, { flush: false })
  return { skipped: [] }
}

/** The changes with the texts they replace, except those that change nothing. */
async function checkChanges(
  directory: string,
  changes: readonly MemoryFileChange[],
): Promise<readonly IntendedChange[]> {
  const found = await Promise.all(
    changes.map(async (change) => {
      const { path, text, expected } = change
      const before = (await currentText(directory, change)) ?? null
      return { path, before, text: text ?? null, isStale: expected !== undefined && expected !== before }
    }),
  )
  const stale = found.filter(({ isStale }) => isStale)
  if (stale.length > 0) throw new MemoryChangedError(stale.map(({ path }) => path))
  return found.filter(({ before, text }) => before !== text).map(({ path, before, text }) => ({ path, before, text }))
}

async function currentText(directory: string, change: MemoryFileChange): Promise<string | undefined> {
  try {
    return await readText(directory, change.path)
  } catch (error) {
    if (change.quarantinesUnreadable && isNotText(error)) return undefined
    throw error
  }
}

interface ListingWithIntent {
  readonly directory: string
  readonly waiting: Intent
  readonly under: string | undefined
  readonly found: readonly MemoryFileListing[]
}

/** The listing as it will be once the intent is carried out. */
async function withIntended({ directory, waiting, under, found }: ListingWithIntent): Promise<MemoryFileListing[]> {
  const listed = new Map(found.map((listing) => [listing.path, listing]))
  for (const { path } of waiting.changes) {
    const isWanted = under === undefined ? !/(?:^|\/)\./.test(path) : path.startsWith(`${under}/`)
    const text = await intendedText(directory, waiting, path).catch(() => undefined)
    const known = listed.get(path)
    if (text === undefined) listed.delete(path)
    else if (isWanted)
      listed.set(path, {
        path,
        modified: known?.modified ?? new Date().toISOString(),
        bytes: Buffer.byteLength(text),
        version: `${known?.version ?? ""}+${waiting.sum}`,
      })
  }
  return [...listed.values()]
}

const UNWRITABLE = new Set(["EACCES", "EPERM", "EROFS", "ENOSPC", "EDQUOT", "EFBIG"])

/** Whether the disk is full, or this user may not write there. */
const isUnwritable = (error: unknown): boolean => UNWRITABLE.has((error as NodeJS.ErrnoException).code ?? "")

interface Walk {
  readonly directory: string
  /** Path within the directory. Empty for the directory itself. */
  readonly folder: string
  readonly withHidden: boolean
  readonly found: MemoryFileListing[]
}

async function walk(step: Walk): Promise<void> {
  const { directory, folder, withHidden, found } = step
  const entries = await readdir(join(directory, folder), { withFileTypes: true }).catch((error: unknown) => {
    if (isMissing(error)) return []
    if (folder === "" || !isUnwritable(error)) throw error
    const closed = { bytes: 0, version: "closed", isUnlistable: true } as const
    found.push({ path: folder, modified: new Date(0).toISOString(), ...closed })
    return []
  })
  for (const entry of entries) {
    const path = folder === "" ? entry.name : `${folder}/${entry.name}`
    if (entry.name.endsWith(".draft") || (!withHidden && entry.name.startsWith(".")) || !isMemoryPath(path)) continue
    if (entry.isDirectory()) await walk({ ...step, folder: path })
    else if (entry.isFile()) {
      // a promise for each file would take ten times as long
      const facts = statIfPossible(`${directory}/${path}`)
      if (!facts?.isFile()) continue
      found.push(listingOf(path, facts))
      if (found.length % FILES_AT_ONCE === 0) await setImmediate()
    }
  }
}

function listingOf(path: string, { ino, size, mtimeMs, ctimeMs }: Stats): MemoryFileListing {
  const version = `${ino}-${size}-${mtimeMs}-${ctimeMs}`
  return { path, modified: new Date(mtimeMs).toISOString(), bytes: size, version }
}

/** Returns `undefined` if the file was removed in the meantime or is not accessible. */
function statIfPossible(file: string) {
  try {
    return lstatSync(file, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

export async function acquireMemoryLock(directory: string, clock: Clock): Promise<FileLock> {
  const deadline = performance.now() + LOCK_TIMEOUT_MS
  for (;;) {
    const attempt = await acquireLock(join(directory, LOCK), clock.now().toISOString())
    if (attempt.state === "acquired") return attempt.lock
    if (performance.now() > deadline) throw busyError(attempt.by, `is writing to ${directory} and does not finish`)
    await wait(LOCK_RETRY_MS)
  }
}

/** Serializes writes within this process. The lock is for other processes. */
const writes = new KeyedQueues<string>()
