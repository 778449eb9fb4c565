/**
 * Archives sessions of other agents before those delete them, in the directory `kept` of Strata's directory, readable by its owner only.
 * Chunks are shared between sessions and removed when no session uses them. One process writes at a time; any process reads.
 */

import { link, lstat, open, readdir, rm, writeFile } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import { busyError, type Clock, errorReason, StrataError, systemClock } from "@strata/core/base"
import { acquireLock, FILE_MODE, makeDirectory } from "@strata/core/store"
import type { TranscriptFile } from "../find-transcripts.ts"
import { ChunkStore } from "./chunks.ts"
import {
  type ArchivedFile,
  earlierVersionKey,
  type FoundManifest,
  isSafeName,
  ManifestStore,
  type SessionManifest,
  sessionKey,
} from "./manifest.ts"
import { packFile, readArchivedFile } from "./packed-file.ts"
import { type FoundFile, listSessionFiles, readSessionHeader } from "./session-files.ts"

// Archives one session: stores new content, then writes a manifest that names all of it. Files that the program deleted stay archived. If a
// file does not continue its archived version, the earlier version remains as a separate session.

export interface ArchiveStores {
  readonly records: ManifestStore
  readonly pieces: ChunkStore
}

export type ArchiveOutcome =
  | { readonly state: "unchanged" | "gone" }
  /** `bytes` is the size of new and changed files. */
  | { readonly state: "archived" | "due"; readonly isNew: boolean; readonly bytes: number }

export interface ArchiveSessionOptions {
  readonly source: TranscriptFile
  readonly now: string
  /** Reports what would be archived, without writing. */
  readonly dryRun?: boolean
  /** Reads all files, including those that look unchanged, to repair damage. */
  readonly readAll?: boolean
}

export async function archiveSession(
  session: ArchiveSessionOptions,
  { records, pieces }: ArchiveStores,
): Promise<ArchiveOutcome> {
  const { source, now, dryRun = false, readAll = false } = session
  const key = sessionKey(source.path)
  const before = (await records.find(key)).manifest
  const found = await listSessionFiles(source.program, source.path)
  if (found.length === 0) return { state: "gone" }
  const known = new Map(before?.files.map((file) => [file.name, file]))
  const changed = found.filter((file) => readAll || !isSame(file, known.get(file.name)))
  if (changed.length === 0) return { state: "unchanged" }
  const outcome = { isNew: before === undefined, bytes: changed.reduce((sum, { size }) => sum + size, 0) }
  if (dryRun) return { state: "due", ...outcome }

  const files: ArchivedFile[] = []
  let continues = true
  for (const file of found) {
    const kept = known.get(file.name)
    if (kept && !changed.includes(file)) {
      files.push(kept)
      continue
    }
    const packed = await packFile(file, { pieces, before: kept })
    if (packed) files.push(packed.file)
    if (packed && !packed.continues) continues = false
  }
  const [transcript, ...others] = files
  if (transcript?.name !== found[0]!.name) return { state: "gone" } // the file was removed while it was read
  const removed = (before?.files ?? []).filter(({ name }) => !files.some((file) => file.name === name))
  const { program, path, id } = source
  const record: SessionManifest = {
    ...{ version: 1, program, id, path, ...(await readSessionHeader(path)), keptAt: now },
    files: [transcript, ...others, ...removed],
  }
  await pieces.settle()
  if (before && !continues) await records.write(earlierVersionKey(key, before), before)
  await records.write(key, record)
  return { state: "archived", ...outcome }
}

const isSame = (found: FoundFile, kept: ArchivedFile | undefined): boolean =>
  kept !== undefined && kept.size === found.size && kept.modifiedMs === found.modifiedMs

// Restores the files of an archived session byte for byte. All of them are verified first, and no file is overwritten.

/** Result of a restore. */
export interface RestoredSession {
  /** Path of the transcript. */
  readonly path: string
  readonly files: number
  readonly bytes: number
}

interface RestoreOptions {
  readonly found: FoundManifest
  readonly pieces: ChunkStore
  /** Default: the original directory. */
  readonly directory?: string | undefined
}

