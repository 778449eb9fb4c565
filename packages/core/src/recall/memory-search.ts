/**
 * Search in memories: title, description, body. A superseded memory is never listed before its successor, which inherits its matches.
 */

import { hash } from "node:crypto"
import { closeSync, openSync, statSync } from "node:fs"
import { FILE_MODE } from "../journal/file/layout.ts"
import type { Question } from "./answer/ranking.ts"
import { isDamage, isFromSqlite, removeDatabase } from "./index/index-file.ts"
import { PassageIndex } from "./index/passage-index.ts"
import { type Passage, splitText } from "./passages/passage.ts"

/** The fields of a memory that search needs. */
export interface SearchableMemory {
  readonly file: string
  readonly name: string
  readonly description: string
  readonly type: string
  readonly created: string
  readonly confirmed: string
  readonly basis?: string
  readonly supersedes?: readonly string[]
  readonly supersededBy?: string
  readonly doubtedBy?: string
  readonly body: string
}

interface FoundMemory<M extends SearchableMemory> {
  readonly memory: M
  readonly score: number
  readonly coverage: number
  readonly words: readonly string[]
  /** Whether another memory supersedes it. */
  readonly isRetired: boolean
}

interface MemoryQuestion extends Pick<Question, "text" | "context" | "now" | "limit" | "weights"> {
  /** Also list superseded memories, after all current ones. Default: false. */
  readonly includeRetired?: boolean
  /** Returns nothing if memories only share a word with the question. Default: false. */
  readonly mustFit?: boolean
}

/** How users want to work is relevant more often than where something is. */
const TYPE_PRIOR: Readonly<Record<string, number>> = { feedback: 1.15, user: 1.1, project: 1, reference: 1 }
const CONCLUDED_PRIOR = 0.9 // the agent's own conclusion, neither observed nor stated
const DEFAULT_LIMIT = 5
/** Limit for candidate passages. Superseded memories, and those already in context, are excluded. */
const MAX_CANDIDATES = 100
const SLICE = 20 // memories that are indexed at once in the background: about 5 ms

export class MemorySearch<M extends SearchableMemory> {
  readonly #index: PersistentIndex
  /** The list of the last update: the same list again has nothing new. */
  #latest: readonly M[] | undefined
  #memories: ReadonlyMap<string, M> = new Map()
  /** Files to index. */
  #pending: string[] = []
  /** The index that has the memories, apart from the pending ones. */
  #filled: PassageIndex | undefined
  #later: NodeJS.Immediate | undefined
  #successors: ReadonlyMap<string, string> = new Map()

  /** `path`: a file for the index, which the next process can use. Default: in memory. */
  constructor(memories: readonly M[] = [], path?: string) {
    this.#index = new PersistentIndex(path)
    if (memories.length > 0) this.update(memories) // an empty update would remove everything from the file
  }

  /**
   * Replaces the memories. Only changed ones are indexed again, newest first: at most `max` of them now, the rest in slices when the
   * process is idle.
   */
  update(memories: readonly M[], max = Number.POSITIVE_INFINITY): void {
    const before = this.#memories
    const isSame =
      memories === this.#latest ||
      (memories.length === before.size && memories.every((memory) => before.get(memory.file) === memory))
    this.#latest = memories
    if (!isSame) {
      this.#memories = new Map(memories.map((memory) => [memory.file, memory]))
      this.#successors = findSuccessors(memories)
      this.#filled = undefined
    }
    this.#index.ask((index) => this.#fill(index, max))
    this.#indexLater()
  }

  #fill(index: PassageIndex, max: number): void {
    if (this.#filled !== index) {
      const known = index.positions()
      for (const file of [...known.keys()]) if (!this.#memories.has(file)) index.remove(file)
      const changed = [...this.#memories.values()].filter((memory) => known.get(memory.file) !== fingerprint(memory))
      this.#pending = changed.sort((a, b) => compare(b.confirmed, a.confirmed)).map(({ file }) => file)
      this.#filled = index
    }
    const next = this.#pending.splice(0, max).flatMap((file) => this.#memories.get(file) ?? [])
    if (next.length === 0) return
    index.replace(
      new Map(next.map((memory) => [memory.file, memoryPassages(memory)])),
      new Map(next.map((memory) => [memory.file, fingerprint(memory)])),
    )
  }

  #indexLater(): void {
    if (this.#pending.length === 0 || this.#later) return
    this.#later = setImmediate(() => {
      this.#later = undefined
      this.#index.ask((index) => this.#fill(index, SLICE))
      this.#indexLater()
    })
    this.#later.unref()
  }

  search(asked: MemoryQuestion): readonly FoundMemory<M>[] {
    const { includeRetired = false, mustFit = false, limit = DEFAULT_LIMIT, ...question } = asked
    const { chosen, isFitting } = this.#index.ask((index) => {
      if (this.#filled !== index) this.#fill(index, SLICE) // someone removed the file since
      return index.choose({
        ...question,
        ...{ limit: MAX_CANDIDATES, isDistinct: false },
        // a memory that another process has indexed, but this one has not read, is not offered
        prior: (source) => priorOf(this.#memories.get(source)),
      })
    })
    const current = new Map<string, FoundMemory<M>>()
    const retired = new Map<string, FoundMemory<M>>()
    if (mustFit && !isFitting) return []
    for (const { source, score, coverage, words } of chosen) {
      const own = this.#memories.get(source)
      if (!own) continue
      const memory = this.#currentOf(own)
      const rest = { score, coverage, words }
      if (memory && !current.has(memory.file)) current.set(memory.file, { memory, ...rest, isRetired: false })
      if (memory !== own && !retired.has(own.file)) retired.set(own.file, { memory: own, ...rest, isRetired: true })
    }
    const listed = includeRetired
      ? [...retired.values()].sort((a, b) => this.#depth(a.memory) - this.#depth(b.memory))
      : []
    return [...current.values(), ...listed].slice(0, limit)
  }

  /** The files of superseded memories. */
  get retired(): Iterable<string> {
    return this.#successors.keys()
  }

  get(file: string): M | undefined {
    return this.#memories.get(file)
  }

  close(): void {
    clearImmediate(this.#later)
    this.#index.close()
  }

  /** The last memory in a chain of successors. Undefined if it was deleted. */
  #currentOf(memory: M): M | undefined {
    const successor = this.#successors.get(memory.file)
    if (successor === undefined) return memory
    const next = this.#memories.get(successor)
    return next && this.#currentOf(next)
  }

  #depth({ file }: SearchableMemory): number {
    const successor = this.#successors.get(file)
    return successor === undefined ? 0 : 1 + this.#depth({ file: successor } as SearchableMemory)
  }
}

