/**
 * Cache of memory files: their texts, versions and parsed memories as of the last read, in one file next to the history. Opening a
 * memory bank then reads only changed files. The cache can be rebuilt at any time, and contains no text with secrets.
 */
import { findSecrets, secretRulesHash } from "../../base/secrets/find-secrets.ts"
import type { MemoryFiles } from "../../journal/memory-files.ts"
import type { Memory } from "../memory.ts"
import { hashOf } from "./history.ts"

export const TEXT_CACHE_FILE = ".history/readings.json"
/** Reading fewer files takes no longer than writing the cache. */
const MIN_NEW_TEXTS = 32
/** Changes whenever the same text would be parsed to another memory. */
const FORMAT = 2

export interface CachedText {
  readonly version: string
  readonly text: string
  readonly hash: string
}

/** A memory that was parsed from a text. */
export interface ParsedText {
  /** Identifies the inputs of the parse. */
  readonly key: string
  readonly memory: Memory
}

/** The cache on disk. */
interface StoredCache {
  readonly format: typeof FORMAT
  /** Version of the rules that found no secrets. */
  readonly rules: string
  readonly files: Readonly<Record<string, CachedText & { readonly parsed?: StoredMemory }>>
}

interface StoredMemory {
  readonly key: string
  readonly fields: Omit<Memory, "body">
  /** Offsets of the body in the text. */
  readonly body: readonly [from: number, to: number]
}

export class TextCache {
  readonly #files: MemoryFiles
  readonly #readOnly: boolean
  readonly #texts = new Map<string, CachedText>()
  /** Texts in which no secret was found. */
  readonly #clean = new Map<string, string>()
  readonly #parsed = new Map<string, ParsedText>()
  #isLoaded = false
  /** Files that were read since the cache was saved. */
  readonly #added = new Set<string>()

  constructor(files: MemoryFiles, { readOnly }: { readonly readOnly: boolean }) {
    this.#files = files
    this.#readOnly = readOnly
  }

  /** Loads the cache of an earlier process. Only for stores with files, where every file is a separate read. */
  async load(): Promise<void> {
    if (this.#isLoaded || this.#files.directory === undefined) return
    this.#isLoaded = true
    const text = await this.#files.read(TEXT_CACHE_FILE).catch(() => undefined)
    for (const [path, { version, hash, text: read, parsed }] of Object.entries(parseCache(text))) {
      this.#texts.set(path, { version, text: read, hash })
      this.#clean.set(path, read)
      if (!parsed) continue
      const { key, fields, body } = parsed
      this.#parsed.set(path, { key, memory: { ...fields, body: read.slice(...body) } })
    }
  }

  /** Versions of the cached files by path: these need not be read again. */
  get versions(): ReadonlyMap<string, string> {
    return new Map([...this.#texts].map(([path, { version }]) => [path, version]))
  }

  get(path: string, version: string): CachedText | undefined {
    const known = this.#texts.get(path)
    return known?.version === version ? known : undefined
  }

  add(path: string, { version, text }: Pick<CachedText, "version" | "text">): CachedText {
    const reading = { version, text, hash: hashOf(text) }
    this.#texts.set(path, reading)
    this.#added.add(path)
    return reading
  }

  /** The memory of a file, if it was parsed with the same key before. */
  memory(path: string, key: string): Memory | undefined {
    const known = this.#parsed.get(path)
    return known?.key === key ? known.memory : undefined
  }

  addMemory(path: string, parsed: ParsedText): void {
    this.#parsed.set(path, parsed)
  }

  hasSecrets(path: string, text: string): boolean {
    if (this.#clean.get(path) === text) return false
    if (findSecrets(text).length > 0) return true
    this.#clean.set(path, text)
    return false
  }

  /** Saves the cached texts of existing files for the next process, once there are enough new ones. A failure only costs time. */
  async save(current: ReadonlyMap<string, string>): Promise<void> {
    if (this.#readOnly || this.#added.size < MIN_NEW_TEXTS || this.#files.directory === undefined) return
    this.#added.clear()
    const cacheable = [...this.#texts].filter(
      ([path, { text }]) => current.get(path) === text && this.#clean.get(path) === text,
    )
    const files = Object.fromEntries(
      cacheable.map(([path, reading]) => [path, { ...reading, ...storedMemory(reading.text, this.#parsed.get(path)) }]),
    )
    const stored: StoredCache = { format: FORMAT, rules: secretRulesHash(), files }
    await this.#files
      .install([{ path: TEXT_CACHE_FILE, text: JSON.stringify(stored), quarantinesUnreadable: true }])
      .catch(() => undefined)
  }
}

function storedMemory(text: string, parsed: ParsedText | undefined): { readonly parsed?: StoredMemory } {
  if (!parsed) return {}
  const { body, ...fields } = parsed.memory
  const from = text.lastIndexOf(body)
  return from < 0 ? {} : { parsed: { key: parsed.key, fields, body: [from, from + body.length] } }
}

function parseCache(text: string | undefined): StoredCache["files"] {
  try {
    const { format, rules, files } = JSON.parse(text ?? "{}") as StoredCache
    const isUsable = ({ version, text: read, hash }: CachedText) => typeof (version + read + hash) === "string"
    return format === FORMAT && rules === secretRulesHash() && Object.values(files).every(isUsable) ? files : {}
  } catch {
    return {}
  }
}
