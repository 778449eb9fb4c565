/**
 * Checks the result of the model. Repairs by rule what a rule can repair, and refuses the rest. Without changes, it reports what is wrong
 * with the current memories.
 */

import { utcDay } from "../../../base/clock.ts"
import { INDEX_FILE } from "../../../memory/file-names.ts"
import { linkedFile, loadedIndex, updateIndex } from "../../../memory/index-file.ts"
import { isCurrentMemory, isRule, type Memory } from "../../../memory/memory.ts"
import { type CheckedMemories, checkedMemories, compareAge } from "./memories.ts"
import { checkProvenance, share, wordsOf } from "./provenance.ts"
import { checkSupersession } from "./supersession.ts"

/** Whether the project contains a file that a link may refer to. */
type ProjectHas = (path: string) => boolean

interface CheckInput {
  /** Texts before the dream: memories and the index. */
  readonly base: ReadonlyMap<string, string>
  readonly before: readonly Memory[]
  /** Changes of the dream; `null` removes a file. */
  readonly changed: ReadonlyMap<string, string | null>
  readonly now: Date
  readonly projectHas: ProjectHas
}

export type ConsolidationCheck =
  | {
      readonly state: "clean"
      /** Texts to install; `null` removes a file. */
      readonly texts: ReadonlyMap<string, string | null>
      readonly after: readonly Memory[]
      /** One sentence for each repair. */
      readonly repairs: readonly string[]
    }
  /** `why` is the end of a sentence. */
  | { readonly state: "refused"; readonly reason: string }

export async function checkConsolidation(input: CheckInput): Promise<ConsolidationCheck> {
  const { base, before, now, projectHas } = input
  const today = utcDay(now)
  const changed = new Map([...input.changed].filter(([file]) => file !== INDEX_FILE))
  const memories = await checkedMemories({ base, before, changed, today })
  const refusal = checkProvenance(memories, today)
  if (refusal) return { state: "refused", reason: refusal }
  checkSupersession(memories)
  checkLinks(memories, projectHas)
  const texts = new Map(await memories.texts())
  const indexText = input.changed.get(INDEX_FILE)
  const listed = base.get(INDEX_FILE)
  const index = repairIndex({ text: indexText ?? listed, before: listed, memories, projectHas })
  if (index !== (listed ?? "")) texts.set(INDEX_FILE, index)
  const repairs = [...memories.repairs, ...(isIndexRepaired(index, indexText ?? listed) ? [INDEX_REPAIRED] : [])]
  return { state: "clean", texts, after: [...memories.items.values()].map(({ memory }) => memory), repairs }
}

const INDEX_REPAIRED = `${INDEX_FILE}: its lines did not match the memories.`
const isIndexRepaired = (index: string, indexText: string | undefined): boolean =>
  index.trim() !== (indexText ?? "").trim()

/** Matches a link to a markdown file in the same directory. Other paths belong to the project. */
const LINK = /\[([^\]\n]*)\]\((?:\.\/)?([^()\s/#:]+\.md)(#[^()\s]*)?\)/g

/** Repairs links that lead to no current memory. */
function checkLinks(memories: CheckedMemories, projectHas: ProjectHas): void {
  for (const { memory } of [...memories.items.values()]) {
    const body = memory.body.replace(LINK, (link, label: string, target: string, part = "") => {
      const found = memories.items.get(target)?.memory
      if (!found) return projectHas(target) ? link : label
      const current = isCurrentMemory(memory) ? currentVersion(found, memories) : found
      return current.file === target || current.file === memory.file ? link : `[${label}](${current.file}${part})`
    })
    if (body !== memory.body)
      memories.set(memory.file, { ...memory, body }, `${memory.file}: a link led to no current memory.`)
  }
}

/** Follows `supersededBy` to the current memory. */
function currentVersion(memory: Memory, memories: CheckedMemories): Memory {
  const seen = new Set<string>()
  let at = memory
  while (at.supersededBy !== undefined && !seen.has(at.file)) {
    seen.add(at.file)
    const next = memories.items.get(at.supersededBy)?.memory
    if (!next) return at
    at = next
  }
  return at
}

interface IndexInput {
  /** The index after the dream. */
  readonly text: string | undefined
  /** The index before the dream. */
  readonly before: string | undefined
  readonly memories: CheckedMemories
  readonly projectHas: ProjectHas
}

/**
 * Brings the index up to date with the memories. If it is too long, rules and the most recently confirmed memories come first, because the
 * rest is cut when it is loaded.
 */
function repairIndex({ text, before, memories, projectHas }: IndexInput): string {
  const all = [...memories.items.values()].map(({ memory }) => memory)
  const removed = new Set([...memories.before.keys()].filter((file) => !memories.items.has(file)))
  const had = new Set((before ?? "").split("\n"))
  const isDead = (line: string) => {
    const file = linkedFile(line)
    if (!had.has(line) && (file === undefined ? line.trim() !== "" : !memories.items.has(file))) return true // a dream adds no lines of its own
    return file !== undefined && !memories.items.has(file) && !projectHas(file)
  }
  const alive = (text ?? "")
    .split("\n")
    .filter((line) => !isDead(line))
    .join("\n")
  const renewed = new Set(
    all.filter((memory) => isRenewed(memories.before.get(memory.file), memory)).map(({ file }) => file),
  )
  const updated = updateIndex({ text: alive === "" ? undefined : alive, memories: all, renewed, removed })
  return loadedIndex(updated).isCut ? orderIndex(updated, memories) : updated
}

const isRenewed = (before: Memory | undefined, after: Memory): boolean =>
  before !== undefined &&
  (before.name !== after.name || before.description !== after.description || before.failed !== after.failed)

function orderIndex(index: string, { items }: CheckedMemories): string {
  const lines = index.split("\n")
  const memoryOf = (line: string) => items.get(linkedFile(line) ?? "")?.memory
  const rank = (memory: Memory) => (isRule(memory) ? 0 : 1)
  const listed = lines.filter((line) => memoryOf(line))
  const best = [...listed].sort((one, other) => {
    const [a, b] = [memoryOf(one)!, memoryOf(other)!]
    return rank(a) - rank(b) || compareAge(b, a)
  })
  const first = lines.findIndex((line) => memoryOf(line))
  const rest = lines.filter((line) => !memoryOf(line))
  return [...rest.slice(0, first), ...best, ...rest.slice(first)].join("\n")
}

const MAX_LOST = 1 / 4
const MIN_WORDS_SHARE = 1 / 4 // minimum share of its words that must remain

interface MemoryLosses {
  readonly files: readonly string[]
  /** Number of current memories before the dream. */
  readonly of: number
  readonly needsConsent: boolean
}

/**
 * Finds memories that a dream would take out of view. More than a quarter at once needs the user's consent. Every memory that leaves the
 * index counts, however similar its replacement is, and so does one that is mostly emptied: "62 files became 3, all is well" must not pass.
 */
export function findLosses(before: readonly Memory[], after: readonly Memory[]): MemoryLosses {
  const now = new Map(after.map((memory) => [memory.file, memory]))
  const files = before.filter((memory) => isLost(memory, now.get(memory.file))).map(({ file }) => file)
  const of = before.filter(isCurrentMemory).length
  return { files, of, needsConsent: files.length > of * MAX_LOST }
}

function isLost(memory: Memory, left: Memory | undefined): boolean {
  if (!left) return true
  if (!isCurrentMemory(memory)) return false // it was out of view already
  const words = wordsOf(memory.body)
  return !isCurrentMemory(left) || (words.size > 0 && share(words, wordsOf(left.body)) < MIN_WORDS_SHARE)
}
