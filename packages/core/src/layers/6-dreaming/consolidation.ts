/** What consolidates a copy of the memory, and what comes of it. The default asks a model; another function may work without one. */
import type { Memory } from "../../memory/memory.ts"
import type { ModelResponse } from "../../model/model.ts"
import type { StreamLimits } from "../../model/stream-limits.ts"
import type { DreamTurn } from "./dream-task.ts"

/** Changes files in the copy and nothing else. */
export type Consolidate = (task: ConsolidationTask) => Promise<Consolidation>

export interface ConsolidationTask {
  /** The copy, links followed. */
  readonly directory: string
  readonly project: string
  readonly journals: readonly string[]
  readonly memories: readonly Memory[]
  readonly index: string
  /** What a look at the files found, one line each. */
  readonly findings: readonly string[]
  readonly now: Date
  readonly last?: Date | undefined
  /** The most requests to a model. */
  readonly maxTurns: number
  readonly patience?: StreamLimits | undefined
  readonly signal: AbortSignal
  readonly onTurn: (turn: DreamTurn) => void
  /** A file of the copy was written; the path is relative to it. */
  readonly onWrite: (file: string) => void
}

export interface Consolidation {
  readonly ended: "done" | "unfinished" | "aborted" | "failed"
  /** What it did and why, for the person. */
  readonly why: string
  /** Everything that was billed. */
  readonly responses: readonly ModelResponse[]
  readonly error?: unknown
}
