/**
 * Which memories a written one takes the place of, at once and for every author: those it names, and those that say something else about the
 * same subject and attribute. The older file stays, with a pointer. What no one confirmed replaces nothing that the person said.
 */

import type { Steps } from "../../base/work.ts"
import { contradictedIn, type Relation, relationOf, textKey } from "../facts/relation.ts"
import { isOverreach } from "../instruction-guard.ts"
import { isCurrentMemory, isRule, isUserMemory, type Memory, type MemoryType } from "../memory.ts"

export interface Written {
  readonly memory: Memory
  /** As it was. Absent in a new file. */
  readonly before?: Memory | undefined
}

/** By older file, the file that takes its place. `others`: the memories that were there before and are not written now. */
export function successorsOf(written: readonly Written[], others: readonly Memory[]): ReadonlyMap<string, string> {
  const successors = new Map<string, string>()
  for (const { memory, before } of written) {
    const isNews = before?.body !== memory.body || isUserMemory(before) !== isUserMemory(memory)
    const outdated = isNews && isCurrentMemory(memory) ? outdatedBy(memory, others) : new Set<Memory>()
    for (const older of others) {
      const isReplaced = isNamed(older, memory.supersedes) || outdated.has(older)
      if (isReplaced && older.file !== memory.file && !isOverreach(memory, older))
        successors.set(older.file, memory.file)
    }
  }
  return successors
}

/** By older file, the file of the memory that may say otherwise. Both stay current. */
export function doubtersOf(written: readonly Written[], others: readonly Memory[]): ReadonlyMap<string, string> {
  const doubters = new Map<string, string>()
  for (const { memory, before } of written) {
    if (before?.body === memory.body || !isCurrentMemory(memory)) continue
    for (const older of others)
      if (isCurrentMemory(older) && older.file !== memory.file && isDoubted(older, memory))
        doubters.set(older.file, memory.file)
  }
  return doubters
}

/**
 * A rule that a later one contradicts in part, without that part: of two rules about the same only one is in force. The history has the
 * whole. Nothing: no part of it is contradicted, or nothing would be left.
 */
export function withoutContradicted(rule: Memory, later: Memory): Memory | undefined {
  if (!isRule(rule) || !isDoubted(rule, later) || relationOf(rule, later) !== "partly outdated") return undefined
  const outdated = contradictedIn(rule, later)
  const without = (text: string) =>
    outdated
      .reduce((left, sentence) => left.replace(sentence, () => ""), text)
      .replace(/^[ \t]*(?:[-*+•]|\d+[.)])?[ \t]*$\n?/gmu, "")
      .replace(/ {2,}/g, " ")
      .trim()
  const body = without(rule.body)
  if (body === "" || body === rule.body || outdated.some((sentence) => body.includes(sentence))) return undefined
  const named = (text: string) => without(text) || body.split("\n")[0]!
  return { ...rule, body, name: named(rule.name), description: named(rule.description) }
}

/** What no one confirmed casts no doubt on what the person said. */
export const isDoubted = (older: Memory, later: Memory): boolean =>
  later.confirmed >= older.confirmed && !isOverreach(later, older) && DOUBTS.has(relationOf(older, later))
const DOUBTS: ReadonlySet<Relation> = new Set(["doubtful", "named over", "partly outdated"])

/** What the newer memory says otherwise, among these. A value that it only names as over is meant where a single one has it. */
function outdatedBy(newer: Memory, others: Iterable<Memory>): ReadonlySet<Memory> {
  const [outdated, named]: [Memory[], Memory[]] = [[], []]
  for (const older of others) {
    if (older.file === newer.file || !isCurrentMemory(older)) continue
    const relation = relationOf(older, newer)
    if (relation === "outdated") outdated.push(older)
    else if (relation === "named over") named.push(older)
  }
  return new Set([...outdated, ...(named.length === 1 ? named : [])])
}

/**
 * Of these sentences, those that say otherwise than a current memory, each with the type of what it replaces. What replaces something has to
 * be kept, or the outdated fact would go on as the current one.
 */
export function* replacingSteps(
  sentences: readonly string[],
  memories: readonly Memory[],
): Steps<ReadonlyMap<string, MemoryType>> {
  const found = new Map<string, MemoryType>()
  if (sentences.length === 0) return found
  for (const memory of memories) {
    textKey(memory) // reads what it says, once in a process; with many memories that takes a while
    yield
  }
  for (const sentence of sentences) {
    const [replaced] = outdatedBy({ ...SAID_NOW, name: sentence, body: sentence }, memories)
    if (replaced) found.set(sentence, replaced.type)
    yield
  }
  return found
}

const SAID_NOW: Memory = {
  ...{ file: "", name: "", description: "", body: "", type: "user", created: "", confirmed: "", basis: "said" },
  source: { saidBy: "user" },
}

/** A reference is a file, with or without its ending, or a name. */
export const isNamed = ({ file, name }: Memory, references: readonly string[] | undefined): boolean =>
  references?.some((reference) => file === reference || file === `${reference}.md` || name === reference) ?? false

/** The older memory with its pointer. It no longer claims to replace its successor. */
export function replaced({ supersedes, doubtedBy: _, ...memory }: Memory, successor: string): Memory {
  const left = (supersedes ?? []).filter((file) => file !== successor)
  return { ...memory, ...(left.length > 0 ? { supersedes: left } : {}), supersededBy: successor }
}
