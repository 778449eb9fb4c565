/** What `strata usage` shows, as plain data: figures over all conversations of this machine, and the list of them. */

import type { TokenCounts } from "@strata/core"
import type { BreakCause, RequestPurpose } from "@strata/core/views"
import type { AgentTotal } from "./digest.ts"
import type { SavingEstimate } from "./sample.ts"

/** Which conversations a report is about. Without a filter: all. */
export interface UsageFilter {
  /** The working directory of the conversations. */
  readonly project?: string
  readonly program?: string
  /** The first day, as `2026-01-31`. Money counts on the day that it was spent. */
  readonly from?: string
  /** The last day. */
  readonly to?: string
}

/** What requests cost. */
export interface UsageCost {
  readonly requests: number
  readonly tokens: TokenCounts
  /** The known part. 0 where no price is known: see `unpriced`. */
  readonly dollars: number
  /** Requests whose price is unknown. If all are, the cost is unknown, not 0. */
  readonly unpriced: number
  /** The part of the dollars that no transcript records and that is computed from what it has. */
  readonly estimated: number
}

/** A line of a table of costs. */
export interface NamedCost extends UsageCost {
  readonly name: string
  readonly conversations: number
  /** Of the dollars of the whole report, from 0 to 1. */
  readonly share: number
}

export interface DayCost extends UsageCost {
  /** As `2026-01-31`. `unknown`: the format has no times. */
  readonly day: string
  readonly byModel: Readonly<Record<string, number>>
}

/** Lost caches of one cause, or all. */
export interface CacheMisses {
  readonly count: number
  /** Tokens that were in the cache and were paid for again. */
  readonly tokens: number
  /** What that cost beyond reading them from the cache. */
  readonly dollars: number
  /** Losses whose price is unknown. */
  readonly unpriced: number
  /** Of the dollars of the whole report. */
  readonly share: number
}

export interface CacheMissesByCause extends CacheMisses {
  readonly cause: BreakCause
  /** For people. */
  readonly words: string
}

/** A reason that the API gave itself. */
export interface CacheMissesByReason extends CacheMisses {
  readonly reason: string
}

/** What compactions kept of the names that later answers used. */
export interface NameRetention {
  /** Exact names that occurred before a compaction and that an answer after it used. */
  readonly needed: number
  /** Of those: still in view after the compaction. */
  readonly inView: number
  /** Of those: gone. */
  readonly lost: number
}

export interface CompactionUsage {
  readonly count: number
  /** Those at the beginning of a file: what they lost is not known. */
  readonly unrecorded: number
  /** What they cost, estimated where the transcript does not record it. */
  readonly dollars: number
  readonly estimated: number
  readonly names: NameRetention
  /** The conversations that lost most, worst first. */
  readonly worst: readonly (UsageRow & { readonly examples: readonly string[] })[]
}

export interface AgentUsage {
  readonly count: number
  /** The known part. */
  readonly dollars: number
  /** Agents without a recorded response, or with one whose price is unknown. */
  readonly unknown: number
  readonly share: number
  /** By the kind of agent, most expensive first. */
  readonly byName: readonly AgentTotal[]
}

/**
 * What Strata would have saved: each conversation sent through two policies, the recorded one and ours. Both costs are modelled with the
 * same cache and the same prices. Neither is the bill.
 */
export interface UsageSavings {
  /** Conversations that were replayed. */
  readonly replayed: number
  /** Conversations that can be replayed. */
  readonly of: number
  /** Their part of what was spent on all conversations, from 0 to 1. */
  readonly covers: number
  /** About all that can be replayed. */
  readonly figure: SavingEstimate
  /** Of the sample: conversations that Strata would have made more expensive. */
  readonly dearer: number
  readonly names: ReplayedNameRetention
}

/** Of the sample: names that answers used after the recorded compactions, the same ones for both policies. */
export interface ReplayedNameRetention {
  readonly compactions: number
  readonly names: number
  /** In view as it was recorded, from the compaction until the name was used. */
  readonly recorded: number
  /** The same with Strata. */
  readonly strata: number
}

