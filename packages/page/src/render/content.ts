/** What a page shows, independent of where it comes from: a comparison of policies, or a conversation as recorded. */

import type { ContextClass, CostUnit, Scorecard } from "@strata/transcripts/replay"

export interface PageContent {
  readonly title: string
  readonly description: readonly string[]
  readonly scorecard?: Scorecard
  readonly conversations: readonly PageConversation[]
  /** The last row of the table of conversations: a value for each fact, by its title. */
  readonly total?: Readonly<Record<string, string>>
}

export interface PageConversation {
  readonly name: string
  readonly facts: readonly string[]
  readonly remarks: readonly string[]
  readonly unit: CostUnit
  readonly timelines: readonly ChartTimeline[]
}

/** How a conversation went under one policy, or as recorded. */
export interface ChartTimeline {
  readonly name: string
  readonly description: string
  /** By turn. */
  readonly points: readonly TimelinePoint[]
  /** The turn of the first request after each compaction. */
  readonly boundaries: readonly number[]
  readonly misses: readonly ChartedMiss[]
  /** What is known about each compaction. */
  readonly compactions?: readonly CompactionRow[]
  /** What the page says about it in words: a title and its value. */
  readonly facts: readonly (readonly [title: string, value: string])[]
}

export interface TimelinePoint {
  readonly turn: number
  /** Tokens of the request. */
  readonly context: number
  /** Absent where only the size is known. */
  readonly classes?: Readonly<Record<ContextClass, number>>
  /** Tokens beside the classes that nothing recorded explains. */
  readonly rest?: number
  /** All that was paid up to this turn. Absent where it is unknown. */
  readonly cost?: number
}

export const MISS_KINDS = ["pause", "compaction", "clearing", "model", "other"] as const
export type CacheMissKind = (typeof MISS_KINDS)[number]

/** A compaction, and what it lost that was needed later. */
export interface CompactionRow {
  /** The turn before it. */
  readonly turn: number
  readonly size: string
  /** Of the names used again, how many were still in view. */
  readonly kept: string
  readonly lost: string
}

export interface ChartedMiss {
  readonly turn: number
  readonly tokens: number
  /** What was paid for it beyond reading. Absent where it is not computed. */
  readonly cost?: string
  readonly kind: CacheMissKind
  /** The reason in words. */
  readonly reason: string
}
