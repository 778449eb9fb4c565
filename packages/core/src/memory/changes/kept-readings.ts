/**
 * The texts of memory files as they were read last and the memories in them, with the version of each file, in one file beside the history:
 * to open a memory, only files that changed since are read. It holds nothing that cannot be read again, and no text with a secret in it.
 */
import { findSecrets, secretRulesMark } from "../../base/secrets/find-secrets.ts"
import type { MemoryFiles } from "../../journal/memory-files.ts"
import type { Memory } from "../memory.ts"
import { hashOf } from "./history.ts"

export const READINGS = ".history/readings.json"
/** To read fewer files takes no longer than to keep them. */
const FEWEST = 32
/** Differs where the same text gives another memory. */
const FORMAT = 2

export interface Reading {
  readonly version: string
  readonly text: string
  readonly hash: string
}

/** A memory that was read from a text. */
export interface ParsedText {
  /** What the parse depended on. */
  readonly key: string
  readonly memory: Memory
}

/** As it is stored. */
interface Stored {
  readonly format: typeof FORMAT
  /** The rules by which no secret was found. */
  readonly rules: string
  readonly files: Readonly<Record<string, Reading & { readonly parsed?: StoredMemory }>>
}

interface StoredMemory {
  readonly key: string
  readonly fields: Omit<Memory, "body">
  /** Where in the text the body is. */
  readonly body: readonly [from: number, to: number]
}

export class KeptReadings {
  readonly #files: MemoryFiles
  readonly #readOnly: boolean
  readonly #readings = new Map<string, Reading>()
  /** Texts in which no secret was found. */
  readonly #clean = new Map<string, string>()
  readonly #parsed = new Map<string, ParsedText>()
  #isLoaded = false
  /** Files that were read since the readings were kept. */
  readonly #fresh = new Set<string>()

  constructor(files: MemoryFiles, { readOnly }: { readonly readOnly: boolean }) {
    this.#files = files
    this.#readOnly = readOnly
  }

  /** Reads what an earlier process kept. It is there for stores with files, where each one is a reading of its own. */
  async load(): Promise<void> {
    if (this.#isLoaded || this.#files.directory === undefined) return
    this.#isLoaded = true
    const text = await this.#files.read(READINGS).catch(() => undefined)
    for (const [path, { version, hash, text: read, parsed }] of Object.entries(storedIn(text))) {
      this.#readings.set(path, { version, text: read, hash })
      this.#clean.set(path, read)
      if (!parsed) continue
      const { key, fields, body } = parsed
      this.#parsed.set(path, { key, memory: { ...fields, body: read.slice(...body) } })
    }
  }

  /** By path: what need not be read again. */
  get versions(): ReadonlyMap<string, string> {
    return new Map([...this.#readings].map(([path, { version }]) => [path, version]))
  }

  of(path: string, version: string): Reading | undefined {
    const known = this.#readings.get(path)
    return known?.version === version ? known : undefined
  }

  add(path: string, { version, text }: Pick<Reading, "version" | "text">): Reading {
    const reading = { version, text, hash: hashOf(text) }
    this.#readings.set(path, reading)
    this.#fresh.add(path)
    return reading
  }

  /** The memory of a file, if it was read by the same key before. */
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

  /** Keeps those of the files that are there for the next process, once there are enough new ones. A failure costs time only. */
  async save(there: ReadonlyMap<string, string>): Promise<void> {
    if (this.#readOnly || this.#fresh.size < FEWEST || this.#files.directory === undefined) return
    this.#fresh.clear()
    const kept = [...this.#readings].filter(
      ([path, { text }]) => there.get(path) === text && this.#clean.get(path) === text,
    )
    const files = Object.fromEntries(
      kept.map(([path, reading]) => [path, { ...reading, ...storedMemory(reading.text, this.#parsed.get(path)) }]),
    )
    const stored: Stored = { format: FORMAT, rules: secretRulesMark(), files }
    await this.#files
      .install([{ path: READINGS, text: JSON.stringify(stored), setsAside: true }])
      .catch(() => undefined)
  }
}

function storedMemory(text: string, parsed: ParsedText | undefined): { readonly parsed?: StoredMemory } {
  if (!parsed) return {}
  const { body, ...fields } = parsed.memory
  const from = text.lastIndexOf(body)
  return from < 0 ? {} : { parsed: { key: parsed.key, fields, body: [from, from + body.length] } }
}

function storedIn(text: string | undefined): Stored["files"] {
  try {
    const { format, rules, files } = JSON.parse(text ?? "{}") as Stored
    const isUsable = ({ version, text: read, hash }: Reading) => typeof (version + read + hash) === "string"
    return format === FORMAT && rules === secretRulesMark() && Object.values(files).every(isUsable) ? files : {}
  } catch {
    return {}
  }
}
