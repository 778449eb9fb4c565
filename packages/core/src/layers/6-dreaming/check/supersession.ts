/**
 * Ensures that each fact has one current memory: supersession agrees in both directions, has no cycle, and no two current memories repeat
 * or contradict each other. Supersession that the dream added counts only if the two memories may be about the same thing.
 */

import { mayConflict } from "../../../memory/changes/supersession.ts"
import {
  compareMemories,
  type MemoryRelation,
  mayReplace,
  memoryKeys,
  newerMemoryKeys,
  olderMemoryKeys,
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

/** Restores a removed memory that supersedes another one, which would have no successor otherwise. */
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

/** Keeps a memory current if the successor chosen by the dream is about something else. */
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

/**
 * Cleans `supersedes`: it names existing files, content from tools supersedes only content from tools, and only the user supersedes the
 * user's rules.
 */
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
    const valid = [...new Set(files)]
    if (valid.join("\n") !== memory.supersedes.join("\n"))
      memories.set(
        memory.file,
        superseding(memory, valid),
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

/** Makes the newest memory of a cycle of successors the current one. */
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

/** Supersedes memories that another one repeats completely or a newer one contradicts. Bodies decide, not names. */
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

/** Records a later memory that may contradict an older one in the older one, and removes records that no longer apply. */
function markDoubted(memories: CheckedMemories, { current, found }: RelatedMemories): void {
  const isLeft = ({ file }: Memory) => isCurrentMemory(memories.items.get(file)!.memory)
  for (const compared of current) {
    const { doubtedBy, ...memory } = memories.items.get(compared.file)!.memory
    const doubting = isLeft(compared)
      ? found.doubting(compared).filter((one) => isLeft(one) && mayConflict(compared, one))
      : []
    // for memories of one day, only the writer of the record knew their order
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

/** Whether a memory is later. Memories of one day have no order, so both stay. */
const isLater = (one: Memory, other: Memory): boolean =>
  one.confirmed !== other.confirmed ? one.confirmed > other.confirmed : one.created > other.created

/** Orders memories with the same content: the user's rule, other memories of the user, memories not from a tool, then the newest. */
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
  /** Memories that contain all of this one. */
  covering(memory: Memory): readonly Memory[]
  /** Memories that contradict this one. */
  contradicting(memory: Memory): readonly Memory[]
  /** Memories that may contradict this one or a part of it. */
  doubting(memory: Memory): readonly Memory[]
  isContradicted(memory: Memory, other: Memory): boolean
}

/** Finds memories that repeat or contradict each other. Only memories that share the words of a subject are compared. */
function findRelated(memories: readonly Memory[]): MemoryRelations {
  const byKey = new Map<string, Memory[]>()
  const byText = Map.groupBy(memories, textKey)
  for (const memory of memories)
    for (const key of [...memoryKeys(memory), ...newerMemoryKeys(memory)]) {
      const found = byKey.get(key)
      if (found) found.push(memory)
      else byKey.set(key, [memory])
    }
  const relations = new Map<Memory, readonly (readonly [Memory, MemoryRelation])[]>()

  function candidatesFor(memory: Memory): ReadonlySet<Memory> {
    const listed = (keys: readonly string[]) =>
      keys.map((key) => byKey.get(key) ?? []).sort((a, b) => a.length - b.length)
    const [rarest] = listed(wordsInCommon(memory))
    return new Set([
      ...(byText.get(textKey(memory)) ?? []),
      ...listed(olderMemoryKeys(memory)).flat(),
      ...(rarest ?? listed(memoryKeys(memory)).flat()),
    ])
  }

  function relationsOf(memory: Memory): readonly (readonly [Memory, MemoryRelation])[] {
    const known = relations.get(memory)
    if (known) return known
    const found = [...candidatesFor(memory)]
      .filter((one) => one !== memory)
      .map((one) => [one, compareMemories(memory, one)] as const)
      .filter(([, relation]) => relation !== "apart")
    relations.set(memory, found)
    return found
  }

  const having = (memory: Memory, wanted: MemoryRelation) =>
    relationsOf(memory).flatMap(([one, relation]) => (relation === wanted ? [one] : []))
  /** Whether exactly one memory has the value that the newer one only mentions as outdated. */
  const isMeantAlone = (newer: Memory) => {
    const [, second] = memories.filter((one) => having(one, "named over").includes(newer))
    return second === undefined
  }
  return {
    covering: (memory) => having(memory, "covered"),
    contradicting: (memory) => [...having(memory, "outdated"), ...having(memory, "named over").filter(isMeantAlone)],
    doubting: (memory) =>
      (["doubtful", "named over", "partly outdated"] as const).flatMap((relation) => having(memory, relation)),
    isContradicted: (memory, other) => ["outdated", "named over"].includes(compareMemories(memory, other)),
  }
}
