/** Finds among many memories those that say the same or contradict each other. Only those that share the words of a subject are compared. */
import type { Memory } from "./memory.ts"
import { keysOf, type Relation, relationOf, textKey, wordsInCommon } from "./relation.ts"

export interface Related {
  /** Memories that say all of this one. */
  covering(memory: Memory): readonly Memory[]
  /** Memories that say something else about the same. */
  contradicting(memory: Memory): readonly Memory[]
  /** Memories that may say something else about the same, or about a part of it. */
  doubting(memory: Memory): readonly Memory[]
  isContradicted(memory: Memory, other: Memory): boolean
}

export function relatedIn(memories: readonly Memory[]): Related {
  const byKey = new Map<string, Memory[]>()
  const byText = Map.groupBy(memories, textKey)
  for (const memory of memories)
    for (const key of keysOf(memory)) {
      const found = byKey.get(key)
      if (found) found.push(memory)
      else byKey.set(key, [memory])
    }
  const relations = new Map<Memory, readonly (readonly [Memory, Relation])[]>()

  function candidatesFor(memory: Memory): ReadonlySet<Memory> {
    const listed = (keys: readonly string[]) =>
      keys.map((key) => byKey.get(key) ?? []).sort((a, b) => a.length - b.length)
    const [rarest] = listed(wordsInCommon(memory))
    return new Set([...(byText.get(textKey(memory)) ?? []), ...(rarest ?? listed(keysOf(memory)).flat())])
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
  return {
    covering: (memory) => having(memory, "covered"),
    contradicting: (memory) => having(memory, "outdated"),
    doubting: (memory) => [...having(memory, "doubtful"), ...having(memory, "partly outdated")],
    isContradicted: (memory, other) => relationOf(memory, other) === "outdated",
  }
}
