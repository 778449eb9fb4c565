/** Each fact has one current memory: marks of supersession agree in both directions, form no circle, and no two current ones share a name. */
import { isOverreach } from "../../memory/instruction-guard.ts"
import { isCurrent, isPersons, isRule, type Memory } from "../../memory/memory.ts"
import { type CheckedMemories, compareAge } from "./checked-memories.ts"

export function checkSupersession(memories: CheckedMemories): void {
  keepSuccessors(memories)
  cleanReferences(memories)
  markOlder(memories)
  breakCircles(memories)
  supersedeDuplicates(memories)
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

/** `supersedes` names files that exist. What only a tool said supersedes nothing that someone else said, and only the person supersedes their rules. */
function cleanReferences(memories: CheckedMemories): void {
  const byName = new Map([...memories.items.values()].map(({ memory }) => [memory.name, memory.file]))
  for (const { memory } of [...memories.items.values()]) {
    if (!memory.supersedes) continue
    const files = memory.supersedes.flatMap((reference) => {
      const file = [reference, `${reference}.md`].find((one) => memories.items.has(one)) ?? byName.get(reference)
      const older = file === undefined ? undefined : memories.items.get(file)!.memory
      return !older || older.file === memory.file || isOverreach(memory, older) ? [] : [older.file]
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

function supersedeDuplicates(memories: CheckedMemories): void {
  const groups = Map.groupBy([...memories.items.values()].map(({ memory }) => memory).filter(isCurrent), ({ name }) =>
    normalName(name),
  )
  for (const group of groups.values()) {
    if (group.length < 2) continue
    const keeper = keeperOf(group)
    const older = group.filter(({ file }) => file !== keeper.file)
    const files = [...new Set([...(keeper.supersedes ?? []), ...older.map(({ file }) => file)])]
    memories.set(
      keeper.file,
      superseding(keeper, files),
      `${keeper.file}: the newest of ${group.length} memories with the name ${JSON.stringify(keeper.name)}.`,
    )
    for (const memory of older)
      memories.set(
        memory.file,
        { ...memory, supersededBy: keeper.file },
        `${memory.file}: marked as superseded by ${keeper.file}.`,
      )
  }
}

/** The newest, but what a tool said replaces nothing else, and what no one confirmed replaces no rule of the person. */
function keeperOf(group: readonly Memory[]): Memory {
  const rules = group.filter((memory) => isRule(memory) && isPersons(memory))
  const trusted = group.filter(({ source }) => source.saidBy !== "tool")
  const best = [rules, trusted].find((some) => some.length > 0) ?? group
  return [...best].sort(compareAge).at(-1)!
}

export const normalName = (name: string): string =>
  name
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim()

function superseding(memory: Memory, files: readonly string[]): Memory {
  const { supersedes: _, ...rest } = memory
  return files.length > 0 ? { ...rest, supersedes: files } : rest
}

function withoutMark(memory: Memory): Memory {
  const { supersededBy: _, ...rest } = memory
  return rest
}
