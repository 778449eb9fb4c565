/**
 * A fork: an agent that starts with its parent's request, byte for byte, and then does one task of its own. Its requests read the shared
 * part from the server's cache. Nothing it does enters the parent's conversation; the caller gets the outcome.
 *
 * ```ts
 * const outcome = await runFork(parent, { directive: "Say what is being done, in five words.", allows: () => "no tools", maxTurns: 1, signal })
 * ```
 */
import { type Block, isText, isToolUse, isWellFormedCall, textOf } from "../messages/blocks.ts"
import type { ModelRequest } from "../messages/request.ts"
import { ModelAbortedError } from "../model/errors.ts"
import type { Model, ModelResponse, StreamOptions } from "../model/model.ts"
import type { StreamLimits } from "../model/stream-limits.ts"
import type { ReadState, Tool } from "../tools/tool.ts"
import { assertNotForked } from "./fork-marker.ts"
import { forkMessages } from "./fork-messages.ts"
import { cloneSurroundings, type ToolSurroundings } from "./fork-state.ts"
import { type Allows, runForkCalls } from "./fork-tools.ts"

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
  /** Gets the text as it is streamed. */
  readonly onText?: (text: string) => void
}

export interface ForkOutcome {
  readonly ended: "answer" | "turn-limit" | "aborted" | "refusal" | "failed"
  /** The text of its last answer. */
  readonly text: string
  /** All of them cost money, however the fork ended. */
  readonly responses: readonly ModelResponse[]
  readonly turns: number
  /** The error, if it failed. */
  readonly error?: unknown
}

/** Rejects only with a `ForkedForkError`, if called from inside a fork. */
export async function runFork(parent: ForkParent, options: ForkOptions): Promise<ForkOutcome> {
  assertNotForked(parent.request.messages)
  const { maxTurns, signal, directive, allows } = options
  const beginning = forkMessages({ ...parent.request, openCalls: parent.openCalls ?? [], directive })
  const context = cloneSurroundings(parent.toolContext, parent.reads)
  const caching = {
    writesCache: options.writesCache ?? maxTurns > 1,
    sharedMessages: beginning.shared,
    ...(options.limits ? { limits: options.limits } : {}),
  }
  const messages = [...beginning.messages]
  const responses: ModelResponse[] = []
  const end = (ended: ForkOutcome["ended"], error?: unknown): ForkOutcome => ({
    ended,
    text: textOf((responses.at(-1)?.content ?? []) as readonly Block[]),
    responses,
    turns: responses.length,
    ...(error === undefined ? {} : { error }),
  })

  try {
    while (responses.length < maxTurns) {
      if (signal.aborted) return end("aborted")
      const request = { ...parent.request, messages: [...messages] }
      const response = await ask(parent.model, { request, onText: options.onText, stream: { ...caching, signal } })
      responses.push(response)
      const content = sendable(response.content as readonly Block[])
      const calls = content.filter(isToolUse)
      if (response.stop_reason === "refusal") return end("refusal")
      const isPaused = response.stop_reason === "pause_turn" && content.length > 0 // an empty pause would repeat itself
      if (calls.length === 0 && !isPaused) return end("answer")
      messages.push({ role: "assistant", content })
      if (calls.length === 0) continue // the server paused its own work and will continue it
      const results = await runForkCalls(calls, { tools: parent.tools, context, allows, signal })
      messages.push({ role: "user", content: [...results] })
    }
    return end(signal.aborted ? "aborted" : "turn-limit")
  } catch (error) {
    return signal.aborted || error instanceof ModelAbortedError ? end("aborted") : end("failed", error)
  }
}

interface AskInput {
  readonly request: ModelRequest
  readonly onText: ForkOptions["onText"]
  readonly stream: StreamOptions
}

async function ask(model: Model, { request, onText, stream }: AskInput): Promise<ModelResponse> {
  for await (const event of model.stream(request, stream)) {
    if (event.type === "text") onText?.(event.text)
    if (event.type === "response") return event.response
  }
  throw new Error("The model ended its stream without a response.")
}

/** The blocks of an answer that the API accepts back. */
function sendable(content: readonly Block[]): Block[] {
  return content.filter((block) => {
    if (isText(block)) return block.text.trim() !== ""
    return !isToolUse(block) || isWellFormedCall(block)
  })
}
