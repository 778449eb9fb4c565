/** The memories after a dream. The rules of the check change them here, and each change is recorded as a sentence. */
import type { Memory } from "../../../memory/memory.ts"
import { type MemoryFileFacts, parseMemory, renderMemory } from "../../../memory/topic-file.ts"

export interface CheckedMemory {
  readonly memory: Memory
  /** The text after the dream. */
  readonly text: string
  readonly facts: MemoryFileFacts
  /** The memory before the dream; absent for a new file. */
  readonly before?: Memory
}

export interface CheckedMemories {
  readonly items: ReadonlyMap<string, CheckedMemory>
  /** The memories before the dream, by file. */
  readonly before: ReadonlyMap<string, Memory>
  readonly repairs: readonly string[]
  set(file: string, memory: Memory, repair: string): void
  /** Restores a file to its state before the dream. A new file is removed. */
  restore(file: string, repair: string): void
  /** Texts that differ from the base; `null` for removed files. */
  texts(): Promise<ReadonlyMap<string, string | null>>
}

interface CheckedInput {
  readonly base: ReadonlyMap<string, string>
  readonly before: readonly Memory[]
  readonly changed: ReadonlyMap<string, string | null>
  /** Date as YYYY-MM-DD. */
  readonly today: string
}

export async function checkedMemories({ base, before, changed, today }: CheckedInput): Promise<CheckedMemories> {
  const known = new Map(before.filter(({ file }) => base.has(file)).map((memory) => [memory.file, memory]))
  const items = new Map<string, CheckedMemory>()
  const touched = new Set(changed.keys())
  const repairs: string[] = []
  for (const memory of known.values())
    if (!changed.has(memory.file)) items.set(memory.file, itemOf(memory, base.get(memory.file)!))
  for (const [file, text] of [...changed].sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (text === null) continue
    const earlier = known.get(file)
    const facts = earlier ? factsOf(earlier) : { created: today, source: { saidBy: "agent" as const } }
    const memory = await parseMemory({ file, text, facts })
    items.set(file, { memory, text, facts, ...(earlier ? { before: earlier } : {}) })
  }

  return {
    items,
    before: known,
    repairs,
    set(file, memory, repair) {
      items.set(file, { ...items.get(file)!, memory })
      touched.add(file)
      repairs.push(repair)
    },
    restore(file, repair) {
      const earlier = known.get(file)
      if (earlier) items.set(file, itemOf(earlier, base.get(file)!))
      else items.delete(file)
      repairs.push(repair)
    },
    async texts() {
      const texts = new Map<string, string | null>()
      for (const file of touched) {
        const item = items.get(file)
        const text = item ? await renderMemory(item.memory, item) : null
        if (text !== (base.get(file) ?? null)) texts.set(file, text)
      }
      return texts
    },
  }
}

const factsOf = ({ created, confirmed, source }: Memory): MemoryFileFacts => ({ created, confirmed, source })
const itemOf = (memory: Memory, text: string): CheckedMemory => ({
  memory,
  text,
  facts: factsOf(memory),
  before: memory,
})

/** Positive if the first memory is newer. */
export function compareAge(a: Memory, b: Memory): number {
  for (const key of ["confirmed", "created", "file"] as const) if (a[key] !== b[key]) return a[key] > b[key] ? 1 : -1
  return 0
}
