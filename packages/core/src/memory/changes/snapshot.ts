/** A consistent snapshot of a memory directory: no change of another process falls between two of its files. */
import { utcDay } from "../../base/clock.ts"
import { describeReason, StrataError } from "../../base/errors.ts"
import {
  type MemoryFileListing,
  type MemoryFiles,
  type ReadMemoryFile,
  WRITE_ANNOUNCEMENTS,
} from "../../journal/memory-files.ts"
import { INDEX_FILE, isTopicFile, MAX_MEMORY_BYTES } from "../file-names.ts"
import type { Memory } from "../memory.ts"
import { type MemoryFileFacts, maskMemory, parseMemory } from "../topic-file.ts"
import { FIRST_CHANGE, HEAD, hashOf, type LoadedHead, loadHead, readHeadText } from "./history.ts"
import { detectManualEdits, type ManualEdits, manualEditSource } from "./manual-edits.ts"
import { type CachedText, TextCache } from "./text-cache.ts"

export interface Snapshot {
  readonly loaded: LoadedHead
  /** The texts on disk: the memories and the index. */
  readonly texts: ReadonlyMap<string, string>
  /** The hash of each text. */
  readonly hashes: ReadonlyMap<string, string>
  readonly listings: ReadonlyMap<string, MemoryFileListing>
  readonly manualEdits: ManualEdits
  /** Directories that cannot be listed. */
  readonly closed: readonly string[]
  /** Sorted by file, with secrets of manual edits masked. */
  readonly memories: readonly Memory[]
  /** One sentence each: files that cannot be parsed, secrets found, damage to the history. */
  readonly problems: readonly string[]
}

interface ParsedFile {
  /** Identifies the inputs of the parse. */
  readonly key: string
  readonly memory: Memory
  readonly hasSecrets: boolean
}

/** Reads snapshots and caches what it read, so that the next read costs only what changed. */
export class SnapshotReader {
  readonly #files: MemoryFiles
  readonly #cache: TextCache
  readonly #parsed = new Map<string, ParsedFile>()
  #last: { readonly listed: string; readonly snapshot: Snapshot } | undefined

  /** `readOnly`: does not save the cache for later processes. */
  constructor(files: MemoryFiles, { readOnly }: { readonly readOnly: boolean }) {
    this.#files = files
    this.#cache = new TextCache(files, { readOnly })
  }

