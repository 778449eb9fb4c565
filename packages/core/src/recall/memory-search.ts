/**
 * Search in memories: title, description, body. A memory that another one replaced is never offered above it: what it matches counts for its
 * successor.
 */
import { type Passage, partsOf } from "./passage.ts"
import { PassageIndex } from "./passage-index.ts"
import type { Question } from "./ranking.ts"

/** What search needs to know about a memory. */
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
  readonly body: string
}

export interface FoundMemory<M extends SearchableMemory> {
  readonly memory: M
  readonly score: number
  readonly coverage: number
  readonly words: readonly string[]
  /** Whether another memory replaced it. */
  readonly isRetired: boolean
}

export interface MemoryQuestion extends Pick<Question, "text" | "context" | "now" | "limit" | "weights"> {
  /** Also list replaced memories, after all current ones. Default: false. */
  readonly includeRetired?: boolean
  /** Finds nothing where memories only share a word with the question. Default: false. */
  readonly mustFit?: boolean
}

/** How people want to work matters more often than where something is. */
const TYPE_PRIOR: Readonly<Record<string, number>> = { feedback: 1.15, user: 1.1, project: 1, reference: 1 }
const CONCLUDED_PRIOR = 0.9 // the agent's own conclusion, not seen or said
const DEFAULT_LIMIT = 5
const SLICE = 20 // memories that are indexed at once in the background: about 5 ms

export class MemorySearch<M extends SearchableMemory> {
  readonly #index = new PassageIndex(":memory:")
  #memories: ReadonlyMap<string, M> = new Map()
  /** Files to index. */
  readonly #waiting = new Set<string>()
  #later: NodeJS.Immediate | undefined
  #successors: ReadonlyMap<string, string> = new Map()

  constructor(memories: readonly M[] = []) {
    this.update(memories)
  }

  /**
   * Takes these memories in place of the ones before. Only those that changed are indexed again, the newest first: `most` of them now, the
   * rest in slices while nothing else happens.
   */
  update(memories: readonly M[], most = Number.POSITIVE_INFINITY): void {
    const before = this.#memories
    this.#memories = new Map(memories.map((memory) => [memory.file, memory]))
    if (memories.every((memory) => before.get(memory.file) === memory) && before.size === memories.length) return
    this.#successors = successorsOf(memories)
    for (const file of before.keys()) if (!this.#memories.has(file)) this.#index.remove(file)
    const changed = memories.filter((memory) => !isSameText(memory, before.get(memory.file)))
    for (const { file } of changed.toSorted((a, b) => compare(b.confirmed, a.confirmed))) this.#waiting.add(file)
    this.#indexNext(most)
    this.#indexLater()
  }

  #indexNext(most: number): void {
    const files = [...this.#waiting].slice(0, most)
    for (const file of files) this.#waiting.delete(file)
    const there = files.flatMap((file) => this.#memories.get(file) ?? [])
    if (there.length > 0) this.#index.replace(new Map(there.map((memory) => [memory.file, passagesOf(memory)])))
  }

  #indexLater(): void {
    if (this.#waiting.size === 0 || this.#later) return
    this.#later = setImmediate(() => {
      this.#later = undefined
      this.#indexNext(SLICE)
      this.#indexLater()
    })
    this.#later.unref()
  }

  search(asked: MemoryQuestion): readonly FoundMemory<M>[] {
    const { includeRetired = false, mustFit = false, limit = DEFAULT_LIMIT, ...question } = asked
    const { found, isFitting } = this.#index.search({
      ...question,
      ...{ limit: Number.POSITIVE_INFINITY, isDistinct: false },
      prior: (source) => priorOf(this.#memories.get(source)!),
    })
    const current = new Map<string, FoundMemory<M>>()
    const retired = new Map<string, FoundMemory<M>>()
    if (mustFit && !isFitting) return []
    for (const { source, score, coverage, words } of found) {
      const own = this.#memories.get(source)!
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

  /** The files of the memories that others replaced. */
  get retired(): ReadonlySet<string> {
    return new Set(this.#successors.keys())
  }

  close(): void {
    clearImmediate(this.#later)
    this.#index.close()
  }

  /** The newest memory in a chain of replacements. None if it was deleted. */
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

/** Both directions count, since people edit these files. Links that would form a circle are left out. */
function successorsOf(memories: readonly SearchableMemory[]): ReadonlyMap<string, string> {
  const successors = new Map<string, string>()
  const leadsTo = (from: string, to: string): boolean => {
    for (let at: string | undefined = from; at !== undefined; at = successors.get(at)) if (at === to) return true
    return false
  }
  const link = (older: string, newer: string) => {
    if (!successors.has(older) && !leadsTo(newer, older)) successors.set(older, newer)
  }
  const newestFirst = memories.toSorted((a, b) => compare(b.created, a.created) || compare(a.file, b.file))
  for (const { file, supersedes = [] } of newestFirst) for (const older of supersedes) link(older, file)
  for (const { file, supersededBy } of newestFirst.toReversed())
    if (supersededBy !== undefined) link(file, supersededBy)
  return successors
}

function isSameText(memory: SearchableMemory, before: SearchableMemory | undefined): boolean {
  if (memory === before) return true
  const fields = ["name", "description", "confirmed", "body"] as const
  return before !== undefined && fields.every((field) => memory[field] === before[field])
}

const priorOf = ({ type, basis }: SearchableMemory) =>
  (TYPE_PRIOR[type] ?? 1) * (basis === "concluded" ? CONCLUDED_PRIOR : 1)

/** A memory is what a person wants to keep, so it counts as theirs. */
function passagesOf({ file, name, description, confirmed, body }: SearchableMemory): readonly Passage[] {
  const parts = partsOf(body)
  return (parts.length > 0 ? parts : [{ start: 0, end: 0 }]).map(({ start, end }) => ({
    ...{ uuid: file, blocks: "", kind: "user", isSaid: true, time: confirmed },
    label: `${name.replaceAll("-", " ")} ${description}`,
    ...{ start, length: body.length, text: body.slice(start, end) },
  }))
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
