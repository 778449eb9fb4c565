/** What layer 4 works with: the models that write summaries, the state around the conversation, and hooks. */
import type { Model } from "../../model/model.ts"
import type { CompactionOrder, CompactionProgress } from "../compaction-order.ts"
import type { Surroundings } from "./aftermath.ts"
import type { Ahead } from "./ahead.ts"
import type { NotesSource } from "./routes/from-notes.ts"
import type { Route } from "./routes/route.ts"
import type { ForkSurroundings } from "./routes/shared.ts"

export interface CompactionOptions extends Surroundings {
  /** The conversation's model and what its forks work with. Without it only the notes and the offline route are open. */
  readonly parent?: ForkSurroundings
  /** Writes summaries by a direct call. Default: the conversation's model. */
  readonly summariser?: Model
  readonly notes?: NotesSource
  /** A route without any model, tried last. It makes a summary also where the API is down. */
  readonly offline?: Route
  readonly hooks?: CompactionHooks
  /** What every summary should focus on: from instruction files and settings. */
  readonly guidance?: () => readonly string[]
  /** No one is there to answer questions. */
  readonly autonomous?: boolean
  readonly timing?: Timing
  /** Writes summaries in the background. Default: the conversation's model does. */
  readonly background?: Ahead
}

type Trigger = CompactionOrder["trigger"]

interface HookRun {
  readonly signal?: AbortSignal
  /** Called before a hook runs, for the person's screen. */
  readonly progress?: (progress: CompactionProgress) => void
}

/** A hook that fails changes nothing: its failure is only reported to the person. The signal ends hooks that run. */
export interface CompactionHooks {
  before(about: HookRun & { readonly trigger: Trigger; readonly instructions: string }): Promise<{
    readonly instructions: string
    readonly messages: readonly string[]
    readonly blocked?: string | undefined
  }>
  started(about?: HookRun): Promise<{
    readonly contexts: readonly { readonly hook: string; readonly text: string }[]
    readonly messages: readonly string[]
  }>
  after(about: { readonly trigger: Trigger; readonly summary: string; readonly signal?: AbortSignal }): Promise<{
    readonly messages: readonly string[]
  }>
}

export interface Timing {
  /** Calls back at this interval. Returns a function that stops it. */
  every(ms: number, call: () => void): () => void
  /** Resolves after this time, or when the signal aborts. */
  wait(ms: number, signal: AbortSignal): Promise<void>
}

export const realTime: Timing = {
  every(ms, call) {
    const timer = setInterval(call, ms)
    timer.unref()
    return () => clearInterval(timer)
  },
  wait: (ms, signal) =>
    new Promise((resolve) => {
      if (signal.aborted) return resolve()
      const timer = setTimeout(resolve, ms)
      signal.addEventListener("abort", () => {
        clearTimeout(timer)
        resolve()
      })
    }),
}
