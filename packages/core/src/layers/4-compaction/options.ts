/** What layer 4 is given: who writes summaries, what surrounds the conversation, who wants to be asked. */
import type { Model } from "../../model/model.ts"
import type { CompactionOrder } from "../compaction-order.ts"
import type { Surroundings } from "./aftermath.ts"
import type { NotesSource } from "./routes/from-notes.ts"
import type { Route } from "./routes/route.ts"
import type { ForkSurroundings } from "./routes/shared.ts"

export interface CompactionOptions extends Surroundings {
  /** The conversation's model and what its forks work with. Without it only ways that need no model are open. */
  readonly parent?: ForkSurroundings
  /** Writes summaries by a direct call. Default: the conversation's model. */
  readonly summariser?: Model
  readonly notes?: NotesSource
  /** A way without any model, tried last. */
  readonly offline?: Route
  readonly hooks?: CompactionHooks
  /** What every summary is to keep in mind: from instruction files and settings (L4-26). */
  readonly guidance?: () => readonly string[]
  /** Nobody is there to answer questions. */
  readonly autonomous?: boolean
  readonly timing?: Timing
}

type Trigger = CompactionOrder["trigger"]

/** L4-22. What a hook does wrong is its own business: it is told to the person, and nothing else. */
export interface CompactionHooks {
  before(about: { readonly trigger: Trigger; readonly instructions: string }): Promise<{
    readonly instructions: string
    readonly messages: readonly string[]
    readonly blocked?: string | undefined
  }>
  started(): Promise<{
    readonly contexts: readonly { readonly hook: string; readonly text: string }[]
    readonly messages: readonly string[]
  }>
  after(about: { readonly trigger: Trigger; readonly summary: string }): Promise<{
    readonly messages: readonly string[]
  }>
}

export interface Timing {
  /** Calls back again and again; returns what stops it. */
  every(ms: number, call: () => void): () => void
  /** Resolves after so long, or when the signal says so. */
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
