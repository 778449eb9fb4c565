/** Manifests of archived sessions: the original path, and the chunks of each file. One checksummed line per session. */
import { hash } from "node:crypto"
import { lstat, readdir, readFile, rm } from "node:fs/promises"
import { join } from "node:path"
import { StrataError } from "@strata/core/base"
import { isCompleteLine, makeDirectory, withoutSum, withSum } from "@strata/core/store"
import type { TranscriptFile } from "../find-transcripts.ts"
import { DRAFT, flushFolder, type StoredChunk, writeDurably } from "./chunks.ts"

export interface ArchivedFile {
  /** Path relative to the transcript's folder, with `/`. */
  readonly name: string
  readonly size: number
  readonly modifiedMs: number
  readonly sha256: string
  /** Text that is stored as one zero byte: in every line, two forks of a session differ by their id only. */
  readonly id?: string
  readonly pieces: readonly StoredChunk[]
}

export interface SessionManifest {
  readonly version: 1
  readonly program: TranscriptFile["program"]
  readonly id: string
  /** Original path of the transcript. */
  readonly path: string
  /** Working directory of the session. */
  readonly project?: string
  readonly title?: string
  /** When the session was last archived, in ISO 8601. */
  readonly keptAt: string
  /** The transcript comes first. */
  readonly files: readonly [ArchivedFile, ...ArchivedFile[]]
}

export interface FoundManifest {
  readonly key: string
  /** Path of the manifest. */
  readonly file: string
  /** Absent if the manifest is damaged. */
  readonly manifest?: SessionManifest
  /** Hashes of the chunks it names, even if the rest of the manifest is unreadable. */
  readonly chunks: readonly string[]
}

const EXTENSION = ".json"
const ANY_HASH = /\b[0-9a-f]{64}\b/g

/** Key of a session, derived from the transcript's path, so that archiving it again uses the same key. */
export const sessionKey = (path: string): string => hash("sha256", path, "hex").slice(0, 24)

/** Key of an earlier version, which the transcript does not continue. */
export const earlierVersionKey = (key: string, { files }: SessionManifest): string =>
  `${key}-${files[0].sha256.slice(0, 8)}`

export class ManifestStore {
  readonly directory: string

  constructor(directory: string) {
    this.directory = directory
  }

  file(key: string): string {
    return join(this.directory, `${key}${EXTENSION}`)
  }

  async all(): Promise<readonly FoundManifest[]> {
    const names = (await namesIn(this.directory)).filter((name) => name.endsWith(EXTENSION))
    const found: FoundManifest[] = []
    for (const name of names.toSorted()) found.push(await this.find(name.slice(0, -EXTENSION.length)))
    return found
  }

  async find(key: string): Promise<FoundManifest> {
    const file = this.file(key)
    const bytes = await readManifestFile(file)
    const manifest = parseManifest(bytes)
    const named = manifest ? manifest.files.flatMap(({ pieces }) => pieces.map((piece) => piece.hash)) : undefined
    // for a damaged manifest, everything that looks like a hash counts, so that its chunks stay
    const chunks = named ?? bytes.toString("latin1").match(ANY_HASH) ?? []
    return { key, file, chunks, ...(manifest ? { manifest } : {}) }
  }

  async write(key: string, record: SessionManifest): Promise<void> {
    await makeDirectory(this.directory)
    await writeDurably(this.file(key), withSum(JSON.stringify(record)))
    await flushFolder(this.directory)
  }

  /** Removes drafts of killed processes. */
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

const MAX_BYTES = 64 * 1024 * 1024 // of a manifest, enough for a session of 100 GB

/** Handles a missing file only. An unreadable manifest must not count as missing, because its chunks would be removed. */
const ifMissing =
  <T>(instead: T) =>
  (error: unknown): T => {
    if (Object(error).code === "ENOENT") return instead
    throw error
  }

const namesIn = (directory: string): Promise<string[]> => readdir(directory).catch(ifMissing<string[]>([]))

async function readManifestFile(file: string): Promise<Buffer> {
  const facts = await lstat(file).catch(ifMissing(undefined))
  if (!facts?.isFile()) return Buffer.alloc(0)
  if (facts.size > MAX_BYTES)
    throw new StrataError(
      `The manifest ${file} is larger than any that Strata writes. Nothing was changed. Move it to another directory.`,
    )
  return readFile(file)
}

/** The manifest in a file's bytes, if they are a valid one. */
export function parseManifest(bytes: Buffer): SessionManifest | undefined {
  const line = bytes.subarray(0, -1) // without its line end
  if (!isCompleteLine(line)) return undefined
  const record = JSON.parse(withoutSum(line)) as SessionManifest
  return record.version === 1 && Array.isArray(record.files) && record.files.length > 0 ? record : undefined
}

/** Whether a name stays within the folder it is written to. */
export function isSafeName(name: string): boolean {
  const parts = name.split("/")
  return (
    parts.length > 0 && parts.every((part) => part !== "" && part !== "." && part !== ".." && !/[\\\0:]/.test(part))
  )
}
