/**
 * What a conversation has seen of files. Bounded, the longest unused first to go: a file that fell out is simply read again before it
 * is edited.
 */
import type { FileRead, ReadState } from "../tool.ts"

export interface ReadStateLimits {
  readonly files: number
  /** Of all contents together. */
  readonly characters: number
}

const LIMITS: ReadStateLimits = {
  files: 200, // more than any stretch of work between two compactions touches
  characters: 64 * 1024 * 1024, // two of the largest files that can be read
}

export class FileReads implements ReadState {
  /** By resolved path, the newest last. */
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

  /** The oldest first. */
  entries(): Iterable<readonly [string, FileRead]> {
    return [...this.#reads]
  }

  /** For a fork: it knows what its parent has read, and its own reads stay its own. */
  clone(): FileReads {
    return new FileReads({ limits: this.#limits, reads: this.#reads })
  }

  #fits(): boolean {
    return this.#reads.size <= this.#limits.files && this.#characters <= this.#limits.characters
  }
}

/** The model no longer has these calls' results in full, so the files they showed count as not read. */
export function forgetCalls(reads: ReadState, toolUseIds: ReadonlySet<string>): void {
  for (const [path, { toolUseId }] of reads.entries()) {
    if (toolUseId !== undefined && toolUseIds.has(toolUseId)) reads.forget(path)
  }
}

/**
 * The reads that the model still has in front of it. `shows` is asked each time: whether the result of a call is whole in what is sent.
 * So a file whose read was cleared, compacted or rewound counts as not read, whichever part of the system did it.
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