export async function restoreSession({ found, pieces, directory }: RestoreOptions): Promise<RestoredSession> {
  const { manifest, file } = found
  if (!manifest)
    throw new StrataError(
      `The manifest ${file} is missing or damaged. Nothing was restored. Run "strata archive check".`,
      {
        code: "damaged",
      },
    )
  const folder = resolve(directory ?? dirname(manifest.path))
  for (const each of manifest.files) await checkTarget(each, folder)
  for (const each of manifest.files) for await (const _ of readArchivedFile(each, pieces));
  const written: string[] = []
  try {
    for (const each of manifest.files) {
      const path = join(folder, each.name)
      await writeNew(path, readArchivedFile(each, pieces))
      written.push(path)
    }
  } catch (error) {
    for (const path of written) await rm(path, { force: true })
    throw error
  }
  const bytes = manifest.files.reduce((sum, { size }) => sum + size, 0)
  return { path: written[0]!, files: written.length, bytes }
}

async function checkTarget({ name }: ArchivedFile, folder: string): Promise<void> {
  if (!isSafeName(name))
    throw new StrataError(
      `The manifest names a file outside its folder: ${JSON.stringify(name)}. Nothing was restored.`,
    )
  const path = join(folder, name)
  for (let parent = dirname(path); parent !== folder; parent = dirname(parent))
    if ((await lstat(parent).catch(() => undefined))?.isSymbolicLink())
      throw new StrataError(`${parent} is a symbolic link. Nothing was restored. Choose another directory.`)
  if (await lstat(path).catch(() => undefined))
    throw new StrataError(`${path} already exists. Nothing was restored. Choose another directory.`, { code: "exists" })
}

/** Writes to a draft first, so that the name appears only once all bytes are on disk. Never replaces another file. */
async function writeNew(path: string, content: AsyncIterable<Buffer>): Promise<void> {
  await makeDirectory(dirname(path))
  const draft = `${path}.${process.pid}.strata-new` // a draft of a killed process has another name
  const file = await open(draft, "wx", FILE_MODE)
  try {
    try {
      for await (const bytes of content) await file.writeFile(bytes)
      await file.sync()
    } finally {
      await file.close()
    }
    await link(draft, path)
  } finally {
    await rm(draft, { force: true })
  }
}

/** An archived session. */
export interface ArchivedSession {
  /** Unique among archived sessions. */
  readonly key: string
  readonly program: TranscriptFile["program"]
  /** The program's session id. Two versions of one session share it. */
  readonly id: string
  /** Path for `readTranscripts`, which works even if the original file is gone. */
  readonly path: string
  /** The original path. */
  readonly originalPath: string
  readonly originalExists: boolean
  /** Whether this is an earlier version, which the original file does not continue. */
  readonly isEarlier: boolean
  /** Working directory of the session. */
  readonly project?: string
  readonly title?: string
  /** When it was last archived, in ISO 8601. */
  readonly archivedAt: string
  readonly modifiedMs: number
  /** Total size of the session's files. */
  readonly size: number
  /** Size of its chunks on disk, including those shared with other sessions. */
  readonly storedBytes: number
}

/** Content of the archive. */
export interface ArchiveList {
  /** The sessions, newest first. */
  readonly sessions: readonly ArchivedSession[]
  /** Size of all chunks on disk. */
  readonly storedBytes: number
  /** Paths of unreadable manifests. */
  readonly damaged: readonly string[]
}

/** Progress of archiving. */
export interface ArchiveProgress {
  readonly done: number
  readonly of: number
}

/** Options of `keep`. */
export interface UpdateArchiveOptions {
  /** Reports what would be archived, without writing. */
  readonly dryRun?: boolean
  /** Includes sessions that were erased from the archive before. */
  readonly again?: boolean
  readonly onProgress?: (progress: ArchiveProgress) => void
}

/** Result of archiving. Counts are numbers of sessions. */
export interface ArchiveReport {
  readonly added: number
  readonly grown: number
  readonly unchanged: number
  /** Skipped because they were erased from the archive before. */
  readonly erased: number
  /** Size of new and changed files. */
  readonly bytes: number
  /** Sessions that could not be archived, with the reason. */
  readonly failed: readonly { readonly path: string; readonly why: string }[]
}

