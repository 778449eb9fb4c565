/** One consistent reading of a memory directory: no change by another process falls between two files of it. */
import { plainReason, StrataError } from "../base/errors.ts"
import { findSecrets, maskSecrets } from "../base/secrets/find-secrets.ts"
import type { MemoryFileListing, MemoryFiles } from "../journal/memory-files.ts"
import { INDEX_FILE, isTopicFile } from "./file-names.ts"
import { type HandEdits, handEditsIn, sourceOfEdit } from "./hand-edits.ts"
import { hashOf, type LoadedHead, loadHead, readHeadText } from "./history.ts"
import type { Memory } from "./memory.ts"
import { type FileFacts, parseMemory } from "./topic-file.ts"

const MOST_MEMORY_BYTES = 256 * 1024 // the longest file that counts as a memory
const MOST_READINGS = 50

export interface Snapshot {
  readonly loaded: LoadedHead
  /** The texts on disk: the memories and the index. */
  readonly texts: ReadonlyMap<string, string>
  readonly listings: ReadonlyMap<string, MemoryFileListing>
  readonly handEdits: HandEdits
  /** Folders that may not be looked into. */
  readonly closed: readonly string[]
  /** Sorted by file. Secrets that someone wrote by hand are masked. */
  readonly memories: readonly Memory[]
  /** One sentence each: files that cannot be read as memories, secrets found, damage to the history. */
  readonly problems: readonly string[]
}

interface ParsedFile {
  /** What the parse depended on. */
  readonly key: string
  readonly memory: Memory
  readonly hasSecrets: boolean
}

/** Keeps what it read, so that the next reading costs only what changed. */
export class SnapshotReader {
  readonly #files: MemoryFiles
  readonly #texts = new Map<string, { version: string; text: string }>()
  readonly #parsed = new Map<string, ParsedFile>()

  constructor(files: MemoryFiles) {
    this.#files = files
  }

  async read(): Promise<Snapshot> {
    for (let reading = 1; ; reading++) {
      const loaded = await loadHead(this.#files)
      const snapshot = await this.#readOnce(loaded)
      if (reading >= MOST_READINGS || (await readHeadText(this.#files)) === loaded.text) return snapshot
    }
  }

  async #readOnce(loaded: LoadedHead): Promise<Snapshot> {
    const all = await this.#files.list()
    const closed = all.filter(({ isClosed }) => isClosed).map(({ path }) => path)
    const listed = all.filter(({ path, isClosed }) => !isClosed && (isTopicFile(path) || path === INDEX_FILE))
    const texts = new Map<string, string>()
    const problems = [
      ...loaded.problems,
      ...closed.map((path) => `The folder ${path} may not be read, so its memories are left out.`),
    ]
    const read = await Promise.all(listed.map(async (listing) => [listing.path, await this.#textOf(listing)] as const))
    for (const [path, text] of read) {
      if ("problem" in text) problems.push(text.problem)
      else if (text.text !== undefined) texts.set(path, text.text)
    }
    const listings = new Map(listed.map((listing) => [listing.path, listing]))
    const handEdits = await handEditsIn(this.#files, { head: loaded.head, hasIndex: texts.has(INDEX_FILE) })
    const parsed = await this.parse({ loaded, texts, listings, handEdits })
    for (const { memory, hasSecrets } of parsed)
      if (hasSecrets) problems.push(`${memory.file} has a secret in it. It is hidden from the model; remove it.`)
    return { loaded, texts, listings, closed, handEdits, memories: parsed.map(({ memory }) => memory), problems }
  }

  async #textOf({
    path,
    bytes,
    version,
  }: MemoryFileListing): Promise<{ text: string | undefined } | { problem: string }> {
    const known = this.#texts.get(path)
    if (known?.version === version) return known
    if (bytes > MOST_MEMORY_BYTES)
      return { problem: `${path} has more than ${MOST_MEMORY_BYTES} bytes, so it is not read as a memory.` }
    try {
      const text = await this.#files.read(path)
      if (text !== undefined) this.#texts.set(path, { version, text })
      return { text }
    } catch (error) {
      if (!(error instanceof StrataError) && (error as NodeJS.ErrnoException).code === undefined) throw error
      return { problem: `${path} is not read as a memory: ${plainReason(error)}` }
    }
  }

  /** The memories in these texts. */
  async parse(from: Facts): Promise<readonly ParsedFile[]> {
    const parsed: ParsedFile[] = []
    for (const [file, text] of [...from.texts].sort(([a], [b]) => (a < b ? -1 : 1))) {
      if (file === INDEX_FILE) continue
      const facts = factsOf(from, file)
      const key = `${hashOf(text)} ${JSON.stringify(facts)}`
      const known = this.#parsed.get(file)
      const fresh = known?.key === key ? known : await parsedFile({ file, text, facts, key })
      this.#parsed.set(file, fresh)
      parsed.push(fresh)
    }
    return parsed
  }
}

type Facts = Pick<Snapshot, "loaded" | "texts" | "listings" | "handEdits">

/** What is known about a file apart from its text. What is not recorded yet is the person's, unless that is in doubt. */
export function factsOf({ loaded, texts, listings, handEdits }: Facts, file: string): FileFacts {
  const recorded = loaded.head.files[file]
  const text = texts.get(file)
  if (recorded && (text === undefined || hashOf(text) === recorded.hash))
    return { created: recorded.created, source: recorded.source }
  const created = recorded?.created ?? dayOf(listings.get(file)?.modified ?? "")
  return { created, source: sourceOfEdit(handEdits.doubt(file)) }
}

/** The day of an ISO time. */
export const dayOf = (time: string): string => time.slice(0, "2026-01-01".length)

async function parsedFile(from: { file: string; text: string; facts: FileFacts; key: string }): Promise<ParsedFile> {
  const memory = await parseMemory(from)
  if (findSecrets(from.text).length === 0) return { key: from.key, hasSecrets: false, memory }
  const [name, description, body] = [memory.name, memory.description, memory.body].map(maskSecrets)
  return { key: from.key, hasSecrets: true, memory: { ...memory, name: name!, description: description!, body: body! } }
}
