/**
 * Each fact has one current memory: marks of supersession agree in both directions, form no circle, and no two current ones say the same or
 * contradict each other. A dream's own marks count only where the two memories may be about the same thing.
 */

import { mayConflict } from "../../../memory/changes/supersession.ts"
import {
  keysAsNewer,
  keysOf,
  mayReplace,
  type Relation,
  rarerKeysOf,
  relationOf,
  textKey,
  wordsInCommon,
} from "../../../memory/facts/relation.ts"
import { isOverreach } from "../../../memory/instruction-guard.ts"
import { isCurrentMemory, isRule, isUserMemory, type Memory } from "../../../memory/memory.ts"
import { type CheckedMemories, compareAge } from "./memories.ts"

export function checkSupersession(memories: CheckedMemories): void {
  keepSuccessors(memories)
  cleanSuccessors(memories)
  cleanReferences(memories)
  markOlder(memories)
  breakCircles(memories)
  const current = [...memories.items.values()].map(({ memory }) => memory).filter(isCurrentMemory)
  const found = findRelated(current)
  supersedeByBody(memories, { current, found })
  markDoubted(memories, { current, found })
}

interface RelatedMemories {
  readonly current: readonly Memory[]
  readonly found: MemoryRelations
}

/** A memory that another one is superseded by cannot be removed: the older one would have no successor. */
function keepSuccessors(memories: CheckedMemories): void {
  for (const { memory } of [...memories.items.values()]) {
    const successor = memory.supersededBy
    if (successor === undefined || memories.items.has(successor)) continue
    const removed = memories.before.get(successor)
    const next = removed?.supersededBy
    if (next !== undefined && next !== memory.file && memories.items.has(next))
      memories.set(memory.file, { ...memory, supersededBy: next }, `${memory.file}: its successor is now ${next}.`)
    else if (removed) memories.restore(successor, `${successor}: kept, because it supersedes ${memory.file}.`)
    else memories.set(memory.file, withoutMark(memory), `${memory.file}: its successor ${successor} does not exist.`)
  }
}

/** A memory stays current if the dream says that something else took its place. */
function cleanSuccessors(memories: CheckedMemories): void {
  for (const { memory, before } of [...memories.items.values()]) {
    const successor = memories.items.get(memory.supersededBy ?? "")?.memory
    if (!successor || memory.supersededBy === before?.supersededBy || mayReplace(successor, memory)) continue
    memories.set(
      memory.file,
      withoutMark(memory),
      `${memory.file}: still current, because ${successor.file} says something else.`,
    )
  }
}

/** `supersedes` names files that exist. What only a tool said supersedes nothing that someone else said, and only the person supersedes their rules. */
function cleanReferences(memories: CheckedMemories): void {
  const byName = new Map([...memories.items.values()].map(({ memory }) => [memory.name, memory.file]))
  for (const { memory } of [...memories.items.values()]) {
    if (!memory.supersedes) continue
    const files = memory.supersedes.flatMap((reference) => {
      const file = [reference, `${reference}.md`].find((one) => memories.items.has(one)) ?? byName.get(reference)
      const older = file === undefined ? undefined : memories.items.get(file)!.memory
      if (!older || older.file === memory.file || isOverreach(memory, older)) return []
      return memories.before.get(memory.file)?.supersedes?.includes(older.file) || mayReplace(memory, older)
        ? [older.file]
        : []
    })
    const kept = [...new Set(files)]
    if (kept.join("\n") !== memory.supersedes.join("\n"))
      memories.set(
        memory.file,
        superseding(memory, kept),
        `${memory.file}: \`supersedes\` named memories it cannot replace.`,
      )
  }
}

