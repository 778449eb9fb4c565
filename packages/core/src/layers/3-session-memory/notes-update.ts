/** What an update of the notes works with, and how it ends. The two ways of writing share these. */
import type { ForkOptions, ForkOutcome } from "../../forks/fork.ts"
import type { ToolSurroundings } from "../../forks/fork-state.ts"
import type { Budget } from "../../journal/budget.ts"
import type { ModelRequest } from "../../messages/request.ts"
import type { Model } from "../../model/model.ts"
import type { StreamLimits } from "../../model/stream-limits.ts"
import type { ReadState, Tool } from "../../tools/tool.ts"
import type { NotesJournal } from "./kept-notes.ts"
import type { NotesLimits } from "./limits.ts"

const NOTHING_NEW = /^\W*nothing to note\b/i

export interface Extractor {
  readonly model: Model
  readonly tools: readonly Tool[]
  readonly reads: ReadState
  readonly toolContext: ToolSurroundings
  /** Where a template and a prompt may replace ours. */
  readonly configDirectory?: string
  /** What the person wants of every summary: notes become one. */
  readonly guidance?: () => readonly string[]
  /** What memory work of the project has cost today. Without it, there is no limit per day. */
  readonly daily?: Budget
}

export interface ExtractionTask {
  readonly journal: NotesJournal
  /** Where the notes are those of a branch that was left (`instead`): what they should be first. No text: the template. */
  readonly left?: { readonly text?: string; readonly instead: string } | undefined
  readonly request: ModelRequest
  readonly openCalls: readonly string[]
  readonly limits: NotesLimits
  readonly estimate: (text: string) => number
  /** Tokens the prompt has room for. */
  readonly room: number
  readonly now: Date
  readonly signal: AbortSignal
  /** How long the model may take. Default: its own limits. */
  readonly patience?: StreamLimits
}

/** What a fork is given to write the notes. */
export interface NotesUpdate extends ExtractionTask {
  readonly template: string
  /** As the fork sees them. */
  readonly notes: string
  readonly directive: string
}

export type Written =
  /** The fork changed the notes, or said that there is nothing to note. */
  | { readonly state: "noted"; readonly outcome: ForkOutcome; readonly text: string }
  /** `problem`: what the person should know about it. */
  | { readonly state: "not-noted"; readonly outcome: ForkOutcome; readonly problem?: unknown }

export const saysNothingNew = ({ text }: ForkOutcome): boolean => NOTHING_NEW.test(text)

/** The fork's time limits, where the task has some. */
export const patienceOf = ({ patience }: Pick<NotesUpdate, "patience">): Pick<ForkOptions, "limits"> =>
  patience ? { limits: patience } : {}
