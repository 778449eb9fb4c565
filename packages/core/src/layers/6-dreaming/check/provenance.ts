/**
 * A dream rewrites texts and learns nothing new about their source. So a memory keeps its age, and the weakest source and basis of the
 * memories it was made from; failed attempts stay marked; and content that only a tool provided does not become a rule. A rule of the user
 * changes only if the new text consists of the user's own sentences.
 */
import { findInstruction, lessTrusted, refusalReason, ruleChangeViolation } from "../../../memory/instruction-guard.ts"
import { isRule, isUserMemory, MEMORY_BASES, type Memory, type MemorySource } from "../../../memory/memory.ts"
import { isComposedOf, parseStatements, type StatementWords, titleFrom } from "../../../memory/user-quotes.ts"
import type { CheckedMemories, CheckedMemory } from "./memories.ts"

const SAME_CLAIM = 0.6 // share of a line's words that also occur in the other text
const REWORDED = 0.5

/** Returns why the whole dream is refused, if it is. */
export function checkProvenance(memories: CheckedMemories, today: string): string | undefined {
  const earlier = [...memories.before.values()].map((memory) => ({ memory, words: wordsOf(claimsOf(memory)) }))
  const dropped: string[] = []
  for (const [file, item] of [...memories.items]) {
    if (item.memory === item.before) continue
    const updated = withHistory(item, { earlier, today })
    if (!isSame(updated, item.memory))
      memories.set(file, updated, `${file}: its source, age and certainty stay as they were.`)
    const problem =
      unsupportedRule(updated, item.before, earlier) ??
      refusalReason(updated) ??
      ruleChangeViolation(item.before, updated)
    if (problem === undefined) continue
    if (!item.before) dropped.push(file)
    memories.restore(file, `${file}: ${item.before ? "left as it was" : "not added"}, because ${problem}.`)
  }
  keepRules(memories)
  const hasRemovals = [...memories.before.keys()].some((file) => !memories.items.has(file))
  return dropped.length > 0 && hasRemovals
    ? `${dropped.join(", ")} could not be added, and other memories were removed in the same dream`
    : undefined
}

/** Restores a removed rule of the user, unless another memory of the user contains its sentences. */
function keepRules(memories: CheckedMemories): void {
  const theirs = [...memories.items.values()].map(({ memory }) => memory).filter(isUserMemory)
  const statements = theirs.flatMap(({ body }) => parseStatements(body))
  for (const [file, memory] of memories.before)
    if (!memories.items.has(file) && isRule(memory) && isUserMemory(memory) && !isComposedOf(memory.body, statements))
      memories.restore(file, `${file}: kept, because it is a rule of the user.`)
}

interface Earlier {
  readonly memory: Memory
  readonly words: ReadonlySet<string>
}

interface History {
  readonly earlier: readonly Earlier[]
  readonly today: string
}

function withHistory(item: CheckedMemory, { earlier, today }: History): Memory {
  const { memory, before } = item
  const origins = before ? [] : originsOf(memory, earlier)
  const tools = toolsClaiming(memory, before, earlier)
  const sources = [...(before ? [before] : []), ...origins, ...tools].map((one) => one.source)
  const source = sources.reduce(lessTrusted, wordsSource(memory, before, earlier))
  const weakest = Math.max(
    isUserMemory({ source }) ? 0 : MEMORY_BASES.indexOf(memory.basis),
    ...[before, ...origins].map((one) => MEMORY_BASES.indexOf(one?.basis ?? "said")),
  )
  const latest = before && before.confirmed > memory.confirmed ? before.confirmed : memory.confirmed
  const { failed: _, ...rest } = memory
  return {
    ...rest,
    ...(isUserMemory({ source }) ? titleFor(memory, before) : {}),
    created: before?.created ?? oldest([memory.created, today]),
    confirmed: latest.slice(0, today.length) > today ? (before?.confirmed ?? today) : latest,
    source,
    basis: before || origins.length > 0 ? MEMORY_BASES[weakest]! : "concluded",
    ...(memory.failed || before?.failed ? { failed: true as const } : {}),
  }
}

