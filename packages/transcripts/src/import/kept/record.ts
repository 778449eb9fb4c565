/** What is written down about a kept session: where it was, and which pieces its files are made of. One checksummed line per session. */
import { hash } from "node:crypto"
import { lstat, readdir, readFile, rm } from "node:fs/promises"
import { join } from "node:path"
import { StrataError } from "@strata/core/base"
import { isWhole, makeDirectory, withoutSum, withSum } from "@strata/core/store"
import type { TranscriptFile } from "../places.ts"
import { DRAFT, flushFolder, type StoredPiece, writeDurably } from "./pieces.ts"

export interface KeptFile {
  /** Relative to the folder that the transcript was in, with `/`. */
  readonly name: string
  readonly size: number
  readonly modifiedMs: number
  readonly sha256: string
  /** This text is stored as one zero byte: two forks of a session differ in every line by their id alone. */
  readonly id?: string
  readonly pieces: readonly StoredPiece[]
}

export interface KeptRecord {
  readonly version: 1
  readonly program: TranscriptFile["program"]
  readonly id: string
  /** Where the transcript was. */
  readonly path: string
  /** The directory that the session worked in. */
  readonly project?: string
  readonly title?: string
  /** ISO 8601. */
  readonly keptAt: string
  /** The transcript first. */
  readonly files: readonly [KeptFile, ...KeptFile[]]
}

export interface FoundRecord {
  readonly key: string
  /** The record's own file. */
  readonly file: string
  /** Missing if it is damaged. */
  readonly record?: KeptRecord
  /** Pieces that it names, also where only they can be read. */
  readonly pieces: readonly string[]
}

const EXTENSION = ".json"
const ANY_HASH = /\b[0-9a-f]{64}\b/g

/** By the place of the transcript: a session that is kept again has the same. */
export const keyOf = (path: string): string => hash("sha256", path, "hex").slice(0, 24)

/** The key of an earlier state, which the transcript does not continue. */
export const earlierKey = (key: string, { files }: KeptRecord): string => `${key}-${files[0].sha256.slice(0, 8)}`

export class Records {
  readonly directory: string

  constructor(directory: string) {
    this.directory = directory
  }

  file(key: string): string {
    return join(this.directory, `${key}${EXTENSION}`)
  }

  async all(): Promise<readonly FoundRecord[]> {
    const names = (await namesIn(this.directory)).filter((name) => name.endsWith(EXTENSION))
    const found: FoundRecord[] = []
    for (const name of names.toSorted()) found.push(await this.find(name.slice(0, -EXTENSION.length)))
    return found
  }

  async find(key: string): Promise<FoundRecord> {
    const file = this.file(key)
    const bytes = await readRecordFile(file)
    const record = recordIn(bytes)
    const named = record ? record.files.flatMap(({ pieces }) => pieces.map((piece) => piece.hash)) : undefined
    // of a damaged record, whatever looks like a piece stays
    const pieces = named ?? bytes.toString("latin1").match(ANY_HASH) ?? []
    return { key, file, pieces, ...(record ? { record } : {}) }
  }

  async write(key: string, record: KeptRecord): Promise<void> {
    await makeDirectory(this.directory)
    await writeDurably(this.file(key), withSum(JSON.stringify(record)))
    await flushFolder(this.directory)
  }

  /** What a killed process left. */
  async removeDrafts(): Promise<void> {
    const names = await namesIn(this.directory)
    for (const name of names.filter((each) => each.endsWith(DRAFT)))
      await rm(join(this.directory, name), { force: true })
  }

  async remove(key: string): Promise<void> {
    await rm(this.file(key), { force: true })
    await flushFolder(this.directory)
  }
}

const MAX_BYTES = 64 * 1024 * 1024 // of a record: a session of 100 GB

/** A record that cannot be read now is no record that is gone: its pieces would be removed. */
const ifMissing =
  <T>(instead: T) =>
  (error: unknown): T => {
    if (Object(error).code === "ENOENT") return instead
    throw error
  }

const namesIn = (directory: string): Promise<string[]> => readdir(directory).catch(ifMissing<string[]>([]))

async function readRecordFile(file: string): Promise<Buffer> {
  const facts = await lstat(file).catch(ifMissing(undefined))
  if (!facts?.isFile()) return Buffer.alloc(0)
  if (facts.size > MAX_BYTES)
    throw new StrataError(`The record ${file} is too large to be one of Strata's. Nothing was changed. Move it away.`)
  return readFile(file)
}

/** The record in a file's bytes, if they are one. */
export function recordIn(bytes: Buffer): KeptRecord | undefined {
  const line = bytes.subarray(0, -1) // without its line end
  if (!isWhole(line)) return undefined
  const record = JSON.parse(withoutSum(line)) as KeptRecord
  return record.version === 1 && Array.isArray(record.files) && record.files.length > 0 ? record : undefined
}

/** A name that stays below the folder it is put into. */
export function isSafeName(name: string): boolean {
  const parts = name.split("/")
  return (
    parts.length > 0 && parts.every((part) => part !== "" && part !== "." && part !== ".." && !/[\\\0:]/.test(part))
  )
}