/**
 * Successors by file. Both directions of references are read, since users edit these files. References that would form a cycle are
 * ignored.
 */
function findSuccessors(memories: readonly SearchableMemory[]): ReadonlyMap<string, string> {
  const successors = new Map<string, string>()
  const leadsTo = (from: string, to: string): boolean => {
    for (let at: string | undefined = from; at !== undefined; at = successors.get(at)) if (at === to) return true
    return false
  }
  const link = (older: string, newer: string) => {
    if (!successors.has(older) && !leadsTo(newer, older)) successors.set(older, newer)
  }
  const linked = memories.filter(({ supersedes, supersededBy }) => supersedes ?? supersededBy)
  const newestFirst = linked.toSorted((a, b) => compare(b.created, a.created) || compare(a.file, b.file))
  for (const { file, supersedes = [] } of newestFirst) for (const older of supersedes) link(older, file)
  for (const { file, supersededBy } of newestFirst.toReversed())
    if (supersededBy !== undefined) link(file, supersededBy)
  return successors
}

const fingerprints = new WeakMap<SearchableMemory, string>()

/** A hash of the indexed fields of a memory. */
function fingerprint(memory: SearchableMemory): string {
  const known = fingerprints.get(memory)
  if (known !== undefined) return known
  const { name, description, confirmed, body } = memory
  const computed = hash("sha1", JSON.stringify([name, description, confirmed, body]), "base64")
  fingerprints.set(memory, computed)
  return computed
}

const priorOf = (memory: SearchableMemory | undefined) =>
  memory ? (TYPE_PRIOR[memory.type] ?? 1) * (memory.basis === "concluded" ? CONCLUDED_PRIOR : 1) : 0

/** The passages of a memory. They count as the user's text, because memories are what users want to preserve. */
function memoryPassages({ file, name, description, confirmed, body }: SearchableMemory): readonly Passage[] {
  const parts = splitText(body)
  return (parts.length > 0 ? parts : [{ start: 0, end: 0 }]).map(({ start, end }) => ({
    ...{ uuid: file, blocks: "", kind: "user", isDialogue: true, time: confirmed },
    label: `${name.replaceAll("-", " ")} ${description}`,
    ...{ start, length: body.length, text: body.slice(start, end) },
  }))
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

const IN_MEMORY = ":memory:"

/**
 * An index in a file that others may use, remove or damage. It can be rebuilt at any time: a damaged one is removed, and where a file
 * cannot be used, an index in memory replaces it.
 */
export class PersistentIndex {
  #path: string
  #inode: number | undefined
  #index: PassageIndex | undefined

  /** `path`: the file. Default: in memory. */
  constructor(path = IN_MEMORY) {
    this.#path = path
  }

  /** Calls the function with the index, which may be a new, empty one. */
  ask<T>(question: (index: PassageIndex) => T): T {
    try {
      return this.#query(question)
    } catch (error) {
      if (this.#path === IN_MEMORY || !(isFromSqlite(error) || (error as NodeJS.ErrnoException).code)) throw error
      this.close()
      if (isFromSqlite(error) && isDamage(error)) removeDatabase(this.#path)
      else this.#path = IN_MEMORY
      return this.#query(question)
    }
  }

  close(): void {
    this.#index?.close()
    this.#index = undefined
  }

  #query<T>(question: (index: PassageIndex) => T): T {
    if (this.#path !== IN_MEMORY && this.#index && inodeOf(this.#path) !== this.#inode) this.close()
    this.#index ??= this.#opened()
    return question(this.#index)
  }

  #opened(): PassageIndex {
    if (this.#path !== IN_MEMORY) {
      closeSync(openSync(this.#path, "a", FILE_MODE)) // SQLite would create a file that others can read
      this.#inode = inodeOf(this.#path)
    }
    return new PassageIndex(this.#path)
  }
}

const inodeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.ino
