/**
 * A fork (L7-1): an agent that begins with everything its parent was sent, byte for byte, and then does one thing of its own. Its requests
 * read the parent's part from the server's cache; whatever it reads, changes or is refused stays its own. Nothing of it enters the
 * parent's conversation: who made it gets the outcome.
 *
 * ```ts
 * const outcome = await runFork(parent, { directive: "Say what is being done, in five words.", allows: () => "no tools", maxTurns: 1, signal })
 * ```
 */
import { type Block, isText, isToolUse, isWellFormedCall, textOf } from "../messages/blocks.ts"
import type { ModelRequest } from "../messages/request.ts"
import { ModelAbortedError } from "../model/errors.ts"
import type { Model, ModelResponse, StreamOptions } from "../model/model.ts"
import type { ReadState, Tool } from "../tools/tool.ts"
import { assertNotForked } from "./fork-marker.ts"
import { forkMessages } from "./fork-messages.ts"
import { cloneSurroundings, type ToolSurroundings } from "./fork-state.ts"
import { type Allows, runForkCalls } from "./fork-tools.ts"

export interface ForkParent {
  readonly model: Model
  /** As the parent would send it now. */
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
  /** Requests to the model, at most. The calls of the last answer are still carried out. */
  readonly maxTurns: number
  /** Linked to the parent's: what ends the parent ends its forks. */
  readonly signal: AbortSignal
  /** Default: only where there may be a second request to read it. */
  readonly writesCache?: boolean
  /** Hears what is being said. */
  readonly onText?: (text: string) => void
}

export interface ForkOutcome {
  readonly ended: "answer" | "turn-limit" | "aborted" | "refusal" | "failed"
  /** What it said last. */
  readonly text: string
  /** All of them are paid for, whatever the end was. */
  readonly responses: readonly ModelResponse[]
  readonly turns: number
  /** What it failed with. */
  readonly error?: unknown
}

/** Rejects only where there must be no fork at all: with a `ForkedForkError`. */
export async function runFork(parent: ForkParent, options: ForkOptions): Promise<ForkOutcome> {
  assertNotForked(parent.request.messages)
  const { maxTurns, signal, directive, allows } = options
  const beginning = forkMessages({ ...parent.request, openCalls: parent.openCalls ?? [], directive })
  const context = cloneSurroundings(parent.toolContext, parent.reads)
  const caching = { writesCache: options.writesCache ?? maxTurns > 1, sharedMessages: beginning.shared }
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
      if (calls.length === 0 && response.stop_reason !== "pause_turn") return end("answer")
      messages.push({ role: "assistant", content })
      if (calls.length === 0) continue // the server was interrupted in work of its own and goes on with it
      const results = await runForkCalls(calls, { tools: parent.tools, context, allows, signal })
      messages.push({ role: "user", content: [...results] })
    }
    return end(signal.aborted ? "aborted" : "turn-limit")
  } catch (error) {
    return signal.aborted || error instanceof ModelAbortedError ? end("aborted") : end("failed", error)
  }
}

interface Question {
  readonly request: ModelRequest
  readonly onText: ForkOptions["onText"]
  readonly stream: StreamOptions
}

async function ask(model: Model, { request, onText, stream }: Question): Promise<ModelResponse> {
  for await (const event of model.stream(request, stream)) {
    if (event.type === "text") onText?.(event.text)
    if (event.type === "response") return event.response
  }
  throw new Error("The model ended its stream without a response.")
}

/** What the API takes back of an answer. */
function sendable(content: readonly Block[]): Block[] {
  return content.filter((block) => {
    if (isText(block)) return block.text.trim() !== ""
    return !isToolUse(block) || isWellFormedCall(block)
  })
}