function markOlder(memories: CheckedMemories): void {
  const all = () => [...memories.items.values()].map(({ memory }) => memory).sort(compareAge)
  for (const { file: successor } of all()) {
    for (const older of memories.items.get(successor)!.memory.supersedes ?? []) {
      const memory = memories.items.get(older)!.memory
      const isMutual = memory.supersedes?.includes(successor)
      if (isMutual && compareAge(memory, memories.items.get(successor)!.memory) > 0) {
        const rest = memories.items.get(successor)!.memory
        const left = (rest.supersedes ?? []).filter((file) => file !== older)
        memories.set(successor, superseding(rest, left), `${successor}: ${older} is newer.`)
        continue
      }
      if (memory.supersededBy === undefined)
        memories.set(older, { ...memory, supersededBy: successor }, `${older}: marked as superseded by ${successor}.`)
    }
  }
}

/** In a circle of successors the newest memory is the current one. */
function breakCircles(memories: CheckedMemories): void {
  for (const { memory } of [...memories.items.values()]) {
    const circle = [memory.file]
    for (;;) {
      const next = memories.items.get(circle.at(-1)!)?.memory.supersededBy
      if (next === undefined) break
      if (next === memory.file) {
        const newest = circle
          .map((file) => memories.items.get(file)!.memory)
          .sort(compareAge)
          .at(-1)!
        memories.set(newest.file, withoutMark(newest), `${newest.file}: current, as the newest of a circle.`)
        break
      }
      if (circle.includes(next)) break
      circle.push(next)
    }
  }
}

/** What another memory says whole, and what a newer one says otherwise. Names do not count: bodies decide. */
function supersedeByBody(memories: CheckedMemories, { current, found }: RelatedMemories): void {
  const successors = new Map<string, string>()
  const isLeft = ({ file }: Memory) => !successors.has(file)
  const ranked = [...current].sort(compareTrust)
  for (const memory of ranked) {
    const keeper = found
      .covering(memory)
      .filter(
        (one) =>
          isLeft(one) &&
          !isOverreach(one, memory) &&
          (compareTrust(one, memory) > 0 || !found.covering(one).includes(memory)),
      )
      .sort(compareTrust)
      .at(-1)
    if (keeper) successors.set(memory.file, keeper.file)
  }
  for (const memory of current.filter(isLeft)) {
    const newest = found
      .contradicting(memory)
      .filter((one) => isLeft(one) && !isOverreach(one, memory) && isLater(one, memory))
      .sort(compareAge)
      .at(-1)
    if (newest) successors.set(memory.file, newest.file)
  }
  for (const [file, successor] of successors) {
    const { memory } = memories.items.get(file)!
    const last = finalSuccessor(successor, successors)
    const keeper = memories.items.get(last)!.memory
    memories.set(file, { ...memory, supersededBy: last }, `${file}: marked as superseded by ${last}.`)
    memories.set(
      last,
      superseding(keeper, [...new Set([...(keeper.supersedes ?? []), file])]),
      `${last}: ${found.isContradicted(memory, keeper) ? "newer than" : "says all of"} ${file}.`,
    )
  }
}

/** Where a later memory may say otherwise, the older one stays and says so. A mark that is no longer right goes. */
function markDoubted(memories: CheckedMemories, { current, found }: RelatedMemories): void {
  const isLeft = ({ file }: Memory) => isCurrentMemory(memories.items.get(file)!.memory)
  for (const compared of current) {
    const { doubtedBy, ...memory } = memories.items.get(compared.file)!.memory
    const doubting = isLeft(compared)
      ? found.doubting(compared).filter((one) => isLeft(one) && mayConflict(compared, one))
      : []
    // on one day, only who wrote the mark knew which came first
    const later = doubting
      .filter((one) => one.file === doubtedBy || isLater(one, compared))
      .sort(compareAge)
      .at(-1)?.file
    if (later === doubtedBy) continue
    if (later === undefined) memories.set(memory.file, memory, `${memory.file}: nothing current says otherwise.`)
    else memories.set(memory.file, { ...memory, doubtedBy: later }, `${memory.file}: ${later} may say otherwise.`)
  }
}

