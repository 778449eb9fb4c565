/** What a page shows, independent of where it comes from: a comparison of policies, or a conversation as recorded. */
import type { ContextClass, CostUnit, Scorecard } from "@strata/replay"

export interface PageContent {
  readonly title: string
  readonly about: readonly string[]
  readonly scorecard?: Scorecard
  readonly conversations: readonly PageConversation[]
}

export interface PageConversation {
  readonly name: string
  readonly facts: readonly string[]
  readonly remarks: readonly string[]
  readonly unit: CostUnit
  readonly courses: readonly Course[]
}

/** How a conversation went under one policy, or as recorded. */
export interface Course {
  readonly name: string
  readonly about: string
  /** By turn. */
  readonly points: readonly Point[]
  /** The turn of the first request after each compaction. */
  readonly boundaries: readonly number[]
  readonly losses: readonly Loss[]
  /** What the page says about it in words: a title and its value. */
  readonly facts: readonly (readonly [title: string, value: string])[]
}

export interface Point {
  readonly turn: number
  /** Tokens of the request. */
  readonly context: number
  /** Absent where only the size is known. */
  readonly classes?: Readonly<Record<ContextClass, number>>
  /** All that was paid up to this turn. Absent where it is unknown. */
  readonly cost?: number
}

export const LOSS_KINDS = ["pause", "compaction", "clearing", "model", "other"] as const
export type LossKind = (typeof LOSS_KINDS)[number]

export interface Loss {
  readonly turn: number
  readonly tokens: number
  readonly kind: LossKind
  /** The reason in words. */
  readonly why: string
}