/** Result of verifying every chunk. */
export interface ArchiveCheck {
  readonly sessions: number
  /** Paths of sessions that were damaged and archived again from the original file. */
  readonly mended: readonly string[]
  /** Paths of sessions that are damaged and whose original file is gone. */
  readonly lost: readonly string[]
}

export interface SessionArchiveOptions {
  /** Strata's directory. */
  readonly root: string
  /** Lists the sessions on this machine. */
  readonly found: () => Promise<readonly TranscriptFile[]>
  readonly clock?: Clock
}

const MAX_CONCURRENT = 8 // sessions archived concurrently: most of the time is spent flushing to disk

export class SessionArchive {
  readonly #directory: string
  readonly #records: ManifestStore
  readonly #pieces: ChunkStore
  readonly #found: SessionArchiveOptions["found"]
  readonly #clock: Clock

  constructor({ root, found, clock = systemClock }: SessionArchiveOptions) {
    this.#directory = join(root, "kept")
    this.#records = new ManifestStore(join(this.#directory, "sessions"))
    this.#pieces = new ChunkStore(join(this.#directory, "pieces"))
    this.#found = found
    this.#clock = clock
  }

  async list(): Promise<ArchiveList> {
    const all = await this.#records.all()
    const sessions = await Promise.all(all.flatMap((each) => (each.manifest ? [sessionOf(each, each.manifest)] : [])))
    const pieces = new Map(all.flatMap(({ manifest }) => (manifest ? chunksOf(manifest) : [])))
    return {
      sessions: sessions.sort((a, b) => b.modifiedMs - a.modifiedMs || (a.key < b.key ? -1 : 1)),
      storedBytes: [...pieces.values()].reduce((sum, bytes) => sum + bytes, 0),
      damaged: all.flatMap(({ manifest, file }) => (manifest ? [] : [file])),
    }
  }

