/** Checks facts that changed, as memories: whether a retired memory is ever offered, or listed above its successor. */
import { MemorySearch, type SearchableMemory } from "../../../packages/core/src/recall/memory-search.ts"
import { COMPONENTS, KINDS } from "./kinds/fact-kind.ts"
import { randomFrom } from "./random.ts"

const PER_BANK = 25
const MAX_CHAIN = 4
const NOW = new Date("2026-01-01T00:00:00.000Z")
const DAY = 86_400_000

export interface SupersessionFigures {
  readonly cases: number
  /** Number of retired memories that recall would attach. */
  readonly retiredOffered: number
  /** Number of retired memories above their successor when retired ones are listed too. */
  readonly retiredAbove: number
  /** Number of questions for which the current memory was offered. */
  readonly currentFound: number
}

export function measureSupersession(cases: number, seed = 1): SupersessionFigures {
  const random = randomFrom(seed)
  const totals = { cases: 0, retiredOffered: 0, retiredAbove: 0, currentFound: 0 }
  while (totals.cases < cases) {
    const chains = Array.from({ length: Math.min(PER_BANK, cases - totals.cases) }, (_, at) => chainOf(random, at))
    const search = new MemorySearch(chains.flatMap(({ memories }) => memories))
    for (const { memories, question } of chains) {
      const offered = search.search({ text: question, now: NOW }).map(({ memory }) => memory.file)
      const listed = search
        .search({ text: question, now: NOW, includeRetired: true, limit: 1_000 })
        .map(({ memory }) => memory.file)
      totals.cases++
      totals.currentFound += Number(offered.includes(memories.at(-1)!.file))
      for (const { file, supersededBy } of memories) {
        if (supersededBy === undefined) continue
        totals.retiredOffered += Number(offered.includes(file))
        totals.retiredAbove += Number(listed.includes(file) && listed.indexOf(supersededBy) > listed.indexOf(file))
      }
    }
    search.close()
  }
  return totals
}

/** A fact with two to four values over time. Either file of a pair may name the other, as in real memories. */
function chainOf(random: ReturnType<typeof randomFrom>, at: number) {
  const kind = random.pick([...KINDS.project.chosen, ...KINDS.project["held-out"]])
  const { written, asked } = random.pick(COMPONENTS["held-out"])
  const length = 2 + random.below(MAX_CHAIN - 1)
  const file = (step: number) => `${at}-${kind.name}-${step}.md`
  const memories = Array.from({ length }, (_, step): SearchableMemory => {
    const time = new Date(NOW.getTime() - (length - step) * 40 * DAY).toISOString()
    const way = random.pick([...kind.statements, ...kind.otherwise])
    return {
      file: file(step),
      name: `${kind.name} of ${written}`,
      description: random.next() < 0.5 ? kind.topic : "",
      type: "project",
      created: time,
      confirmed: time,
      body: way.replaceAll("{p}", written).replaceAll("{v}", random.pick(kind.values)),
      ...(step + 1 < length ? { supersededBy: file(step + 1) } : {}),
    }
  })
  return { memories, question: random.pick(kind.questions).replaceAll("{p}", asked) }
}
