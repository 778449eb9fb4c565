/**
 * Which memories a written one supersedes, at once and for every author: those it names, and those that state another value of the same
 * subject and attribute. The older file stays, with a reference. An unconfirmed memory never supersedes a statement of the user.
 */

import type { CooperativeTask } from "../../base/work.ts"
import { compareMemories, contradictedSentences, type MemoryRelation, textKey } from "../facts/relation.ts"
import { isOverreach } from "../instruction-guard.ts"
import { isCurrentMemory, isRule, isUserMemory, type Memory, type MemoryType } from "../memory.ts"

export interface WrittenMemory {
  readonly memory: Memory
  /** The memory before the change. Absent in a new file. */
  readonly before?: Memory | undefined
}

/** Maps each superseded file to the file that supersedes it. `others`: existing memories that are not written now. */
export function findSuccessors(
  written: readonly WrittenMemory[],
  others: readonly Memory[],
): ReadonlyMap<string, string> {
  const successors = new Map<string, string>()
  for (const { memory, before } of written) {
    const isNews = before?.body !== memory.body || isUserMemory(before) !== isUserMemory(memory)
    const outdated = isNews && isCurrentMemory(memory) ? findOutdated(memory, others) : new Set<Memory>()
    for (const older of others) {
      const isReplaced = isReferenced(older, memory.supersedes) || outdated.has(older)
      if (isReplaced && older.file !== memory.file && !isOverreach(memory, older))
        successors.set(older.file, memory.file)
    }
  }
  return successors
}

/** Maps each older file to the file of a memory with a possible conflict. Both stay current. */
export function findConflictingSuccessors(
  written: readonly WrittenMemory[],
  others: readonly Memory[],
): ReadonlyMap<string, string> {
  const doubters = new Map<string, string>()
  for (const { memory, before } of written) {
    if (before?.body === memory.body || !isCurrentMemory(memory)) continue
    for (const older of others)
      if (isCurrentMemory(older) && older.file !== memory.file && mayConflict(older, memory))
        doubters.set(older.file, memory.file)
  }
  return doubters
}

/**
 * A rule without the sentences that a later rule contradicts: of two rules about the same, only one is in force. The history preserves
 * the complete rule. Undefined if no sentence is contradicted, or none would remain.
 */
export function withoutContradictions(rule: Memory, later: Memory): Memory | undefined {
  if (!isRule(rule) || !mayConflict(rule, later) || compareMemories(rule, later) !== "partly outdated") return undefined
  const outdated = contradictedSentences(rule, later)
  const without = (text: string) =>
    outdated
      .reduce((remaining, sentence) => remaining.replace(sentence, () => ""), text)
      .replace(/^[ \t]*(?:[-*+•]|\d+[.)])?[ \t]*$\n?/gmu, "")
      .replace(/ {2,}/g, " ")
      .trim()
  const body = without(rule.body)
  if (body === "" || body === rule.body || outdated.some((sentence) => body.includes(sentence))) return undefined
  const named = (text: string) => without(text) || body.split("\n")[0]!
  return { ...rule, body, name: named(rule.name), description: named(rule.description) }
}

/** Whether a later memory may conflict with an older one. An unconfirmed memory never conflicts with a statement of the user. */
export const mayConflict = (older: Memory, later: Memory): boolean =>
  later.confirmed >= older.confirmed &&
  !isOverreach(later, older) &&
  CONFLICTING_RELATIONS.has(compareMemories(older, later))
const CONFLICTING_RELATIONS: ReadonlySet<MemoryRelation> = new Set(["doubtful", "named over", "partly outdated"])

/** The memories that the newer one makes outdated. If it names only the old value, that must be the value of exactly one memory. */
function findOutdated(newer: Memory, others: Iterable<Memory>): ReadonlySet<Memory> {
  const [outdated, named]: [Memory[], Memory[]] = [[], []]
  for (const older of others) {
    if (older.file === newer.file || !isCurrentMemory(older)) continue
    const relation = compareMemories(older, newer)
    if (relation === "outdated") outdated.push(older)
    else if (relation === "named over") named.push(older)
  }
  return new Set([...outdated, ...(named.length === 1 ? named : [])])
}

/**
 * The sentences that replace a current memory, each with that memory's type. They have to be saved, or the outdated fact would stay
 * current.
 */
export function* replacingSteps(
  sentences: readonly string[],
  memories: readonly Memory[],
): CooperativeTask<ReadonlyMap<string, MemoryType>> {
  const found = new Map<string, MemoryType>()
  if (sentences.length === 0) return found
  for (const memory of memories) {
    textKey(memory) // parses the memory, once in a process; with many memories this takes a while
    yield
  }
  for (const sentence of sentences) {
    const [replaced] = findOutdated({ ...STATED_NOW, name: sentence, body: sentence }, memories)
    if (replaced) found.set(sentence, replaced.type)
    yield
  }
  return found
}

const STATED_NOW: Memory = {
  ...{ file: "", name: "", description: "", body: "", type: "user", created: "", confirmed: "", basis: "said" },
  source: { saidBy: "user" },
}

/** Whether one of the references names the memory: its file, with or without extension, or its name. */
export const isReferenced = ({ file, name }: Memory, references: readonly string[] | undefined): boolean =>
  references?.some((reference) => file === reference || file === `${reference}.md` || name === reference) ?? false

/** The older memory with a reference to its successor, which it no longer claims to supersede. */
export function withSuccessor({ supersedes, doubtedBy: _, ...memory }: Memory, successor: string): Memory {
  const remaining = (supersedes ?? []).filter((file) => file !== successor)
  return { ...memory, ...(remaining.length > 0 ? { supersedes: remaining } : {}), supersededBy: successor }
}
