/** One consistent reading of a memory directory: no change by another process falls between two files of it. */
import { dayOf } from "../../base/clock.ts"
import { plainReason, StrataError } from "../../base/errors.ts"
import { type MemoryFileListing, type MemoryFiles, type ReadMemoryFile, WRITING } from "../../journal/memory-files.ts"
import { INDEX_FILE, isTopicFile, MAX_MEMORY_BYTES } from "../file-names.ts"
import type { Memory } from "../memory.ts"
import { type FileFacts, maskedMemory, parseMemory } from "../topic-file.ts"
import { type HandEdits, handEditsIn, sourceOfEdit } from "./hand-edits.ts"
import { FIRST_CHANGE, HEAD, hashOf, type LoadedHead, loadHead, readHeadText } from "./history.ts"
import { KeptReadings, type Reading } from "./kept-readings.ts"

export interface Snapshot {
  readonly loaded: LoadedHead
  /** The texts on disk: the memories and the index. */
  readonly texts: ReadonlyMap<string, string>
  /** The hash of each text. */
  readonly hashes: ReadonlyMap<string, string>
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
  readonly #kept: KeptReadings
  readonly #parsed = new Map<string, ParsedFile>()
  #last: { readonly listed: string; readonly snapshot: Snapshot } | undefined

  /** `readOnly`: does not keep what it read for later processes. */
  constructor(files: MemoryFiles, { readOnly }: { readonly readOnly: boolean }) {
    this.#files = files
    this.#kept = new KeptReadings(files, { readOnly })
  }

