/**
 * Among many memories, those that a written one may take the place of or cast doubt on. A few pairs are all compared. For many, only those
 * that share the words of a subject are, as in a dream: two large changes would take hours otherwise.
 */
import { keysAsNewer, keysOf, rarerKeysOf, textKey, wordsInCommon } from "../facts/relation.ts"
import type { Memory } from "../memory.ts"

const MAX_PAIRS = 50_000 // about 0.3 s

/** `written`: how many there are to look up. */
export function nearMemories(memories: readonly Memory[], written: number): (memory: Memory) => Iterable<Memory> {
  if (written * memories.length <= MAX_PAIRS) return () => memories
  const keys = (one: Memory) => [...keysOf(one), ...rarerKeysOf(one)]
  const [byKey, byText, byName] = [keys, (one: Memory) => [textKey(one)], namesOf].map((of) =>
    listedBy(memories, of),
  ) as [Listed, Listed, Listed]
  return (memory) => {
    const [rarest] = found(byKey, wordsInCommon(memory)).sort((a, b) => a.length - b.length)
    return new Set([
      ...found(byName, memory.supersedes ?? []).flat(),
      ...found(byText, [textKey(memory)]).flat(),
      ...found(byKey, keysAsNewer(memory)).flat(),
      ...(rarest ?? found(byKey, keysOf(memory)).flat()),
    ])
  }
}

type Listed = ReadonlyMap<string, readonly Memory[]>

const namesOf = ({ file, name }: Memory) => [file, file.replace(/\.md$/, ""), name]
const found = (listed: Listed, keys: readonly string[]) => keys.map((key) => listed.get(key) ?? [])

function listedBy(memories: readonly Memory[], keysOfOne: (memory: Memory) => readonly string[]): Listed {
  const listed = new Map<string, Memory[]>()
  for (const memory of memories)
    for (const key of new Set(keysOfOne(memory))) {
      const there = listed.get(key)
      if (there) there.push(memory)
      else listed.set(key, [memory])
    }
  return listed
}
