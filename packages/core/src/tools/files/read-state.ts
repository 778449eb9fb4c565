/**
 * Records which file contents a conversation has seen. When the limits are exceeded, the least recently used entries are dropped: such a
 * file is simply read again before it is edited.
 */
import type { FileRead, ReadState } from "../tool.ts"

export interface ReadStateLimits {
  readonly files: number
  /** Maximum characters of all contents together. */
  readonly characters: number
}

const LIMITS: ReadStateLimits = {
  files: 200, // more than the work between two compactions touches
  characters: 64 * 1024 * 1024, // two files of the maximum size
}

export class FileReads implements ReadState {
  /** Reads by resolved path, newest last. */
  readonly #reads: Map<string, FileRead>
  readonly #limits: ReadStateLimits
  #characters = 0

  constructor({
    limits = LIMITS,
    reads = [],
  }: { limits?: ReadStateLimits; reads?: Iterable<readonly [string, FileRead]> } = {}) {
    this.#limits = limits
    this.#reads = new Map()
    for (const [path, read] of reads) this.set(path, read)
  }

  get(path: string): FileRead | undefined {
    return this.#reads.get(path)
  }

  set(path: string, read: FileRead): void {
    this.forget(path)
    this.#reads.set(path, read)
    this.#characters += read.content.length
    for (const oldest of this.#reads.keys()) {
      if (this.#reads.size === 1 || this.#fits()) break
      this.forget(oldest)
    }
  }

  forget(path: string): void {
    this.#characters -= this.#reads.get(path)?.content.length ?? 0
    this.#reads.delete(path)
  }

  /** All reads, oldest first. */
  entries(): Iterable<readonly [string, FileRead]> {
    return [...this.#reads]
  }

  /** Copies the state for a fork: it knows its parent's reads, and its own reads remain separate. */
  clone(): FileReads {
    return new FileReads({ limits: this.#limits, reads: this.#reads })
  }

  #fits(): boolean {
    return this.#reads.size <= this.#limits.files && this.#characters <= this.#limits.characters
  }
}

/** Forgets the files that these calls showed, because the model no longer has the complete results. */
export function forgetCalls(reads: ReadState, toolUseIds: ReadonlySet<string>): void {
  for (const [path, { toolUseId }] of reads.entries()) {
    if (toolUseId !== undefined && toolUseIds.has(toolUseId)) reads.forget(path)
  }
}

/**
 * A view of the reads whose results are still completely in the context. `shows` is called each time, so a file whose read was cleared,
 * compacted or rewound counts as not read, whichever component removed it.
 */
export function readsInView(reads: ReadState, shows: (toolUseId: string) => boolean): ReadState {
  const isInView = ({ toolUseId }: FileRead) => toolUseId === undefined || shows(toolUseId)
  return {
    get(path) {
      const read = reads.get(path)
      return read && isInView(read) ? read : undefined
    },
    set: (path, read) => reads.set(path, read),
    forget: (path) => reads.forget(path),
    entries: () => [...reads.entries()].filter(([, read]) => isInView(read)),
  }
}

export function forgetAll(reads: ReadState): void {
  for (const [path] of [...reads.entries()]) reads.forget(path)
}
