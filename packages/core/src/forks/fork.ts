/**
 * A fork: an agent that starts with its parent's request, byte for byte, and then does one task of its own. Its requests read the shared
 * part from the server's cache. Nothing it does enters the parent's conversation; the caller gets the outcome.
 *
 * ```ts
 * const outcome = await runFork(parent, { purpose: "progress", directive: "Say what is being done, in five words.", allows: () => "no tools", maxTurns: 1, signal })
 * ```
 */
import type { RequestSource } from "../base/vocabulary.ts"
import type { ModelRequest } from "../messages/request.ts"
import type { Model } from "../model/model.ts"
import type { StreamLimits } from "../model/stream-limits.ts"
import type { ReadState, Tool } from "../tools/tool.ts"
import { assertNotForked } from "./fork-marker.ts"
import { forkMessages } from "./fork-messages.ts"
import { cloneSurroundings, type ToolSurroundings } from "./fork-state.ts"
import type { Allows } from "./fork-tools.ts"
import { runTurns, type TurnsOptions, type TurnsOutcome } from "./turns.ts"

export interface ForkParent {
  readonly model: Model
  /** The request that the parent would send now. */
  readonly request: ModelRequest
  /** The parent's calls that have no result yet. */
  readonly openCalls?: readonly string[]
  readonly tools: readonly Tool[]
  readonly reads: ReadState
  readonly toolContext: ToolSurroundings
}

export interface ForkOptions {
  readonly directive: string
  /** What it is for. For telemetry. */
  readonly purpose?: RequestSource
  /** Asked before every call. */
  readonly allows: Allows
  /** The most requests to the model. The calls of the last answer still run. */
  readonly maxTurns: number
  /** Linked to the parent's signal: if the parent is aborted, so are its forks. */
  readonly signal: AbortSignal
  /** Default: only if there may be a second request to read it. */
  readonly writesCache?: boolean
  /** How long an answer may take. Default: the model's own. */
  readonly limits?: StreamLimits
  /** Whether these calls were the last step, so that the model need not be asked once more. */
  readonly isDone?: TurnsOptions["isDone"]
  /** Gets the text as it is streamed. */
  readonly onText?: (text: string) => void
}

export type ForkOutcome = TurnsOutcome

/** Rejects only if it is called from inside a fork. */
export async function runFork(parent: ForkParent, options: ForkOptions): Promise<ForkOutcome> {
  assertNotForked(parent.request.messages)
  const { maxTurns, signal, directive, allows, purpose } = options
  const beginning = forkMessages({ ...parent.request, openCalls: parent.openCalls ?? [], directive })
  const context = cloneSurroundings(parent.toolContext, parent.reads)
  const caching = {
    writesCache: options.writesCache ?? maxTurns > 1,
    sharedMessages: beginning.shared,
    ...(purpose === undefined ? {} : { purpose }),
    ...(options.limits ? { limits: options.limits } : {}),
  }
  return runTurns({
    ...{ model: parent.model, tools: parent.tools, context, allows, maxTurns, signal, stream: caching },
    request: { ...parent.request, messages: beginning.messages },
    ...(options.onText ? { onText: options.onText } : {}),
    ...(options.isDone ? { isDone: options.isDone } : {}),
  })
}