/** The earlier memories that a new one supersedes. */
const originsOf = ({ supersedes = [] }: Memory, earlier: readonly Earlier[]): readonly Memory[] =>
  earlier
    .filter(({ memory: { file, name } }) => supersedes.some((one) => one === file || one === name))
    .map(({ memory }) => memory)

/** The source of the text: the user if every sentence is the user's, otherwise the agent. */
function wordsSource(memory: Memory, before: Memory | undefined, earlier: readonly Earlier[]): MemorySource {
  if (before && before.body === memory.body) return before.source
  const theirs = earlier.map((one) => one.memory).filter(isUserMemory)
  const statements: readonly StatementWords[] = theirs.flatMap(({ body }) => parseStatements(body))
  const conversation = before?.source.conversation
  if (!isComposedOf(memory.body, statements)) return { saidBy: "agent", ...(conversation ? { conversation } : {}) }
  return [...(before ? [before] : []), ...theirs].find(isUserMemory)!.source
}

/** The title of a memory. A title that the dream made up would be shown as the user's. */
const titleFor = (memory: Memory, before: Memory | undefined): Pick<Memory, "name" | "description"> =>
  before ? { name: before.name, description: before.description } : titleFrom(memory.body)

/** Memories from tools that contain the added text, unless a more trusted memory contains it too. */
function toolsClaiming(memory: Memory, before: Memory | undefined, earlier: readonly Earlier[]): readonly Memory[] {
  const tools = earlier.filter((one) => one.memory.source.saidBy === "tool" && one.memory.file !== memory.file)
  if (tools.length === 0) return []
  const others = earlier.filter((one) => one.memory.source.saidBy !== "tool")
  return addedLines(memory, before).flatMap((line) => {
    const words = wordsOf(line)
    if (others.some((one) => share(words, one.words) >= SAME_CLAIM)) return []
    return tools.filter((one) => share(words, one.words) >= SAME_CLAIM).map((one) => one.memory)
  })
}

/** Reason why a rule is not supported by the user's statements, as the end of a sentence. */
function unsupportedRule(memory: Memory, before: Memory | undefined, earlier: readonly Earlier[]): string | undefined {
  if (!isRule(memory)) return undefined
  const trusted = earlier.filter((one) => one.memory.source.saidBy !== "tool")
  const rules = trusted.filter((one) => isRule(one.memory))
  const isNewRule = !before || !isRule(before)
  if (isNewRule && !rules.some((one) => share(wordsOf(claimsOf(memory)), one.words) >= REWORDED))
    return `a dream adds no memory of type ${memory.type} that no earlier one supports`
  const added = addedLines(memory, before).find(
    (line) =>
      findInstruction(line) !== undefined && !trusted.some((one) => share(wordsOf(line), one.words) >= REWORDED),
  )
  return added && `it has a new instruction without a source (${JSON.stringify(added.slice(0, 60))})`
}

const claimsOf = ({ name, description, body }: Memory): string => [name, description, body].join("\n")

function addedLines(memory: Memory, before: Memory | undefined): readonly string[] {
  const had = new Set(before ? linesOf(claimsOf(before)) : [])
  return linesOf(claimsOf(memory)).filter((line) => !had.has(line))
}

const linesOf = (text: string): readonly string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")

/** Words of four letters or more: shorter ones say little about the subject. */
export const wordsOf = (text: string): ReadonlySet<string> =>
  new Set(
    text
      .normalize("NFKC")
      .toLowerCase()
      .match(/[\p{L}\p{N}]{4,}/gu) ?? [],
  )

/** The share of `words` that are in `among`; 0 for an empty set. */
export function share(words: ReadonlySet<string>, among: ReadonlySet<string>): number {
  if (words.size === 0) return 0
  return [...words].filter((word) => among.has(word)).length / words.size
}

const oldest = (times: readonly string[]): string => times.reduce((a, b) => (b < a ? b : a))
const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(sorted(a)) === JSON.stringify(sorted(b))
const sorted = (value: unknown): unknown =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value
