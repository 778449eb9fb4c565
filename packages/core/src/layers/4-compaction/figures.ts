/** The figures of a compaction, fitted to the window: what is generous in a large window would fill a small one. */
import type { Flags } from "../../settings/flags.ts"
import type { LayerContext } from "../layer.ts"
import type { KeepFigures } from "./cut.ts"
import { type RestoreLimits, restoreLimits } from "./restore/restore.ts"

const USUAL_THRESHOLD = 167_000 // tokens: the figures are meant for a window of 200,000
const HOOKS_LIMIT = 10_000 // tokens of all that hooks say after a boundary: twice what a file gets
const SKILLS_SHARE = 1 / 3 // of the room for files and skills: the ratio of their limits
const LEAST_SUMMARY = 1_500 // tokens: nine sections need about as many in any window
const SUMMARY_SHARE = 1 / 8 // of the threshold, where even that is much
const FACTS_SHARE = 0.06 // of the threshold for the record, where its part of the window would be less
const EXTRACT_LIMIT = 1_000 // tokens: what a summariser is shown of results that were cleared
const RESTORED_SHARE = 0.4 // of the threshold up to which files and skills are restored: a tenth of it is left below `compact-target`
const NEWEST_SHARE = 0.1 // of the conversation: a short one is still worth compacting
const RESULT_SHARE = 1 / 2 // characters of a long result for each token of the budget: an eighth of it, so that several rounds fit
const LEAST_RESULT = 400 // characters of a long result that stay in any case

export interface CompactionFigures {
  readonly keep: KeepFigures
  /** Tokens of the newest exchanges, and characters that stay of a long result in them. */
  readonly newest: { readonly budget: number; readonly result: number }
  /** Tokens of a summary. */
  readonly summary: number
  /** Tokens of what is exact in results that the summariser does not see. */
  readonly extract: number
  /** Tokens that the whole context should have at most after an automatic compaction, and with what is restored. */
  readonly target: number
  readonly restored: number
  /** Tokens of the record that follows a summary. */
  readonly facts: number
  readonly restore: RestoreLimits
  /** Tokens of what hooks say after the boundary. */
  readonly hooks: number
  readonly failures: number
  /** Share of the context that a compaction must remove. */
  readonly progress: number
}

export function compactionFigures({ flags, thresholds }: Pick<LayerContext, "thresholds"> & { readonly flags: Flags }) {
  const share = Math.min(1, thresholds.autoCompact / USUAL_THRESHOLD)
  const part = (tokens: number) => Math.floor(tokens * share)
  const { figures } = flags
  const { autoCompact } = thresholds
  const restore = restoreLimits(flags)
  const budget = part(figures["tail-tokens"])
  return {
    keep: {
      least: part(figures["tail-min"]),
      most: part(figures["tail-max"]),
      messages: figures["keep-messages"],
    },
    newest: { budget, result: Math.min(figures["keep-result-limit"], Math.floor(budget * RESULT_SHARE)) },
    summary: Math.max(
      part(figures["summary-budget"]),
      Math.floor(Math.min(LEAST_SUMMARY, autoCompact * SUMMARY_SHARE)),
    ),
    extract: part(EXTRACT_LIMIT),
    target: Math.floor((autoCompact * figures["compact-target"]) / 100),
    restored: Math.floor(autoCompact * RESTORED_SHARE),
    facts: Math.max(
      part(figures["record-limit"]),
      Math.floor(Math.min(figures["record-limit"], autoCompact * FACTS_SHARE)),
    ),
    restore: { ...mapValues(restore, part), files: restore.files },
    hooks: part(HOOKS_LIMIT),
    failures: figures["compact-failures"],
    progress: figures["compact-min-shrink"] / 100,
  } satisfies CompactionFigures
}

const PLANNED_ROOM = 16_000 // tokens besides the prompt: what is left is read again with every request
const PLANNED_RESTORED = 13_000 // the same with files that are shown again: summary, record and newest exchanges leave about 3,000 for them
const PLANNED_NEWEST = 4_000 // tokens of the newest exchanges: they are used again soonest (`npm run lab`)

/** A compaction that is to save money comes early and often. It restores less, and keeps more of what is used again soon. */
export function plannedFigures(
  figures: CompactionFigures,
  { prompt, autoCompact }: { readonly prompt: number; readonly autoCompact: number },
): CompactionFigures {
  const share = Math.min(1, autoCompact / USUAL_THRESHOLD)
  const budget = Math.max(figures.newest.budget, Math.floor(PLANNED_NEWEST * share))
  return {
    ...figures,
    newest: { ...figures.newest, budget },
    target: Math.min(figures.target, prompt + PLANNED_ROOM),
    restored: Math.min(figures.restored, prompt + PLANNED_RESTORED),
  }
}

/** Tokens: a shorter summary says nothing, and the titles of its sections alone would exceed it. */
export const SHORTEST_SUMMARY = 300
const BUDGET_SHARES = { newest: 0.3, summary: 0.3, facts: 0.35 } // of all that may be left: the text around a summary gets the rest

/** What is left has at most so many tokens. Files get what the rest does not need. */
export function figuresWithin(figures: CompactionFigures, budget: number, prompt: number): CompactionFigures {
  const most = (tokens: number, share: number) => Math.min(tokens, Math.floor(budget * share))
  return {
    ...figures,
    newest: { ...figures.newest, budget: most(figures.newest.budget, BUDGET_SHARES.newest) },
    summary: Math.min(figures.summary, Math.max(SHORTEST_SUMMARY, Math.floor(budget * BUDGET_SHARES.summary))),
    facts: most(figures.facts, BUDGET_SHARES.facts),
    target: Math.min(figures.target, prompt + budget),
    restored: Math.min(figures.restored, prompt + budget),
  }
}

/** Fewer kept messages and a shorter record, as shares of what is usual, and a summary of at most so many tokens. */
export interface Reduced {
  readonly kept: number
  readonly record: number
  readonly summary?: number
}

export function reducedFigures(
  figures: CompactionFigures,
  { kept, record, summary = figures.summary }: Reduced,
): CompactionFigures {
  const part = (share: number) => (tokens: number) => Math.floor(tokens * share)
  return {
    ...figures,
    newest: {
      budget: part(kept)(figures.newest.budget),
      result: Math.min(figures.newest.result, Math.max(LEAST_RESULT, part(kept)(figures.newest.result))),
    },
    summary: Math.min(figures.summary, summary),
    facts: part(record)(figures.facts),
    restore: { ...mapValues(figures.restore, part(record)), files: figures.restore.files },
  }
}

/** What may be restored so that the context as a whole has at most so many tokens. */
export function restoreWithin(
  limits: RestoreLimits,
  { most, used }: { readonly most: number; readonly used: number },
): RestoreLimits {
  const room = Math.max(0, Math.floor(most - used))
  const allSkills = Math.min(limits.allSkills, Math.floor(room * SKILLS_SHARE))
  return { ...limits, allSkills, together: room }
}

/** A short conversation keeps less of its newest exchanges. */
export const newestWithin = (budget: number, conversation: number): number =>
  Math.min(budget, Math.floor(conversation * NEWEST_SHARE))

const mapValues = <T extends object>(values: T, change: (value: number) => number): T =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [key, change(value as number)])) as T
