/** What memory work cost in a soak, what it did, and whether it broke the cache of the main conversation. */

import type { Memory } from "@strata/core"
import type { BreakCause, CacheBreakTotal as BreakTotal, RequestPurpose as Purpose } from "@strata/core/views"
import type { LedgerSummary } from "../../../core/src/views/ledger/ledger.ts"
import type { SoakWatch } from "./watch.ts"

/** Percent of the spend: the default of background-share. Notes are the summaries of compactions, and part of their price. */
const MOST_SHARES = { memory: 5 } as const
const MEMORY_WORK = ["memory"] as const satisfies readonly Purpose[]
/** Breaks with a cause other than memory: the context was made smaller, or the person was away for longer than the cache lives. */
const OTHER_CAUSES: ReadonlySet<BreakCause> = new Set(["compaction", "clearing", "hour-over", "five-minutes-over"])

export interface MemoryFigures {
  readonly conversations: number
  /** Of all conversations. */
  readonly dollars: number
  readonly byPurpose: readonly {
    readonly purpose: (typeof MEMORY_WORK)[number]
    readonly dollars: number
    readonly percent: number
  }[]
  readonly percent: number
  /** Memories at the end, without those that were superseded. */
  readonly kept: number
  readonly superseded: number
  /** Memories and passages that the main conversation was offered. */
  readonly recalled: number
  readonly dreams: number
  /** Cache breaks of the main conversation by cause. */
  readonly breaks: Readonly<Partial<Record<BreakCause, number>>>
}

export interface MemorySources {
  readonly watch: Pick<SoakWatch, "recalled" | "dreams">
  readonly memories: readonly Memory[]
  readonly ledgers: readonly LedgerSummary[]
  readonly history: { readonly totals: ReadonlyMap<BreakCause, BreakTotal> }
}

export function memoryFigures({ watch, memories, ledgers, history }: MemorySources): MemoryFigures {
  const superseded = memories.filter(({ supersededBy }) => supersededBy !== undefined).length
  const dollars = ledgers.reduce((sum, ledger) => sum + ledger.dollars, 0)
  const byPurpose = MEMORY_WORK.map((purpose) => {
    const own = ledgers.flatMap((ledger) => ledger.byPurpose.filter((each) => each.purpose === purpose))
    const paid = own.reduce((sum, each) => sum + (each.dollars ?? 0), 0)
    return { purpose, dollars: paid, percent: (100 * paid) / dollars }
  })
  return {
    ...{ conversations: ledgers.length, dollars, byPurpose, superseded, dreams: watch.dreams },
    kept: memories.length - superseded,
    recalled: watch.recalled.size,
    percent: byPurpose.reduce((sum, { percent }) => sum + percent, 0),
    breaks: Object.fromEntries([...history.totals].map(([cause, { breaks }]) => [cause, breaks])),
  }
}

export function memoryProblems({ byPurpose, kept, recalled, breaks }: MemoryFigures) {
  const unexplained = Object.entries(breaks).filter(([cause]) => !OTHER_CAUSES.has(cause as BreakCause))
  return [
    ...byPurpose.flatMap(({ purpose, percent }) => {
      const most = MOST_SHARES[purpose]
      return percent > most ? [`${purpose} took ${percent.toFixed(1)}% of the spend, more than ${most}%`] : []
    }),
    ...unexplained.map(
      ([cause, count]) => `the cache broke ${count} times without a compaction, a clearing or a pause: ${cause}`,
    ),
    ...(kept === 0 || recalled === 0
      ? ["no memory was kept and recalled, so the soak shows nothing about memory"]
      : []),
  ]
}