/** A class of what filled the context. */
export interface ContextClass {
  readonly name: string
  readonly tokens: number
  readonly share: number
}

/** What could not be read, and why. */
export interface UnreadFiles {
  readonly reason: string
  readonly files: number
  /** The paths of some of them. */
  readonly examples: readonly string[]
}

export interface UsageReport {
  readonly filter: UsageFilter
  /** One sentence: what was spent, what was lost to broken caches and after what, what Strata would have saved. */
  readonly sentence: string
  /** What was lost to broken caches and why; what compactions lost that was needed later, and what Strata would have kept and cost. */
  readonly sentences: readonly [string, string]
  readonly conversations: number
  readonly files: {
    readonly read: number
    readonly empty: number
    readonly unread: readonly UnreadFiles[]
    /** Files of which a part could not be read. The rest counts. */
    readonly damaged: { readonly files: number; readonly lines: number; readonly examples: readonly string[] }
  }
  /** Those of them that the simulator answered. They cost nothing, and no other figure is about them. */
  readonly simulated: number
  readonly time?: { readonly from: string; readonly to: string }
  readonly total: UsageCost & {
    /** Transcripts that record too few output tokens: the sum is a lower bound. */
    readonly isLowerBound: boolean
    readonly unpricedModels: readonly string[]
    /** Responses that a second file repeats. They are counted once. */
    readonly repeated: { readonly responses: number; readonly dollars: number }
  }
  /** In the order of time. */
  readonly byDay: readonly DayCost[]
  /** Most expensive first. */
  readonly byModel: readonly NamedCost[]
  readonly byPurpose: readonly (NamedCost & { readonly purpose: RequestPurpose })[]
  readonly byProgram: readonly NamedCost[]
  readonly byProject: readonly NamedCost[]
  /** Everything that entered contexts, largest first. Estimated. */
  readonly context: readonly ContextClass[]
  readonly cache: {
    /** Share of the input read from cache. */
    readonly hitRatio: number
    readonly lost: CacheMisses
    /** Most expensive first. */
    readonly byCause: readonly CacheMissesByCause[]
    readonly byReason: readonly CacheMissesByReason[]
  }
  readonly compactions: CompactionUsage
  readonly agents: AgentUsage
  readonly saved: UsageSavings
}

/** A conversation in the list. Texts in it are other people's: show them as text. */
export interface UsageRow {
  /** Of the index: stable as long as the file is. */
  readonly key: number
  readonly id: string
  readonly program: string
  /** The file that `strata inspect` takes. */
  readonly file: string
  readonly project?: string
  readonly title?: string
  readonly model?: string
  readonly from?: string
  readonly to?: string
  readonly turns: number
  readonly peak: number
  readonly compactions: number
  readonly agents: number
  /** Without responses that are counted in another file. */
  readonly dollars: number
  readonly cost: "known" | "partly-unknown" | "unknown" | "lower-bound" | "none" | "simulated"
  readonly estimated: number
  readonly lost: { readonly count: number; readonly dollars: number }
  readonly names: NameRetention
  /** Modelled: recorded and with Strata. Absent until it is replayed. */
  readonly replayed?: { readonly recorded: number; readonly strata: number }
  /** With a query: where the words are, and when they were said. */
  readonly hit?: { readonly at?: string; readonly snippet: string }
}

export const LIST_ORDERS = ["newest", "cost", "lost", "names", "saved", "turns"] as const
export type ListOrder = (typeof LIST_ORDERS)[number]

export interface ListRequest extends UsageFilter {
  /** Words that the user or the model said, or that the title has. All of them must occur. */
  readonly query?: string
  /** Default: newest; with a query, the best match. */
  readonly sort?: ListOrder
  readonly offset?: number
  /** Default: 50. */
  readonly limit?: number
}

export interface UsageList {
  readonly rows: readonly UsageRow[]
  /** How many there are in all. */
  readonly total: number
}
