/**
 * Search in memories: title, description, body. A memory that another one replaced is never offered above it: what it matches counts for its
 * successor.
 */
import { splitText } from "./journal-passages.ts"
import type { Passage } from "./passage.ts"
import type { Question } from "./ranking.ts"
import { TextIndex } from "./text-index.ts"

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

export interface MemoryQuestion extends Omit<Question, "prior"> {
  /** Also list replaced memories, after all current ones. Default: false. */
  readonly includeRetired?: boolean
}

/** How people want to work matters more often than where something is. */
const TYPE_PRIOR: Readonly<Record<string, number>> = { feedback: 1.15, user: 1.1, project: 1, reference: 1 }
const CONCLUDED_PRIOR = 0.9 // the agent's own conclusion, not seen or said
/** A memory that was not confirmed for long sinks, to no less than this. It is never dropped for its age. */
const OLDEST_PRIOR = 0.7
const SINKING_DAYS = 180
const DAY = 86_400_000
const DEFAULT_LIMIT = 5

export class MemorySearch<M extends SearchableMemory> {
  readonly #index = new TextIndex(":memory:")
  #memories: ReadonlyMap<string, M> = new Map()
  #successors: ReadonlyMap<string, string> = new Map()

  constructor(memories: readonly M[] = []) {
    this.update(memories)
  }

  /** Takes these memories in place of the ones before. Only those that changed are indexed again. */
  update(memories: readonly M[]): void {
    const before = this.#memories
    this.#memories = new Map(memories.map((memory) => [memory.file, memory]))
    this.#successors = successorsOf(memories)
    const changed = memories.filter((memory) => !isSameText(memory, before.get(memory.file)))
    for (const { file } of [...changed, ...before.values()]) {
      const memory = this.#memories.get(file)
      if (before.has(file) && (!memory || changed.includes(memory))) this.#index.remove(file)
    }
    if (changed.length > 0) this.#index.add(changed.flatMap(passagesOf))
  }

  search({ includeRetired = false, limit = DEFAULT_LIMIT, ...question }: MemoryQuestion): readonly FoundMemory<M>[] {
    const all = { ...question, limit: Number.POSITIVE_INFINITY, prior: this.#prior(question.now) }
    const current = new Map<string, FoundMemory<M>>()
    const retired = new Map<string, FoundMemory<M>>()
    for (const { passage, ...rest } of this.#index.search(all)) {
      const own = this.#memories.get(passage.source)!
      const memory = this.#currentOf(own)
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
    this.#index.close()
  }

  #prior(now: Date): (passage: Pick<Passage, "source">) => number {
    return ({ source }) => {
      const { type, confirmed, basis } = this.#memories.get(source)!
      const days = Math.max(0, now.getTime() - Date.parse(confirmed)) / DAY
      const age = OLDEST_PRIOR + (1 - OLDEST_PRIOR) * Math.exp(-(Number.isNaN(days) ? 0 : days) / SINKING_DAYS)
      return (TYPE_PRIOR[type] ?? 1) * (basis === "concluded" ? CONCLUDED_PRIOR : 1) * age
    }
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

function passagesOf({ file, name, description, confirmed, body }: SearchableMemory): readonly Passage[] {
  const parts = splitText(body)
  return (parts.length > 0 ? parts : [""]).map((text, position) => ({
    source: file,
    position,
    title: `${name.replaceAll("-", " ")} ${description}`,
    text,
    time: confirmed,
  }))
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
