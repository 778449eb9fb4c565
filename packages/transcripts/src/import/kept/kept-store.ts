/**
 * Sessions of other agents, copied before their owner deletes them: `kept` in Strata's directory, readable by its owner only. Pieces are
 * shared between sessions and removed once no session uses them. One process writes at a time; anyone reads.
 */
import { lstat, readdir, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { busyError, type Clock, reasonOf, systemClock } from "@strata/core/base"
import { acquireLock, FILE_MODE, makeDirectory } from "@strata/core/store"
import type { TranscriptFile } from "../places.ts"
import { keepSession } from "./keep-session.ts"
import { unpacked } from "./packed-file.ts"
import { Pieces } from "./pieces.ts"
import { type FoundRecord, type KeptRecord, keyOf, Records } from "./record.ts"
import { type RestoredSession, restoreSession } from "./restore.ts"

/** A kept session. */
export interface KeptSession {
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
  readonly sessions: readonly KeptSession[]
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

export class KeptStore {
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
  async restore({ key }: Pick<KeptSession, "key">, directory?: string): Promise<RestoredSession> {
    return restoreSession({ found: await this.#records.find(key), pieces: this.#pieces, directory })
  }

  /** What erasing these sessions would free. */
  async freedBy(sessions: readonly Pick<KeptSession, "key">[]): Promise<number> {
    const keys = new Set(sessions.map(({ key }) => key))
    const all = await this.#records.all()
    const used = new Set(all.filter(({ key }) => !keys.has(key)).flatMap(({ pieces }) => pieces))
    const own = new Map(all.flatMap(({ key, record }) => (keys.has(key) && record ? piecesOf(record) : [])))
    return [...own].reduce((sum, [hash, bytes]) => sum + (used.has(hash) ? 0 : bytes), 0)
  }

  /** Removes sessions, and the pieces that no other one uses. One that is still at its place is not kept again by itself. */
  async erase(sessions: readonly Pick<KeptSession, "key">[]): Promise<number> {
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

async function sessionOf({ key, file }: FoundRecord, record: KeptRecord): Promise<KeptSession> {
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
