/** The data of a replay report, as plain objects. */
import type { TokenCounts } from "@strata/core"
import type { TurnPhase } from "@strata/core/policy"
import type { PolicyAction } from "./replayed-actions.ts"

/** Purpose of a request. `recall`: fetching content that was used again and was no longer in view. */
export const PURPOSES = ["conversation", "summary", "recall", "keep-warm", "notes", "memory"] as const
export type Purpose = (typeof PURPOSES)[number]

/** Classes of context tokens in display order. */
export const CLASSES = ["prompt", "person", "answers", "thinking", "calls", "results", "summary"] as const
export type ContextClass = (typeof CLASSES)[number]

export interface ReplayedRequest {
  /** The recorded request that it belongs to, counted from 1. */
  readonly turn: number
  readonly purpose: Purpose
  readonly at: string
  readonly model: string
  /** Tokens of the complete input. */
  readonly context: number
  /** The input tokens by class, for requests of the conversation only. */
  readonly classes?: Readonly<Record<ContextClass, number>>
  readonly counts: TokenCounts
  /** Absent if the model's price is unknown. */
  readonly dollars?: number
}

/** Tokens that were cached and had to be written again. */
export interface CacheLoss {
  readonly turn: number
  readonly tokens: number
  readonly why: "pause" | "compaction" | "clearing" | "model" | "other"
}

/** How often names that responses use again were in view. */
export interface UsedAgain {
  /** Number of names from earlier blocks that the recorded responses use. */
  readonly names: number
  /** Number of these names that were in view when they were used. */
  readonly inView: number
  /** Number of blocks that had to be fetched for the others, and their tokens. */
  readonly fetched: number
  readonly fetchedTokens: number
  /** Number of these blocks that were read completely from the file they were offloaded to. */
  readonly readAgain: number
  /** Number of names not in view that one search in the journal's index finds. Absent if the policy has no index. */
  readonly found?: number
}

/** How many names that responses used after the recorded compactions were preserved. The names are the same for every policy. */
export interface NamesPreserved {
  /** Number of recorded compactions with recorded messages before and a response after them. */
  readonly compactions: number
  readonly names: number
  /** Number of names that were in view from the first request after the compaction until they were used. */
  readonly inView: number
}

/** Content of the view right after each compaction, summed. */
export interface AfterCompaction {
  readonly changedFiles: number
  readonly changedFilesNamed: number
  /** Number of paths in the summary and the facts, and of those that tools really touched. */
  readonly paths: number
  readonly pathsTouched: number
  readonly rules: number
  readonly rulesVerbatim: number
}

/** A compaction: its position, and how long the user waited for its summary. */
export interface ReplayedCompaction {
  /** The turn of the first request after it. */
  readonly turn: number
  readonly opening: TurnPhase
  readonly tokensBefore: number
  /** The layer's own estimate. */
  readonly tokensAfter: number
  /** The route by which its summary was made. */
  readonly route: string
  /** Whether it was made only to save money. */
  readonly isPlanned: boolean
  readonly waitedMs: number
}

/**
 * Notes prepared for the next compaction: the number written for the first time between two boundaries, the number of updates, and the
 * number never used.
 */
export interface PreparedTexts {
  readonly written: number
  readonly updates: number
  readonly unused: number
}

export interface PolicyRun {
  readonly requests: readonly ReplayedRequest[]
  readonly actions: readonly PolicyAction[]
  /** The turn of the first request after each compaction. */
  readonly contexts: readonly number[]
  /** The policy's own compactions. Empty for a bound that knows the future, whose compactions nobody would notice. */
  readonly compactions: readonly ReplayedCompaction[]
  readonly texts?: PreparedTexts
  readonly losses: readonly CacheLoss[]
  readonly usedAgain: UsedAgain
  readonly namesKept: NamesPreserved
  readonly afterCompaction: AfterCompaction
  /** Requests that do not fit the window. */
  readonly invalid: number
  readonly failures: readonly string[]
}

export const NOT_USED: UsedAgain = { names: 0, inView: 0, fetched: 0, fetchedTokens: 0, readAgain: 0 }
export const NO_NAMES: NamesPreserved = { compactions: 0, names: 0, inView: 0 }
export const NO_COMPACTION: AfterCompaction = {
  changedFiles: 0,
  changedFilesNamed: 0,
  paths: 0,
  pathsTouched: 0,
  rules: 0,
  rulesVerbatim: 0,
}
