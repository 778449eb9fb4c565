/** What a replay reports. All of it is plain data. */
import type { TokenCounts } from "@strata/core"
import type { Opening } from "@strata/core/policy"
import type { PolicyAction } from "./replayed-actions.ts"

/** What a request is for. `recall`: getting back what was used again and was no longer in view. */
export const PURPOSES = ["conversation", "summary", "recall", "keep-warm", "notes", "memory"] as const
export type Purpose = (typeof PURPOSES)[number]

/** What the tokens of a context are, in the order they are shown. */
export const CLASSES = ["prompt", "person", "answers", "thinking", "calls", "results", "summary"] as const
export type ContextClass = (typeof CLASSES)[number]

export interface ReplayedRequest {
  /** The recorded request that it belongs to, counted from 1. */
  readonly turn: number
  readonly purpose: Purpose
  readonly at: string
  readonly model: string
  /** Tokens of the whole input. */
  readonly context: number
  /** The same by class. Requests of the conversation only. */
  readonly classes?: Readonly<Record<ContextClass, number>>
  readonly counts: TokenCounts
  /** Absent where the model's price is unknown. */
  readonly dollars?: number
}

/** Tokens that the cache had held and that were written once more. */
export interface CacheLoss {
  readonly turn: number
  readonly tokens: number
  readonly why: "pause" | "compaction" | "clearing" | "model" | "other"
}

/** What became of the names that answers used again. */
export interface UsedAgain {
  /** How many names of earlier blocks the recorded answers use. */
  readonly names: number
  /** Of these, how many were in view when they were used. */
  readonly inView: number
  /** How many blocks had to be fetched for the others, and their tokens. */
  readonly fetched: number
  readonly fetchedTokens: number
  /** Of these blocks, the results that were read whole from the file they were put aside in. */
  readonly readAgain: number
  /** Of the names not in view, those that the journal's index finds with one search. Absent where a policy has no index. */
  readonly found?: number
}

/** What was kept of the names that answers used after the recorded compactions. The names are the same for every policy. */
export interface NamesKept {
  /** Recorded compactions that an answer followed, and before which something is recorded. */
  readonly compactions: number
  readonly names: number
  /** Those that were in view from the first request after the compaction until they were used. */
  readonly inView: number
}

/** What the view shows right after each compaction, added up. */
export interface AfterCompaction {
  readonly changedFiles: number
  readonly changedFilesNamed: number
  /** Paths that the summary and the facts name, and those of them that tools really touched. */
  readonly paths: number
  readonly pathsTouched: number
  readonly rules: number
  readonly rulesVerbatim: number
}

/** A compaction: where it fell, and how long someone waited for its summary. */
export interface ReplayedCompaction {
  /** The turn of the first request after it. */
  readonly turn: number
  readonly opening: Opening
  readonly tokensBefore: number
  /** By the layer's own estimate. */
  readonly tokensAfter: number
  /** How its summary was made. */
  readonly route: string
  /** It only saves money. */
  readonly isPlanned: boolean
  readonly waitedMs: number
}

/** Texts for the next compaction: in how many stretches between two boundaries one was begun, how often it was updated, and how many no one used. */
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
  /** Those of the policy's own. A bound that knows the future has none that anyone would notice. */
  readonly compactions: readonly ReplayedCompaction[]
  readonly texts?: PreparedTexts
  readonly losses: readonly CacheLoss[]
  readonly usedAgain: UsedAgain
  readonly namesKept: NamesKept
  readonly afterCompaction: AfterCompaction
  /** Requests that do not fit the window. */
  readonly invalid: number
  readonly failures: readonly string[]
}

export const NOT_USED: UsedAgain = { names: 0, inView: 0, fetched: 0, fetchedTokens: 0, readAgain: 0 }
export const NO_NAMES: NamesKept = { compactions: 0, names: 0, inView: 0 }
export const NO_COMPACTION: AfterCompaction = {
  changedFiles: 0,
  changedFilesNamed: 0,
  paths: 0,
  pathsTouched: 0,
  rules: 0,
  rulesVerbatim: 0,
}