function finalSuccessor(file: string, successors: ReadonlyMap<string, string>): string {
  let at = file
  for (const seen = new Set<string>(); successors.has(at) && !seen.has(at); at = successors.get(at)!) seen.add(at)
  return at
}

/** On one day no one knows which came first, so both stay. */
const isLater = (one: Memory, other: Memory): boolean =>
  one.confirmed !== other.confirmed ? one.confirmed > other.confirmed : one.created > other.created

/** Of memories that say the same: the person's rule, then what the person said, then what no tool said, then the newest. */
function compareTrust(a: Memory, b: Memory): number {
  const standing = (memory: Memory) =>
    Number(isUserMemory(memory)) * 4 +
    Number(isUserMemory(memory) && isRule(memory)) * 2 +
    Number(memory.source.saidBy !== "tool")
  return standing(a) - standing(b) || compareAge(a, b)
}

function superseding(memory: Memory, files: readonly string[]): Memory {
  const { supersedes: _, ...rest } = memory
  return files.length > 0 ? { ...rest, supersedes: files } : rest
}

function withoutMark(memory: Memory): Memory {
  const { supersededBy: _, ...rest } = memory
  return rest
}

interface MemoryRelations {
  /** Memories that say all of this one. */
  covering(memory: Memory): readonly Memory[]
  /** Memories that say something else about the same. */
  contradicting(memory: Memory): readonly Memory[]
  /** Memories that may say something else about the same, or about a part of it. */
  doubting(memory: Memory): readonly Memory[]
  isContradicted(memory: Memory, other: Memory): boolean
}

/**
 * Finds among many memories those that say the same or contradict each other. Only those that share the words of a subject are compared.
 */
function findRelated(memories: readonly Memory[]): MemoryRelations {
  const byKey = new Map<string, Memory[]>()
  const byText = Map.groupBy(memories, textKey)
  for (const memory of memories)
    for (const key of [...keysOf(memory), ...keysAsNewer(memory)]) {
      const found = byKey.get(key)
      if (found) found.push(memory)
      else byKey.set(key, [memory])
    }
  const relations = new Map<Memory, readonly (readonly [Memory, Relation])[]>()

  function candidatesFor(memory: Memory): ReadonlySet<Memory> {
    const listed = (keys: readonly string[]) =>
      keys.map((key) => byKey.get(key) ?? []).sort((a, b) => a.length - b.length)
    const [rarest] = listed(wordsInCommon(memory))
    return new Set([
      ...(byText.get(textKey(memory)) ?? []),
      ...listed(rarerKeysOf(memory)).flat(),
      ...(rarest ?? listed(keysOf(memory)).flat()),
    ])
  }

  function relationsOf(memory: Memory): readonly (readonly [Memory, Relation])[] {
    const known = relations.get(memory)
    if (known) return known
    const found = [...candidatesFor(memory)]
      .filter((one) => one !== memory)
      .map((one) => [one, relationOf(memory, one)] as const)
      .filter(([, relation]) => relation !== "apart")
    relations.set(memory, found)
    return found
  }

  const having = (memory: Memory, wanted: Relation) =>
    relationsOf(memory).flatMap(([one, relation]) => (relation === wanted ? [one] : []))
  /** A value that is only named as over is meant where a single memory has it. */
  const isMeantAlone = (newer: Memory) => {
    const [, second] = memories.filter((one) => having(one, "named over").includes(newer))
    return second === undefined
  }
  return {
    covering: (memory) => having(memory, "covered"),
    contradicting: (memory) => [...having(memory, "outdated"), ...having(memory, "named over").filter(isMeantAlone)],
    doubting: (memory) =>
      (["doubtful", "named over", "partly outdated"] as const).flatMap((relation) => having(memory, relation)),
    isContradicted: (memory, other) => ["outdated", "named over"].includes(relationOf(memory, other)),
  }
}
