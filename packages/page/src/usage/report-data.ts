/** The data of `strata usage`: metrics of all conversations on this machine, and the list of them. */

import type { TokenCounts } from "@strata/core"
import type { BreakCause, RequestPurpose } from "@strata/core/views"
import type { AgentTotal } from "./digest.ts"
import type { SavingEstimate } from "./sample.ts"

/** Selects the conversations of a report. Default: all. */
export interface UsageFilter {
  /** The working directory of the conversations. */
  readonly project?: string
  readonly program?: string
  /** First day, as `2026-01-31`. Costs count on the day of the request. */
  readonly from?: string
  /** The last day. */
  readonly to?: string
}

/** Cost of requests. */
export interface UsageCost {
  readonly requests: number
  readonly tokens: TokenCounts
  /** The known part of the cost. 0 if no price is known: see `unpriced`. */
  readonly dollars: number
  /** Requests whose price is unknown. If all are, the cost is unknown, not 0. */
  readonly unpriced: number
  /** The estimated part of the dollars, computed because the transcripts do not record it. */
  readonly estimated: number
}

/** A row of a table of costs. */
export interface NamedCost extends UsageCost {
  readonly name: string
  readonly conversations: number
  /** Share of the report's total cost, from 0 to 1. */
  readonly share: number
}

export interface DayCost extends UsageCost {
  /** Day as `2026-01-31`, or `unknown` if the format has no times. */
  readonly day: string
  readonly byModel: Readonly<Record<string, number>>
}

/** Cache misses of one cause, or all. */
export interface CacheMisses {
  readonly count: number
  /** Cached tokens that were billed again. */
  readonly tokens: number
  /** Extra cost compared with reading them from the cache. */
  readonly dollars: number
  /** Number of misses whose price is unknown. */
  readonly unpriced: number
  /** Share of the report's total cost. */
  readonly share: number
}

export interface CacheMissesByCause extends CacheMisses {
  readonly cause: BreakCause
  /** Label of the cause. */
  readonly words: string
}

/** Cache misses by the reason that the API reports. */
export interface CacheMissesByReason extends CacheMisses {
  readonly reason: string
}

/** How many of the names that later answers used were still in view after compactions. */
export interface NameRetention {
  /** Exact names that occurred before a compaction and that an answer after it used. */
  readonly needed: number
  /** Number of those still in view after the compaction. */
  readonly inView: number
  /** Number of those lost. */
  readonly lost: number
}

export interface CompactionUsage {
  readonly count: number
  /** Compactions at the beginning of a file, whose losses are unknown. */
  readonly unrecorded: number
  /** Requests for summaries, and how many of them have no known price. */
  readonly requests: number
  readonly unpriced: number
  /** Their cost, estimated if the transcript does not record it. */
  readonly dollars: number
  readonly estimated: number
  readonly names: NameRetention
  /** Conversations with the largest losses, worst first. */
  readonly worst: readonly (UsageRow & { readonly examples: readonly string[] })[]
}

export interface AgentUsage {
  readonly count: number
  /** The known part of the cost. */
  readonly dollars: number
  /** Agents without a recorded response, or with one whose price is unknown. */
  readonly unknown: number
  readonly share: number
  /** Costs by kind of agent, most expensive first. */
  readonly byName: readonly AgentTotal[]
}

/**
 * Estimate of Strata's savings: each conversation is replayed with two policies, the recorded one and Strata. Both costs are modelled with
 * the same cache and the same prices. Neither is the actual bill.
 */
export interface UsageSavings {
  /** Number of replayed conversations. */
  readonly replayed: number
  /** Number of conversations that can be replayed. */
  readonly of: number
  /** Their share of the cost of all conversations, from 0 to 1. */
  readonly covers: number
  /** Estimate for all conversations that can be replayed. */
  readonly figure: SavingEstimate
  /** Number of conversations in the sample that would have cost more with Strata. */
  readonly dearer: number
  readonly names: ReplayedNameRetention
}

/** Names in the sample that answers used after the recorded compactions, the same for both policies. */
export interface ReplayedNameRetention {
  readonly compactions: number
  readonly names: number
  /** Number in view as recorded, from the compaction until the name was used. */
  readonly recorded: number
  /** Number in view with Strata. */
  readonly strata: number
}

/** A class of context contents. */
export interface ContextClass {
  readonly name: string
  readonly tokens: number
  readonly share: number
}

/** Unreadable files with the same reason. */
export interface UnreadFiles {
  readonly reason: string
  readonly files: number
  /** Example paths. */
  readonly examples: readonly string[]
}

export interface UsageReport {
  readonly filter: UsageFilter
  /** One sentence: the total cost, the cost of cache misses and their main cause, and Strata's savings. */
  readonly sentence: string
  /** Two sentences: cache misses with their causes; names lost in compactions, and how many Strata would have preserved at what cost. */
  readonly sentences: readonly [string, string]
  readonly conversations: number
  readonly files: {
    readonly read: number
    readonly empty: number
    readonly unread: readonly UnreadFiles[]
    /** Partially unreadable files. The rest of them is included. */
    readonly damaged: { readonly files: number; readonly lines: number; readonly examples: readonly string[] }
  }
  /** Number of conversations with the simulator. They cost nothing and are not included in other metrics. */
  readonly simulated: number
  readonly time?: { readonly from: string; readonly to: string }
  readonly total: UsageCost & {
    /** Set if transcripts record too few output tokens, so that the sum is a lower bound. */
    readonly isLowerBound: boolean
    readonly unpricedModels: readonly string[]
    /** Responses that occur in a second file. They are counted once. */
    readonly repeated: { readonly responses: number; readonly dollars: number }
  }
  /** In chronological order. */
  readonly byDay: readonly DayCost[]
  /** Most expensive first. */
  readonly byModel: readonly NamedCost[]
  readonly byPurpose: readonly (NamedCost & { readonly purpose: RequestPurpose })[]
  readonly byProgram: readonly NamedCost[]
  readonly byProject: readonly NamedCost[]
  /** Estimated contents of all contexts, largest first. */
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

/** A conversation in the list. Its texts are untrusted: render them as text. */
export interface UsageRow {
  /** Key in the index, stable while the file is unchanged. */
  readonly key: number
  readonly id: string
  readonly program: string
  /** Path for `strata inspect`. */
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
  /** Cost without responses that are counted in another file. */
  readonly dollars: number
  readonly cost: "known" | "partly-unknown" | "unknown" | "lower-bound" | "none" | "simulated"
  readonly estimated: number
  readonly lost: { readonly count: number; readonly dollars: number }
  readonly names: NameRetention
  /** Modelled cost as recorded and with Strata. Absent before a replay. */
  readonly replayed?: { readonly recorded: number; readonly strata: number }
  /** For a search: an excerpt of the match, and the time of its message. */
  readonly hit?: { readonly at?: string; readonly snippet: string }
}

export const LIST_ORDERS = [
  ...(["newest", "cost", "lost", "names", "saved", "turns"] as const),
  ...(["title", "program", "peak", "compactions"] as const),
] as const
export type ListOrder = (typeof LIST_ORDERS)[number]

export interface ListRequest extends UsageFilter {
  /** Words in messages of user or model, or in the title. All of them must occur. */
  readonly query?: string
  /** Default: newest; with a query, the best match. */
  readonly sort?: ListOrder
  /** Default: descending. Rows without a value are last in both directions. */
  readonly direction?: "ascending" | "descending"
  readonly offset?: number
  /** Default: 50. */
  readonly limit?: number
}

export interface UsageList {
  readonly rows: readonly UsageRow[]
  /** Total number of rows. */
  readonly total: number
}
