/** Content of a page, independent of its source: a comparison of policies, or recorded conversations. */

import type { ContextClass, CostUnit, Scorecard } from "@strata/transcripts/replay"

export interface PageContent {
  readonly title: string
  readonly description: readonly string[]
  readonly scorecard?: Scorecard
  readonly conversations: readonly PageConversation[]
  /** Total row of the table of conversations: values by the title of a fact. */
  readonly total?: Readonly<Record<string, string>>
}

export interface PageConversation {
  readonly name: string
  readonly facts: readonly string[]
  readonly remarks: readonly string[]
  readonly unit: CostUnit
  readonly timelines: readonly ChartTimeline[]
}

/** Timeline of a conversation, under one policy or as recorded. */
export interface ChartTimeline {
  readonly name: string
  readonly description: string
  /** Points in order of turns. */
  readonly points: readonly TimelinePoint[]
  /** The turn of the first request after each compaction. */
  readonly boundaries: readonly number[]
  readonly misses: readonly ChartedMiss[]
  /** Facts about each compaction. */
  readonly compactions?: readonly CompactionRow[]
  /** Facts in text form: a title and its value. */
  readonly facts: readonly (readonly [title: string, value: string])[]
}

export interface TimelinePoint {
  readonly turn: number
  /** Size of the request in tokens. */
  readonly context: number
  /** Absent if only the size is known. */
  readonly classes?: Readonly<Record<ContextClass, number>>
  /** Tokens that belong to no class, because nothing recorded explains them. */
  readonly rest?: number
  /** Total cost up to this turn. Absent if unknown. */
  readonly cost?: number
}

export const MISS_KINDS = ["pause", "compaction", "clearing", "model", "other"] as const
export type CacheMissKind = (typeof MISS_KINDS)[number]

/** A compaction, and the lost names that were needed later. */
export interface CompactionRow {
  /** Turn before the compaction. */
  readonly turn: number
  readonly size: string
  /** How many of the names used again were still in view. */
  readonly kept: string
  readonly lost: string
}

export interface ChartedMiss {
  readonly turn: number
  readonly tokens: number
  /** Extra cost compared with reading from the cache. Absent if not computed. */
  readonly cost?: string
  readonly kind: CacheMissKind
  /** Description of the reason. */
  readonly reason: string
}
