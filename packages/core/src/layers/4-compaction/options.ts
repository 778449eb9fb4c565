/** Dependencies of layer 4: the models that write summaries, and the environment of the conversation. */
import type { Model } from "../../model/model.ts"
import type { CompactionDependencies } from "./compaction-context.ts"
import type { NotesSource, Route } from "./summarise/route.ts"
import type { ForkDependencies } from "./summarise/shared.ts"

export interface CompactionOptions extends CompactionDependencies {
  /** The conversation's model and the dependencies of its forks. Without it only the notes and the offline route are available. */
  readonly parent?: ForkDependencies
  /** Model for direct summary calls. Default: the conversation's model. */
  readonly summariser?: Model
  readonly notes?: NotesSource
  /** Route without a model, tried last. It works even if the API is down. */
  readonly offline?: Route
  readonly timing?: CompactionTiming
}

export interface CompactionTiming {
  /** Calls back at this interval. Returns a function that stops the timer. */
  every(ms: number, call: () => void): () => void
  /** Resolves after this time, or when the signal aborts. */
  wait(ms: number, signal: AbortSignal): Promise<void>
}
