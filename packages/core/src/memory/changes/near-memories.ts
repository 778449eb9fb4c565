/**
 * Selects the memories that a written one may supersede or conflict with. Few pairs are all compared. Of many, only those that share
 * the words of a subject, as in a dream: otherwise two large changes would take hours.
 */
import { memoryKeys, newerMemoryKeys, olderMemoryKeys, textKey, wordsInCommon } from "../facts/relation.ts"
import type { Memory } from "../memory.ts"

const MAX_PAIRS = 50_000 // takes about 0.3 s

/** `written`: number of memories to look up. */
export function nearMemories(memories: readonly Memory[], written: number): (memory: Memory) => Iterable<Memory> {
  if (written * memories.length <= MAX_PAIRS) return () => memories
  const keys = (one: Memory) => [...memoryKeys(one), ...olderMemoryKeys(one)]
  const [byKey, byText, byName] = [keys, (one: Memory) => [textKey(one)], referenceNames].map((of) =>
    groupByKeys(memories, of),
  ) as [MemoriesByKey, MemoriesByKey, MemoriesByKey]
  return (memory) => {
    const [rarest] = lookUp(byKey, wordsInCommon(memory)).sort((a, b) => a.length - b.length)
    return new Set([
      ...lookUp(byName, memory.supersedes ?? []).flat(),
      ...lookUp(byText, [textKey(memory)]).flat(),
      ...lookUp(byKey, newerMemoryKeys(memory)).flat(),
      ...(rarest ?? lookUp(byKey, memoryKeys(memory)).flat()),
    ])
  }
}

type MemoriesByKey = ReadonlyMap<string, readonly Memory[]>

const referenceNames = ({ file, name }: Memory) => [file, file.replace(/\.md$/, ""), name]
const lookUp = (listed: MemoriesByKey, keys: readonly string[]) => keys.map((key) => listed.get(key) ?? [])

function groupByKeys(memories: readonly Memory[], keysOfOne: (memory: Memory) => readonly string[]): MemoriesByKey {
  const listed = new Map<string, Memory[]>()
  for (const memory of memories)
    for (const key of new Set(keysOfOne(memory))) {
      const group = listed.get(key)
      if (group) group.push(memory)
      else listed.set(key, [memory])
    }
  return listed
}
