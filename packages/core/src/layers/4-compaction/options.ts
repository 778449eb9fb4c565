/** What layer 4 works with: the models that write summaries, and the surroundings of the conversation. */
import type { Model } from "../../model/model.ts"
import type { CompactionDependencies } from "./compaction-context.ts"
import type { NotesSource, Route } from "./summarise/route.ts"
import type { ForkDependencies } from "./summarise/shared.ts"

export interface CompactionOptions extends CompactionDependencies {
  /** The conversation's model and what its forks work with. Without it only the notes and the offline route are open. */
  readonly parent?: ForkDependencies
  /** Writes summaries by a direct call. Default: the conversation's model. */
  readonly summariser?: Model
  readonly notes?: NotesSource
  /** A route without any model, tried last. It makes a summary also where the API is down. */
  readonly offline?: Route
  readonly timing?: CompactionTiming
}

export interface CompactionTiming {
  /** Calls back at this interval. Returns a function that stops it. */
  every(ms: number, call: () => void): () => void
  /** Resolves after this time, or when the signal aborts. */
  wait(ms: number, signal: AbortSignal): Promise<void>
}
