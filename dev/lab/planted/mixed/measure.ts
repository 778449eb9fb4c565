/** Measures how many of the thirty facts are in view after compactions, at each entry. */
import { inTemporaryDirectory } from "../../../bench/measure.ts"
import { mixedConversation } from "./conversation.ts"
import { ENTRIES, type Summaries } from "./entries.ts"
import { type FactsInView, findFacts } from "./find-facts.ts"

export interface MixedOptions {
  readonly entry: string
  readonly summaries: Summaries
  readonly seed: number
  /** Numbers of compactions after which to look. */
  readonly after: readonly number[]
}

export interface MixedFigures extends MixedOptions {
  readonly looks: readonly FactsInView[]
}

/** Goals: how many of the 30 facts should be in view after each number of compactions. */
export const AIMS: ReadonlyMap<number, number> = new Map([
  [1, 29],
  [2, 28],
  [5, 27],
])

export function measureMixed(options: MixedOptions): Promise<MixedFigures> {
  const { entry, summaries, seed, after } = options
  return inTemporaryDirectory(async (dir) => {
    const { facts, ranges } = mixedConversation(seed, Math.max(...after))
    await using conversation = await ENTRIES[entry]!({ dir, summaries })
    const looks: FactsInView[] = []
    for (const [at, range] of ranges.entries()) {
      const sent = await conversation.range(range)
      if (after.includes(at + 1)) looks.push(findFacts(facts, sent, at + 1))
    }
    return { ...options, looks }
  })
}

export const isBelowAim = ({ looks }: MixedFigures): boolean =>
  looks.some(({ compactions, inView, stale }) => inView < (AIMS.get(compactions) ?? 0) || stale.length > 0)

export function mixedReport({ entry, summaries, seed, looks }: MixedFigures): string {
  const lines = looks.flatMap(({ compactions, inView, missing, stale, tokens }) => [
    `  after ${compactions}: ${inView} of 30 in view, ${stale.length} stale; tokens: record ${tokens.record}, all ${tokens.all}`,
    ...(missing.length > 0 ? [`    missing: ${missing.join("; ")}`] : []),
    ...(stale.length > 0 ? [`    stale: ${stale.join("; ")}`] : []),
  ])
  return [`${entry}, ${summaries} summaries, seed ${seed}`, ...lines].join("\n")
}

/** A row for each entry with the fewest facts in view over all seeds, after each number of compactions. */
export function mixedTable(all: readonly MixedFigures[], after: readonly number[]): string {
  const groups = Map.groupBy(all, ({ entry, summaries }) => `| ${entry} | ${summaries} |`)
  const rows = [...groups].map(([head, figures]) => {
    const cells = after.map((count) => {
      const looks = figures.flatMap((one) => one.looks.filter(({ compactions }) => compactions === count))
      const stale = Math.max(...looks.map((look) => look.stale.length))
      const max = (of: (look: FactsInView) => number) => Math.max(...looks.map(of))
      return `${Math.min(...looks.map(({ inView }) => inView))} | ${stale} | ${max(({ tokens }) => tokens.record)} | ${max(({ tokens }) => tokens.all)}`
    })
    return `${head} ${cells.join(" | ")} |`
  })
  const columns = after.flatMap((count) => [`in view, ${count}`, "stale", "record", "all"])
  return [`| entry | summaries | ${columns.join(" | ")} |`, `|${"---|".repeat(columns.length + 2)}`, ...rows].join("\n")
}