  /** Reads all files by one call of the store, so that no change of another process falls between two files. */
  async read(): Promise<Snapshot> {
    await this.#cache.load()
    const all = await this.#files.readAll({
      ...{ folders: [undefined, WRITE_ANNOUNCEMENTS], paths: [FIRST_CHANGE], guard: HEAD },
      ...{ knownVersions: this.#cache.versions, maxBytes: MAX_MEMORY_BYTES },
    })
    const complete = await Promise.all(all.map((file) => (isTooLarge(file) ? this.#readInFull(file) : file)))
    const visible = complete.filter(({ path }) => !path.startsWith("."))
    const head = complete.find(({ path }) => path === HEAD)
    const loaded = await loadHead(this.#files, {
      text: await this.#headText(head),
      known: this.#last?.snapshot.loaded,
      mayHaveChanges: visible.length > 0 || complete.some(({ path }) => path === FIRST_CHANGE),
    })
    const snapshot = await this.#snapshotOf(loaded, { all: complete, visible })
    await this.#cache.save(snapshot.texts)
    return snapshot
  }

  /**
   * Reads a file without size limit, because index and announcements grow with the number of memories. If it changes in between, the
   * next change finds another head.
   */
  async #readInFull(file: ReadMemoryFile): Promise<ReadMemoryFile> {
    const { path, version } = file
    if (this.#cache.get(path, version) || (path !== INDEX_FILE && !path.startsWith(`${WRITE_ANNOUNCEMENTS}/`)))
      return file
    try {
      const text = await this.#files.read(path)
      return text === undefined ? file : { ...file, text }
    } catch (error) {
      return { ...file, error }
    }
  }

  /** The head can be larger than a memory. If it cannot be read, something else has its name: the next change quarantines it. */
  async #headText(head: ReadMemoryFile | undefined): Promise<string | null> {
    if (head === undefined) return null
    return head.text ?? (head.error === undefined ? readHeadText(this.#files) : null)
  }

  async #snapshotOf(
    loaded: LoadedHead,
    { all, visible }: { readonly all: readonly ReadMemoryFile[]; readonly visible: readonly ReadMemoryFile[] },
  ): Promise<Snapshot> {
    const listed = visible.filter(
      ({ path, isUnlistable }) => !isUnlistable && (isTopicFile(path) || path === INDEX_FILE),
    )
    const hasIndex = listed.some(({ path }) => path === INDEX_FILE)
    const writing = all.filter(({ path }) => path.startsWith(`${WRITE_ANNOUNCEMENTS}/`))
    const manualEdits = await detectManualEdits(this.#files, { head: loaded.head, hasIndex, writing })
    const seen = visible.map(({ path, version }) => `${path} ${version}`).join("\n")
    const isKnown = this.#last?.listed === seen && this.#last.snapshot.loaded === loaded
    // announcements determine who made manual edits, and are withdrawn again
    if (isKnown && sameEdits(this.#last!.snapshot.manualEdits, manualEdits)) return this.#last!.snapshot
    const snapshot = await this.#readFiles({ loaded, all: visible, listed, manualEdits })
    this.#last = { listed: seen, snapshot }
    return snapshot
  }

  async #readFiles(from: {
    readonly loaded: LoadedHead
    readonly all: readonly ReadMemoryFile[]
    readonly listed: readonly ReadMemoryFile[]
    readonly manualEdits: ManualEdits
  }): Promise<Snapshot> {
    const { loaded, all, listed, manualEdits } = from
    const closed = all.filter(({ isUnlistable }) => isUnlistable).map(({ path }) => path)
    const [texts, hashes] = [new Map<string, string>(), new Map<string, string>()]
    const problems = [
      ...loaded.problems,
      ...closed.map((path) => `The folder ${path} may not be read, so its memories are left out.`),
    ]
    for (const file of listed) {
      const { path } = file
      const reading = this.#textOf(file)
      if (reading === undefined) continue
      if ("problem" in reading) {
        problems.push(reading.problem)
        continue
      }
      texts.set(path, reading.text)
      hashes.set(reading.text, reading.hash)
    }
    const listings = new Map(listed.map((listing) => [listing.path, listing]))
    const parsed = await this.parse({ loaded, texts, hashes, listings, manualEdits })
    for (const { memory, hasSecrets } of parsed)
      if (hasSecrets) problems.push(`${memory.file} has a secret in it. It is hidden from the model; remove it.`)
    const memories = parsed.map(({ memory }) => memory)
    return { loaded, texts, hashes, listings, closed, manualEdits, memories, problems }
  }

  #textOf(file: ReadMemoryFile): CachedText | { problem: string } | undefined {
    const { path, version, text, error } = file
    const known = this.#cache.get(path, version)
    if (known) return known
    if (isTooLarge(file))
      return { problem: `${path} has more than ${MAX_MEMORY_BYTES} bytes, so it is not read as a memory.` }
    if (error === undefined) return text === undefined ? undefined : this.#cache.add(path, { version, text })
    if (!(error instanceof StrataError) && (error as NodeJS.ErrnoException).code === undefined) throw error
    return { problem: `${path} is not read as a memory: ${describeReason(error)}` }
  }

  /** Parses the memories in these texts. */
  async parse(from: SnapshotTexts): Promise<readonly ParsedFile[]> {
    const parsed: ParsedFile[] = []
    for (const [file, text] of [...from.texts].sort(([a], [b]) => (a < b ? -1 : 1))) {
      if (file === INDEX_FILE) continue
      const facts = fileFacts(from, file)
      const key = `${fileHash(from, file)} ${JSON.stringify(facts)}`
      const known = this.#parsed.get(file)
      const parsedFile = known?.key === key ? known : await this.#parsedFile({ file, text, facts, key })
      if (parsedFile !== known) this.#parsed.set(file, parsedFile)
      parsed.push(parsedFile)
    }
    return parsed
  }

  async #parsedFile(from: { file: string; text: string; facts: MemoryFileFacts; key: string }): Promise<ParsedFile> {
    const { file, text, key } = from
    const hasSecrets = this.#cache.hasSecrets(file, text)
    const known = hasSecrets ? undefined : this.#cache.memory(file, key)
    if (known) return { key, hasSecrets, memory: known }
    const memory = await parseMemory(from)
    if (hasSecrets) return { key, hasSecrets, memory: maskMemory(memory) }
    this.#cache.addMemory(file, { key, memory })
    return { key, hasSecrets, memory }
  }
}

const isTooLarge = ({ bytes, text, error }: ReadMemoryFile) =>
  bytes > MAX_MEMORY_BYTES && text === undefined && error === undefined

const sameEdits = (a: ManualEdits, b: ManualEdits) =>
  a.announced.length === 0 && b.announced.length === 0 && a.otherOrigin(INDEX_FILE) === b.otherOrigin(INDEX_FILE)

type SnapshotTexts = Pick<Snapshot, "loaded" | "texts" | "hashes" | "listings" | "manualEdits">

/** The hash of a file's text. */
export function fileHash({ texts, hashes }: Pick<Snapshot, "texts" | "hashes">, file: string): string | undefined {
  const text = texts.get(file)
  return text === undefined ? undefined : (hashes.get(text) ?? hashOf(text))
}

/** Facts about a file that its text does not contain. An unrecorded edit is the user's, unless it may have another origin. */
export function fileFacts(from: SnapshotTexts, file: string): MemoryFileFacts {
  const { loaded, listings, manualEdits } = from
  const recorded = loaded.head.files[file]
  const hash = fileHash(from, file)
  if (recorded && (hash === undefined || hash === recorded.hash))
    return { created: recorded.created, source: recorded.source }
  const created = recorded?.created ?? utcDay(listings.get(file)?.modified ?? "")
  return { created, source: manualEditSource(manualEdits.otherOrigin(file)) }
}