  /** Archives new content of the sessions on this machine. */
  async update(options: UpdateArchiveOptions = {}): Promise<ArchiveReport> {
    if (options.dryRun) return this.#archiveAll(options)
    return this.#withLock(async () => {
      if (options.again) await rm(this.#erasedFolder, { recursive: true, force: true })
      const report = await this.#archiveAll(options)
      await this.#sweep() // removes outdated last chunks, and drafts of killed processes
      return report
    })
  }

  async #archiveAll({ dryRun = false, again = false, onProgress }: UpdateArchiveOptions): Promise<ArchiveReport> {
    const sources = await this.#found()
    const erased = new Set(again ? [] : await readdir(this.#erasedFolder).catch(() => []))
    const counts = { added: 0, grown: 0, unchanged: 0, erased: 0, bytes: 0 }
    const failed: { path: string; why: string }[] = []
    const now = this.#clock.now().toISOString()
    const archiveOne = async (source: TranscriptFile) => {
      if (erased.has(sessionKey(source.path))) {
        counts.erased++
        return
      }
      const outcome = await archiveSession({ source, now, dryRun }, this.#stores)
      if (outcome.state === "unchanged") counts.unchanged++
      if (outcome.state === "archived" || outcome.state === "due") {
        counts[outcome.isNew ? "added" : "grown"]++
        counts.bytes += outcome.bytes
      }
    }
    const waiting = sources.entries()
    const worker = async () => {
      for (const [done, source] of waiting) {
        onProgress?.({ done, of: sources.length })
        await archiveOne(source).catch((error) => failed.push({ path: source.path, why: errorReason(error) }))
      }
    }
    await Promise.all(Array.from({ length: MAX_CONCURRENT }, worker))
    return { ...counts, failed }
  }

  /** Restores a session's files byte for byte: to their original paths, or into a directory. Nothing is overwritten. */
  async restore({ key }: Pick<ArchivedSession, "key">, directory?: string): Promise<RestoredSession> {
    return restoreSession({ found: await this.#records.find(key), pieces: this.#pieces, directory })
  }

  /** Bytes that erasing these sessions would free. */
  async freedBy(sessions: readonly Pick<ArchivedSession, "key">[]): Promise<number> {
    const keys = new Set(sessions.map(({ key }) => key))
    const all = await this.#records.all()
    const used = new Set(all.filter(({ key }) => !keys.has(key)).flatMap(({ chunks }) => chunks))
    const own = new Map(all.flatMap(({ key, manifest }) => (keys.has(key) && manifest ? chunksOf(manifest) : [])))
    return [...own].reduce((sum, [hash, bytes]) => sum + (used.has(hash) ? 0 : bytes), 0)
  }

  /**
   * Removes sessions, and the chunks that no other session uses. If the original file still exists, it is not archived again automatically.
   */
  async erase(sessions: readonly Pick<ArchivedSession, "key">[]): Promise<number> {
    return this.#withLock(async () => {
      await makeDirectory(this.#erasedFolder)
      for (const { key } of sessions) {
        const { manifest } = await this.#records.find(key)
        const isNewest = manifest !== undefined && key === sessionKey(manifest.path) // erasing an earlier version does not affect the newest one
        if (isNewest && (await isThere(manifest.path)))
          await writeFile(join(this.#erasedFolder, sessionKey(manifest.path)), "", { mode: FILE_MODE })
        await this.#records.remove(key)
      }
      return this.#sweep()
    })
  }

  /** Verifies every chunk and repairs damaged sessions if their original file still exists. */
  async check(): Promise<ArchiveCheck> {
    return this.#withLock(async () => {
      const sources = new Map((await this.#found()).map((source) => [sessionKey(source.path), source]))
      const mended: string[] = []
      const lost: string[] = []
      const all = await this.#records.all()
      for (const found of all) {
        if (found.manifest && (await this.#isIntact(found.manifest))) continue
        const source = sources.get(found.key)
        const now = this.#clock.now().toISOString()
        if (source) await archiveSession({ source, now, readAll: true }, this.#stores)
        const { manifest } = await this.#records.find(found.key)
        const isMended = manifest !== undefined && (await this.#isIntact(manifest))
        ;(isMended ? mended : lost).push(manifest?.path ?? found.file)
      }
      return { sessions: all.length, mended, lost }
    })
  }

  get #stores() {
    return { records: this.#records, pieces: this.#pieces }
  }

  get #erasedFolder(): string {
    return join(this.#directory, "erased")
  }

  async #isIntact(record: SessionManifest): Promise<boolean> {
    try {
      for (const file of record.files) for await (const _ of readArchivedFile(file, this.#pieces));
      return true
    } catch {
      return false
    }
  }

  async #sweep(): Promise<number> {
    await this.#records.removeDrafts()
    const named = new Set((await this.#records.all()).flatMap(({ chunks }) => chunks))
    return this.#pieces.removeOthers(named)
  }

  async #withLock<T>(work: () => Promise<T>): Promise<T> {
    await makeDirectory(this.#directory)
    const attempt = await acquireLock(join(this.#directory, "lock"), this.#clock.now().toISOString())
    if (attempt.state === "held") throw busyError(attempt.by, "keeps sessions")
    try {
      return await work()
    } finally {
      await attempt.lock.release()
    }
  }
}

const chunksOf = ({ files }: SessionManifest) =>
  files.flatMap(({ pieces }) => pieces.map(({ hash, bytes }) => [hash, bytes] as const))

const isThere = async (path: string): Promise<boolean> => (await lstat(path).catch(() => undefined))?.isFile() === true

async function sessionOf({ key, file }: FoundManifest, record: SessionManifest): Promise<ArchivedSession> {
  const { program, id, path: originalPath, project, title, keptAt: archivedAt, files } = record
  return {
    ...{ key, program, id, path: file, originalPath, archivedAt, modifiedMs: files[0].modifiedMs },
    originalExists: await isThere(originalPath),
    isEarlier: key !== sessionKey(originalPath),
    ...(project === undefined ? {} : { project }),
    ...(title === undefined ? {} : { title }),
    size: files.reduce((sum, { size }) => sum + size, 0),
    storedBytes: [...new Map(chunksOf(record)).values()].reduce((sum, bytes) => sum + bytes, 0),
  }
}
