/** Turns of a small conversation without a journal: asks the model, runs the calls it makes, and asks again, up to a limit. */
import {
  type Block,
  isText,
  isThinking,
  isToolUse,
  isWellFormedCall,
  type ToolResult,
  type ToolUse,
  textOf,
  toBlocks,
} from "../messages/blocks.ts"
import type { ModelRequest } from "../messages/request.ts"
import { type Added, keepingAdded } from "../model/context-management.ts"
import { ModelAbortedError } from "../model/errors.ts"
import type { Model, ModelResponse, StreamOptions } from "../model/model.ts"
import type { SharedToolContext, Tool } from "../tools/tool.ts"
import { type Allows, runForkCalls } from "./fork-tools.ts"

export interface TurnsOptions {
  readonly model: Model
  /** The first request. */
  readonly request: ModelRequest
  readonly tools: readonly Tool[]
  readonly context: SharedToolContext
  /** Asked before every call. */
  readonly allows: Allows
  /** The most requests to the model. The calls of the last answer still run. */
  readonly maxTurns: number
  readonly signal: AbortSignal
  readonly stream?: Omit<StreamOptions, "signal">
  /** Whether these calls were the last step, so that the model need not be asked once more. */
  readonly isDone?: (calls: readonly ToolUse[], results: readonly ToolResult[]) => boolean
  /** Gets the text as it is streamed. */
  readonly onText?: (text: string) => void
  /** Gets each answer, before its calls run. */
  readonly onAnswer?: (content: readonly Block[], response: ModelResponse) => void
  /** Gets the results of an answer's calls. */
  readonly onResults?: (results: readonly ToolResult[]) => void
}

export interface TurnsOutcome {
  readonly ended: "answer" | "turn-limit" | "aborted" | "refusal" | "failed"
  /** The text of its last answer. */
  readonly text: string
  /** All of them cost money, however it ended. */
  readonly responses: readonly ModelResponse[]
  readonly turns: number
  /** The error, if it failed. */
  readonly error?: unknown
}

/** Never rejects. */
export async function runTurns(options: TurnsOptions): Promise<TurnsOutcome> {
  const { model, request, tools, context, allows, maxTurns, signal } = options
  const messages = request.messages.slice()
  const responses: ModelResponse[] = []
  const end = (ended: TurnsOutcome["ended"], error?: unknown): TurnsOutcome => ({
    ended,
    text: textOf((responses.at(-1)?.content ?? []) as readonly Block[]),
    responses,
    turns: responses.length,
    ...(error === undefined ? {} : { error }),
  })

  try {
    while (responses.length < maxTurns) {
      if (signal.aborted) return end("aborted")
      const response = await ask(model, {
        request: {
          ...keepingAdded(request, addedIn(messages.slice(request.messages.length))),
          messages: messages.slice(),
        },
        onText: options.onText,
        stream: { ...options.stream, signal },
      })
      responses.push(response)
      const content = sendable(response.content as readonly Block[], messages)
      const calls = content.filter(isToolUse)
      options.onAnswer?.(content, response)
      if (response.stop_reason === "refusal") return end("refusal")
      const isPaused = response.stop_reason === "pause_turn" && content.length > 0 // an empty pause would repeat itself
      if (calls.length === 0 && !isPaused) return end("answer")
      messages.push({ role: "assistant", content })
      if (calls.length === 0) continue // the server paused its own work and will continue it
      const results = await runForkCalls(calls, { tools, context, allows, signal })
      options.onResults?.(results)
      if (!signal.aborted && options.isDone?.(calls, results)) return end("answer")
      messages.push({ role: "user", content: [...results] })
    }
    return end(signal.aborted ? "aborted" : "turn-limit")
  } catch (error) {
    return signal.aborted || error instanceof ModelAbortedError ? end("aborted") : end("failed", error)
  }
}

function addedIn(messages: ModelRequest["messages"]): Added {
  const answers = messages.filter(({ role }) => role === "assistant").map(({ content }) => toBlocks(content))
  return {
    calls: answers.flat().filter(isToolUse).length,
    thoughts: answers.filter((blocks) => blocks.some(isThinking)).length,
  }
}

interface AskInput {
  readonly request: ModelRequest
  readonly onText: TurnsOptions["onText"]
  readonly stream: StreamOptions
}

async function ask(model: Model, { request, onText, stream }: AskInput): Promise<ModelResponse> {
  for await (const event of model.stream(request, stream)) {
    if (event.type === "text") onText?.(event.text)
    if (event.type === "response") return event.response
  }
  throw new Error("The model ended its stream without a response.")
}

/** The blocks of an answer that the API accepts back. A call with the id of an earlier one is left out. */
function sendable(content: readonly Block[], before: ModelRequest["messages"]): Block[] {
  // an answer without calls is the rule, and a parent's conversation is long
  const earlier = content.some(isToolUse) ? before : []
  const used = new Set(earlier.flatMap((message) => toBlocks(message.content).filter(isToolUse)).map(({ id }) => id))
  return content.filter((block) => {
    if (isText(block)) return block.text.trim() !== ""
    if (!isToolUse(block)) return true
    if (!isWellFormedCall(block) || used.has(block.id)) return false
    used.add(block.id)
    return true
  })
}
