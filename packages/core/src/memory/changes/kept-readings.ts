/**
 * The texts of memory files as they were read last, with the version of each file, in one file beside the history: to open a memory, only
 * files that changed since are read. It holds nothing that cannot be read again, and no text with a secret in it.
 */
import { findSecrets, secretRulesMark } from "../../base/secrets/find-secrets.ts"
import type { MemoryFiles } from "../../journal/memory-files.ts"
import { hashOf } from "./history.ts"

export const READINGS = ".history/readings.json"
/** To read fewer files takes no longer than to keep them. */
const FEWEST = 32

export interface Reading {
  readonly version: string
  readonly text: string
  readonly hash: string
}

/** As it is stored. */
interface Stored {
  /** The rules by which no secret was found. */
  readonly rules: string
  readonly files: Readonly<Record<string, Pick<Reading, "version" | "text">>>
}

export class KeptReadings {
  readonly #files: MemoryFiles
  readonly #readOnly: boolean
  readonly #readings = new Map<string, Reading>()
  /** Texts in which no secret was found. */
  readonly #clean = new Map<string, string>()
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
    for (const [path, { version, text: read }] of Object.entries(storedIn(text).files)) {
      this.#readings.set(path, { version, text: read, hash: hashOf(read) })
      this.#clean.set(path, read)
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
    const files = Object.fromEntries(kept.map(([path, { version, text }]) => [path, { version, text }]))
    const stored: Stored = { rules: secretRulesMark(), files }
    await this.#files
      .install([{ path: READINGS, text: JSON.stringify(stored), setsAside: true }])
      .catch(() => undefined)
  }
}

function storedIn(text: string | undefined): Stored {
  const none = { rules: secretRulesMark(), files: {} }
  try {
    const stored = text === undefined ? none : (JSON.parse(text) as Stored)
    const isUsable = ({ version, text: read }: Stored["files"][string]) => typeof (version + read) === "string"
    return stored.rules === none.rules && Object.values(stored.files).every(isUsable) ? stored : none
  } catch {
    return none
  }
}