  /** One call of the store: no change by another process falls between two files. */
  async read(): Promise<Snapshot> {
    await this.#kept.load()
    const all = await this.#files.readAll({
      ...{ folders: [undefined, WRITING], paths: [FIRST_CHANGE], guard: HEAD },
      ...{ known: this.#kept.versions, maxBytes: MAX_MEMORY_BYTES },
    })
    const complete = await Promise.all(all.map((file) => (isLeftOut(file) ? this.#whole(file) : file)))
    const shown = complete.filter(({ path }) => !path.startsWith("."))
    const head = complete.find(({ path }) => path === HEAD)
    const loaded = await loadHead(this.#files, {
      text: await this.#headText(head),
      known: this.#last?.snapshot.loaded,
      mayHaveChanges: shown.length > 0 || complete.some(({ path }) => path === FIRST_CHANGE),
    })
    const snapshot = await this.#snapshotOf(loaded, { all: complete, shown })
    await this.#kept.save(snapshot.texts)
    return snapshot
  }

  /** The index and announcements grow with the number of memories. If someone writes them in between, the next change finds another head. */
  async #whole(file: ReadMemoryFile): Promise<ReadMemoryFile> {
    const { path, version } = file
    if (this.#kept.of(path, version) || (path !== INDEX_FILE && !path.startsWith(`${WRITING}/`))) return file
    try {
      const text = await this.#files.read(path)
      return text === undefined ? file : { ...file, text }
    } catch (error) {
      return { ...file, error }
    }
  }

  /** It can be larger than a memory. What cannot be read is something else in its place: the next change sets that aside. */
  async #headText(head: ReadMemoryFile | undefined): Promise<string | null> {
    if (head === undefined) return null
    return head.text ?? (head.error === undefined ? readHeadText(this.#files) : null)
  }

  async #snapshotOf(
    loaded: LoadedHead,
    { all, shown }: { readonly all: readonly ReadMemoryFile[]; readonly shown: readonly ReadMemoryFile[] },
  ): Promise<Snapshot> {
    const listed = shown.filter(({ path, isClosed }) => !isClosed && (isTopicFile(path) || path === INDEX_FILE))
    const hasIndex = listed.some(({ path }) => path === INDEX_FILE)
    const writing = all.filter(({ path }) => path.startsWith(`${WRITING}/`))
    const handEdits = await handEditsIn(this.#files, { head: loaded.head, hasIndex, writing })
    const seen = shown.map(({ path, version }) => `${path} ${version}`).join("\n")
    const isKnown = this.#last?.listed === seen && this.#last.snapshot.loaded === loaded
    // what is announced decides about hand edits, and goes again
    if (isKnown && sameEdits(this.#last!.snapshot.handEdits, handEdits)) return this.#last!.snapshot
    const snapshot = await this.#readFiles({ loaded, all: shown, listed, handEdits })
    this.#last = { listed: seen, snapshot }
    return snapshot
  }

  async #readFiles(from: {
    readonly loaded: LoadedHead
    readonly all: readonly ReadMemoryFile[]
    readonly listed: readonly ReadMemoryFile[]
    readonly handEdits: HandEdits
  }): Promise<Snapshot> {
    const { loaded, all, listed, handEdits } = from
    const closed = all.filter(({ isClosed }) => isClosed).map(({ path }) => path)
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
    const parsed = await this.parse({ loaded, texts, hashes, listings, handEdits })
    for (const { memory, hasSecrets } of parsed)
      if (hasSecrets) problems.push(`${memory.file} has a secret in it. It is hidden from the model; remove it.`)
    const memories = parsed.map(({ memory }) => memory)
    return { loaded, texts, hashes, listings, closed, handEdits, memories, problems }
  }

  #textOf(file: ReadMemoryFile): Reading | { problem: string } | undefined {
    const { path, version, text, error } = file
    const known = this.#kept.of(path, version)
    if (known) return known
    if (isLeftOut(file))
      return { problem: `${path} has more than ${MAX_MEMORY_BYTES} bytes, so it is not read as a memory.` }
    if (error === undefined) return text === undefined ? undefined : this.#kept.add(path, { version, text })
    if (!(error instanceof StrataError) && (error as NodeJS.ErrnoException).code === undefined) throw error
    return { problem: `${path} is not read as a memory: ${plainReason(error)}` }
  }

  /** The memories in these texts. */
  async parse(from: Facts): Promise<readonly ParsedFile[]> {
    const parsed: ParsedFile[] = []
    for (const [file, text] of [...from.texts].sort(([a], [b]) => (a < b ? -1 : 1))) {
      if (file === INDEX_FILE) continue
      const facts = factsOf(from, file)
      const key = `${hashIn(from, file)} ${JSON.stringify(facts)}`
      const known = this.#parsed.get(file)
      const fresh = known?.key === key ? known : await this.#parsedFile({ file, text, facts, key })
      if (fresh !== known) this.#parsed.set(file, fresh)
      parsed.push(fresh)
    }
    return parsed
  }

  async #parsedFile(from: { file: string; text: string; facts: FileFacts; key: string }): Promise<ParsedFile> {
    const { file, text, key } = from
    const hasSecrets = this.#kept.hasSecrets(file, text)
    const known = hasSecrets ? undefined : this.#kept.memory(file, key)
    if (known) return { key, hasSecrets, memory: known }
    const memory = await parseMemory(from)
    if (hasSecrets) return { key, hasSecrets, memory: maskedMemory(memory) }
    this.#kept.addMemory(file, { key, memory })
    return { key, hasSecrets, memory }
  }
}

const isLeftOut = ({ bytes, text, error }: ReadMemoryFile) =>
  bytes > MAX_MEMORY_BYTES && text === undefined && error === undefined

const sameEdits = (a: HandEdits, b: HandEdits) =>
  a.announced.length === 0 && b.announced.length === 0 && a.doubt(INDEX_FILE) === b.doubt(INDEX_FILE)

type Facts = Pick<Snapshot, "loaded" | "texts" | "hashes" | "listings" | "handEdits">

/** The hash of a file's text. */
export function hashIn({ texts, hashes }: Pick<Snapshot, "texts" | "hashes">, file: string): string | undefined {
  const text = texts.get(file)
  return text === undefined ? undefined : (hashes.get(text) ?? hashOf(text))
}

/** What is known about a file apart from its text. What is not recorded yet is the person's, unless that is in doubt. */
export function factsOf(from: Facts, file: string): FileFacts {
  const { loaded, listings, handEdits } = from
  const recorded = loaded.head.files[file]
  const hash = hashIn(from, file)
  if (recorded && (hash === undefined || hash === recorded.hash))
    return { created: recorded.created, source: recorded.source }
  const created = recorded?.created ?? dayOf(listings.get(file)?.modified ?? "")
  return { created, source: sourceOfEdit(handEdits.doubt(file)) }
}
