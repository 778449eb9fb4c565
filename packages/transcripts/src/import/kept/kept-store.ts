/**
 * Sessions of other agents, copied before their owner deletes them: `kept` in Strata's directory, readable by its owner only. Pieces are
 * shared between sessions and removed once no session uses them. One process writes at a time; anyone reads.
 */

import { link, lstat, open, readdir, rm, writeFile } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import { busyError, type Clock, reasonOf, StrataError, systemClock } from "@strata/core/base"
import { acquireLock, FILE_MODE, makeDirectory } from "@strata/core/store"
import type { TranscriptFile } from "../places.ts"
import { packFile, unpacked } from "./packed-file.ts"
import { Pieces } from "./pieces.ts"
import { earlierKey, type FoundRecord, isSafeName, type KeptFile, type KeptRecord, keyOf, Records } from "./record.ts"
import { aboutOf, type FoundFile, filesOf } from "./session-files.ts"

// One session kept: what is new since the last time is stored, and the record then names all of it. A file that its owner removed stays
// kept. Where a file does not continue what was kept, the earlier state stays as a session of its own.

export interface KeepingPlace {
  readonly records: Records
  readonly pieces: Pieces
}

export type KeepOutcome =
  | { readonly state: "unchanged" | "gone" }
  /** `bytes`: of the files that are new or have changed. */
  | { readonly state: "kept" | "due"; readonly isNew: boolean; readonly bytes: number }

export interface SessionToKeep {
  readonly source: TranscriptFile
  readonly now: string
  /** Only say what would be done. */
  readonly dryRun?: boolean
  /** Read every file again, also those that look unchanged: to mend what is damaged. */
  readonly readAll?: boolean
}

export async function keepSession(session: SessionToKeep, { records, pieces }: KeepingPlace): Promise<KeepOutcome> {
  const { source, now, dryRun = false, readAll = false } = session
  const key = keyOf(source.path)
  const before = (await records.find(key)).record
  const found = await filesOf(source.program, source.path)
  if (found.length === 0) return { state: "gone" }
  const known = new Map(before?.files.map((file) => [file.name, file]))
  const changed = found.filter((file) => readAll || !isSame(file, known.get(file.name)))
  if (changed.length === 0) return { state: "unchanged" }
  const outcome = { isNew: before === undefined, bytes: changed.reduce((sum, { size }) => sum + size, 0) }
  if (dryRun) return { state: "due", ...outcome }

  const files: KeptFile[] = []
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
  if (transcript?.name !== found[0]!.name) return { state: "gone" } // removed while it was read
  const removed = (before?.files ?? []).filter(({ name }) => !files.some((file) => file.name === name))
  const { program, path, id } = source
  const record: KeptRecord = {
    ...{ version: 1, program, id, path, ...(await aboutOf(path)), keptAt: now },
    files: [transcript, ...others, ...removed],
  }
  await pieces.settle()
  if (before && !continues) await records.write(earlierKey(key, before), before)
  await records.write(key, record)
  return { state: "kept", ...outcome }
}

const isSame = (found: FoundFile, kept: KeptFile | undefined): boolean =>
  kept !== undefined && kept.size === found.size && kept.modifiedMs === found.modifiedMs

// Puts the files of a kept session back, byte for byte. All of it is checked first, and no file is overwritten.

/** What was put back. */
export interface RestoredSession {
  /** The transcript. */
  readonly path: string
  readonly files: number
  readonly bytes: number
}

interface Restoring {
  readonly found: FoundRecord
  readonly pieces: Pieces
  /** Default: where the session was. */
  readonly directory?: string | undefined
}

export async function restoreSession({ found, pieces, directory }: Restoring): Promise<RestoredSession> {
  const { record, file } = found
  if (!record)
    throw new StrataError(
      `The record ${file} is missing or damaged. Nothing was restored. Run "strata archive check".`,
      {
        code: "damaged",
      },
    )
  const folder = resolve(directory ?? dirname(record.path))
  for (const each of record.files) await checkTarget(each, folder)
  for (const each of record.files) for await (const _ of unpacked(each, pieces));
  const written: string[] = []
  try {
    for (const each of record.files) {
      const path = join(folder, each.name)
      await writeNew(path, unpacked(each, pieces))
      written.push(path)
    }
  } catch (error) {
    for (const path of written) await rm(path, { force: true })
    throw error
  }
  const bytes = record.files.reduce((sum, { size }) => sum + size, 0)
  return { path: written[0]!, files: written.length, bytes }
}

async function checkTarget({ name }: KeptFile, folder: string): Promise<void> {
  if (!isSafeName(name))
    throw new StrataError(`The record names a file outside its folder: ${JSON.stringify(name)}. Nothing was restored.`)
  const path = join(folder, name)
  for (let parent = dirname(path); parent !== folder; parent = dirname(parent))
    if ((await lstat(parent).catch(() => undefined))?.isSymbolicLink())
      throw new StrataError(`${parent} is a link to another place. Nothing was restored. Name another directory.`)
  if (await lstat(path).catch(() => undefined))
    throw new StrataError(`${path} is there already. Nothing was restored. Name another directory.`, { code: "exists" })
}

