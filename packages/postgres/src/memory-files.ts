/** Memory files on the server. Every call is one statement, and reads or writes a single state of the namespace. */
import { randomUUID } from "node:crypto"
import { MemoryChangedError } from "@strata/core"
import {
  checkMemoryText,
  type MemoryFileChange,
  type MemoryFileListing,
  type MemoryFiles,
  type MemoryFilesWatch,
  type ReadMemoryFile,
  type TextSelection,
  validateMemoryPath,
} from "@strata/core/store"
import type { Database } from "./database.ts"

interface FileRow {
  readonly path: string
  readonly modified: number
  readonly bytes: number
  readonly version: number
  readonly text: Buffer | null
}

export interface PostgresMemoryOptions {
  readonly database: Database
  readonly tenant: string
  /** The key of the namespace. */
  readonly place: string
}

export function postgresMemory({ database, tenant, place }: PostgresMemoryOptions): MemoryFiles {
  async function read(wanted: TextSelection): Promise<readonly FileRow[]> {
    const { folders, paths = [], guard, knownVersions = new Map(), maxBytes = Number.MAX_SAFE_INTEGER } = wanted
    const single = guard === undefined ? paths : [...paths, guard]
    return database.rows<FileRow>(
      "memory_read",
      ...[tenant, place, folders.map(beginningOf), single.map(validateMemoryPath)],
      ...[[...knownVersions.keys()], [...knownVersions.values()], maxBytes],
    )
  }

  return {
    location: `postgres:${place}`,
    async list(under) {
      return (await read({ folders: [under], maxBytes: -1 })).map(listingOf)
    },
    async read(path) {
      return (await read({ folders: [], paths: [path] }))[0]?.text?.toString("utf8")
    },
    async readAll(wanted) {
      return (await read(wanted)).map(
        (row): ReadMemoryFile => ({
          ...listingOf(row),
          ...(row.text === null ? {} : { text: row.text.toString("utf8") }),
        }),
      )
    },
    async install(changes) {
      for (const { path, text } of changes) checkMemoryText(validateMemoryPath(path), text)
      if (changes.length === 0) return { skipped: [] }
      const changed = await database.value<string | null>(
        "memory_install",
        tenant,
        randomUUID(),
        place,
        ...columnsOf(changes),
      )
      if (changed !== null) throw new MemoryChangedError(JSON.parse(changed) as readonly string[])
      return { skipped: [] }
    },
    watch: () => watchOf(async () => database.value<number | null>("memory_version", tenant, place)),
  }
}

/** The prefix that the server compares. An empty one selects all files that are not hidden. */
const beginningOf = (folder: string | undefined): string =>
  folder === undefined ? "" : `${validateMemoryPath(folder)}/`

const listingOf = ({ path, modified, bytes, version }: FileRow): MemoryFileListing => ({
  ...{ path, bytes, version: String(version) },
  modified: new Date(modified).toISOString(),
})

/** Paths, texts, whether any version may exist, and the expected versions. A path that occurs twice gets its last text. */
function columnsOf(changes: readonly MemoryFileChange[]): readonly unknown[] {
  const bytesOf = (text: string | null | undefined) => (typeof text === "string" ? Buffer.from(text) : null)
  const last = new Map(changes.map((change) => [change.path, change]))
  const all = [...last.values()]
  return [
    all.map(({ path }) => path),
    all.map(({ text }) => bytesOf(text)),
    all.map(({ expected }) => expected === undefined),
    all.map(({ expected }) => bytesOf(expected)),
  ]
}

function watchOf(version: () => Promise<number | null>): MemoryFilesWatch {
  let seen: number | null | undefined
  return {
    isUnchanged: async () => seen !== undefined && seen === (await version()),
    async follow() {
      const now = await version()
      const isSame = seen === now
      seen = now
      return isSame
    },
    close() {},
  }
}