/** The name appears only once all bytes are on disk, and never in place of another file. */
async function writeNew(path: string, content: AsyncIterable<Buffer>): Promise<void> {
  await makeDirectory(dirname(path))
  const draft = `${path}.${process.pid}.strata-new` // what a killed process left is in no one's way
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

/** A kept session. */
export interface ArchivedSession {
  /** Unique among kept sessions. */
  readonly key: string
  readonly program: TranscriptFile["program"]
  /** The program's own id of it. Two states of one session share it. */
  readonly id: string
  /** What `readTranscripts` takes, whether the session is still at its place or not. */
  readonly path: string
  /** Where the program had it. */
  readonly place: string
  readonly isAtPlace: boolean
  /** An earlier state, which the file at its place does not continue. */
  readonly isEarlier: boolean
  /** The directory that it worked in. */
  readonly project?: string
  readonly title?: string
  /** When it was last kept, in ISO 8601. */
  readonly keptAt: string
  readonly modifiedMs: number
  /** Of all its files. */
  readonly size: number
  /** What its pieces take, also those that other sessions share. */
  readonly storedBytes: number
}

/** What is in the store. */
export interface KeptList {
  /** Newest first. */
  readonly sessions: readonly ArchivedSession[]
  /** What all pieces take together. */
  readonly storedBytes: number
  /** Files of records that cannot be read. */
  readonly damaged: readonly string[]
}

/** How far keeping is. */
export interface KeepProgress {
  readonly done: number
  readonly of: number
}

/** Options of `keep`. */
export interface KeepOptions {
  /** Only say what would be kept. */
  readonly dryRun?: boolean
  /** Also sessions that were erased here before. */
  readonly again?: boolean
  readonly onProgress?: (progress: KeepProgress) => void
}

/** What was kept. Counts are of sessions. */
export interface KeepReport {
  readonly added: number
  readonly grown: number
  readonly unchanged: number
  /** Erased here before, and so left alone. */
  readonly erased: number
  /** Of the files that are new or have changed. */
  readonly bytes: number
  /** What could not be kept, and why. */
  readonly failed: readonly { readonly path: string; readonly why: string }[]
}

/** What a check of every piece found. */
export interface KeptCheck {
  readonly sessions: number
  /** Damaged, and kept again from the file at its place. */
  readonly mended: readonly string[]
  /** Damaged, and the file is gone. */
  readonly lost: readonly string[]
}

export interface KeptStoreOptions {
  /** Strata's directory. */
  readonly root: string
  /** The sessions on this machine. */
  readonly found: () => Promise<readonly TranscriptFile[]>
  readonly clock?: Clock
}

const SIDE_BY_SIDE = 8 // sessions: most of the time goes by while the disk flushes

export class SessionArchive {
  readonly #directory: string
  readonly #records: Records
  readonly #pieces: Pieces
  readonly #found: KeptStoreOptions["found"]
  readonly #clock: Clock

  constructor({ root, found, clock = systemClock }: KeptStoreOptions) {
    this.#directory = join(root, "kept")
    this.#records = new Records(join(this.#directory, "sessions"))
    this.#pieces = new Pieces(join(this.#directory, "pieces"))
    this.#found = found
    this.#clock = clock
  }

  async list(): Promise<KeptList> {
    const all = await this.#records.all()
    const sessions = await Promise.all(all.flatMap((each) => (each.record ? [sessionOf(each, each.record)] : [])))
    const pieces = new Map(all.flatMap(({ record }) => (record ? piecesOf(record) : [])))
    return {
      sessions: sessions.sort((a, b) => b.modifiedMs - a.modifiedMs || (a.key < b.key ? -1 : 1)),
      storedBytes: [...pieces.values()].reduce((sum, bytes) => sum + bytes, 0),
      damaged: all.flatMap(({ record, file }) => (record ? [] : [file])),
    }
  }

  /** Copies what is new on this machine. */
  async keep(options: KeepOptions = {}): Promise<KeepReport> {
    if (options.dryRun) return this.#keepAll(options)
    return this.#alone(async () => {
      if (options.again) await rm(this.#erasedFolder, { recursive: true, force: true })
      const report = await this.#keepAll(options)
      await this.#sweep() // tails that have grown since, and what a killed process left
      return report
    })
  }

  async #keepAll({ dryRun = false, again = false, onProgress }: KeepOptions): Promise<KeepReport> {
    const sources = await this.#found()
    const erased = new Set(again ? [] : await readdir(this.#erasedFolder).catch(() => []))
    const counts = { added: 0, grown: 0, unchanged: 0, erased: 0, bytes: 0 }
    const failed: { path: string; why: string }[] = []
    const now = this.#clock.now().toISOString()
    const keepOne = async (source: TranscriptFile) => {
      if (erased.has(keyOf(source.path))) {
        counts.erased++
        return
      }
      const outcome = await keepSession({ source, now, dryRun }, this.#place)
      if (outcome.state === "unchanged") counts.unchanged++
      if (outcome.state === "kept" || outcome.state === "due") {
        counts[outcome.isNew ? "added" : "grown"]++
        counts.bytes += outcome.bytes
      }
    }
    const waiting = sources.entries()
    const worker = async () => {
      for (const [done, source] of waiting) {
        onProgress?.({ done, of: sources.length })
        await keepOne(source).catch((error) => failed.push({ path: source.path, why: reasonOf(error) }))
      }
    }
    await Promise.all(Array.from({ length: SIDE_BY_SIDE }, worker))
    return { ...counts, failed }
  }

  /** Puts a session's files back, byte for byte: at their place, or into a directory. Nothing is overwritten. */
  async restore({ key }: Pick<ArchivedSession, "key">, directory?: string): Promise<RestoredSession> {
    return restoreSession({ found: await this.#records.find(key), pieces: this.#pieces, directory })
  }

  /** What erasing these sessions would free. */
  async freedBy(sessions: readonly Pick<ArchivedSession, "key">[]): Promise<number> {
    const keys = new Set(sessions.map(({ key }) => key))
    const all = await this.#records.all()
    const used = new Set(all.filter(({ key }) => !keys.has(key)).flatMap(({ pieces }) => pieces))
    const own = new Map(all.flatMap(({ key, record }) => (keys.has(key) && record ? piecesOf(record) : [])))
    return [...own].reduce((sum, [hash, bytes]) => sum + (used.has(hash) ? 0 : bytes), 0)
  }

  /** Removes sessions, and the pieces that no other one uses. One that is still at its place is not kept again by itself. */
  async erase(sessions: readonly Pick<ArchivedSession, "key">[]): Promise<number> {
    return this.#alone(async () => {
      await makeDirectory(this.#erasedFolder)
      for (const { key } of sessions) {
        const { record } = await this.#records.find(key)
        const isNewest = record !== undefined && key === keyOf(record.path) // an earlier state goes alone
        if (isNewest && (await isThere(record.path)))
          await writeFile(join(this.#erasedFolder, keyOf(record.path)), "", { mode: FILE_MODE })
        await this.#records.remove(key)
      }
      return this.#sweep()
    })
  }

  /** Reads every piece. What is damaged is kept again if its file is still there. */
  async check(): Promise<KeptCheck> {
    return this.#alone(async () => {
      const sources = new Map((await this.#found()).map((source) => [keyOf(source.path), source]))
      const mended: string[] = []
      const lost: string[] = []
      const all = await this.#records.all()
      for (const found of all) {
        if (found.record && (await this.#isIntact(found.record))) continue
        const source = sources.get(found.key)
        const now = this.#clock.now().toISOString()
        if (source) await keepSession({ source, now, readAll: true }, this.#place)
        const { record } = await this.#records.find(found.key)
        const isMended = record !== undefined && (await this.#isIntact(record))
        ;(isMended ? mended : lost).push(record?.path ?? found.file)
      }
      return { sessions: all.length, mended, lost }
    })
  }

  get #place() {
    return { records: this.#records, pieces: this.#pieces }
  }

  get #erasedFolder(): string {
    return join(this.#directory, "erased")
  }

  async #isIntact(record: KeptRecord): Promise<boolean> {
    try {
      for (const file of record.files) for await (const _ of unpacked(file, this.#pieces));
      return true
    } catch {
      return false
    }
  }

  async #sweep(): Promise<number> {
    await this.#records.removeDrafts()
    const named = new Set((await this.#records.all()).flatMap(({ pieces }) => pieces))
    return this.#pieces.removeOthers(named)
  }

  async #alone<T>(work: () => Promise<T>): Promise<T> {
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

const piecesOf = ({ files }: KeptRecord) =>
  files.flatMap(({ pieces }) => pieces.map(({ hash, bytes }) => [hash, bytes] as const))

const isThere = async (path: string): Promise<boolean> => (await lstat(path).catch(() => undefined))?.isFile() === true

async function sessionOf({ key, file }: FoundRecord, record: KeptRecord): Promise<ArchivedSession> {
  const { program, id, path: place, project, title, keptAt, files } = record
  return {
    ...{ key, program, id, path: file, place, keptAt, modifiedMs: files[0].modifiedMs },
    isAtPlace: await isThere(place),
    isEarlier: key !== keyOf(place),
    ...(project === undefined ? {} : { project }),
    ...(title === undefined ? {} : { title }),
    size: files.reduce((sum, { size }) => sum + size, 0),
    storedBytes: [...new Map(piecesOf(record)).values()].reduce((sum, bytes) => sum + bytes, 0),
  }
}
