/**
 * A fork: an agent that starts with its parent's request, byte for byte, and then does one task of its own. Its requests read the shared
 * part from the server's cache. Nothing it does enters the parent's conversation; the caller gets the outcome.
 *
 * ```ts
 * const outcome = await runFork(parent, { purpose: "progress", directive: "Say what is being done, in five words.", allows: () => "no tools", maxTurns: 1, signal })
 * ```
 */
import type { Clock } from "../base/clock.ts"
import type { RequestSource } from "../base/enums.ts"
import { StrataError } from "../base/errors.ts"
import type { Todo } from "../messages/attachments.ts"
import {
  type Block,
  isText,
  isThinking,
  isToolResult,
  isToolUse,
  isWellFormedCall,
  type ToolResult,
  type ToolUse,
  textOf,
  toBlocks,
} from "../messages/blocks.ts"
import type { ModelRequest } from "../messages/request.ts"
import { ModelAbortedError } from "../model/errors.ts"
import type { Model, ModelResponse, StreamLimits, StreamOptions } from "../model/model.ts"
import type { Confinement } from "../tools/command.ts"
import { FileReads } from "../tools/files/read-state.ts"
import { prepareCalls, refusedCall, runCall } from "../tools/run-calls.ts"
import type { PermissionQuestion, ReadState, SharedToolContext, Tool } from "../tools/tool.ts"
import { type AddedByFork, keepAddedContent } from "../views/context/server-side.ts"

// The marker around a fork's directive. A fork has the same tools as its parent, so it may try to start a fork of its own. The marker lets
// that attempt fail with a sentence that the model understands.

/** The name of the tag around a fork's directive. */
export const FORK_MARKER = "strata-fork"

const OPENING = `<${FORK_MARKER}>`
const CLOSING = `</${FORK_MARKER}>`

/** The same for every fork, so that parallel forks differ only in their directive. */
const FORK_NOTICE =
  "You are a copy of the agent above, made for one separate task. The agent continues without you: do not continue its work, and do not start " +
  "agents. If a call above is still running, it belongs to the agent; do not wait for it. No one can answer you, so ask nothing. Do only this:"

/** Error for a fork that tries to start another fork. */
export const forkedFork = () =>
  new StrataError(
    "A fork cannot start another fork, so nothing was started and nothing was changed: do the work yourself with the tools you have, or say in your answer what is left.",
    { code: "forked-fork" },
  )

export function asDirective(text: string): string {
  return `${OPENING}\n${FORK_NOTICE}\n\n${text}\n${CLOSING}`
}

/** Whether these are the messages of a fork. Text that only mentions the marker, or a result that quotes it, does not count. */
export function isForked(messages: ModelRequest["messages"]): boolean {
  return messages.some(
    ({ role, content }) =>
      role === "user" &&
      toBlocks(content).some(
        (block) => isText(block) && block.text.startsWith(OPENING) && block.text.endsWith(CLOSING),
      ),
  )
}

export function assertNotForked(messages: ModelRequest["messages"]): void {
  if (isForked(messages)) throw forkedFork()
}

// The messages that a fork starts with: the parent's, byte for byte, then one user message that ends with the directive. Open calls get
// the same placeholder in every fork, so parallel forks differ only in their directive.

type Messages = ModelRequest["messages"]

export interface ForkStart {
  readonly messages: Messages
  /** How many of the first messages were in the parent's last request, and so are in the server's cache. */
  readonly shared: number
}

/** Replaces the result of a parent's call that is still running. */
const STILL_RUNNING = "Still running: the result goes to the agent, not to you."

interface ForkMessagesInput {
  readonly messages: Messages
  /** Calls that are still running. The placeholder replaces any stand-in result that the request has for them. */
  readonly openCalls: readonly string[]
  readonly directive: string
}

export function forkMessages({ messages, openCalls, directive }: ForkMessagesInput): ForkStart {
  const lastAnswer = messages.findLastIndex(({ role }) => role === "assistant")
  const before = messages.slice(0, lastAnswer + 1)
  const blocks = messages.slice(lastAnswer + 1).flatMap(({ content }) => toBlocks(content))
  const calls = lastAnswer < 0 ? [] : toBlocks(messages[lastAnswer]!.content).filter(isToolUse)
  const content = [
    ...withPlaceholders({ blocks, calls: calls.map(({ id }) => id), openCalls: new Set(openCalls) }),
    { type: "text" as const, text: asDirective(directive) },
  ]
  return { messages: before.concat({ role: "user", content }), shared: Math.max(0, lastAnswer) }
}

/** The message that begins a fork of a journal: the same placeholder for every call of the last answer, then the directive. */
export function forkReply(calls: readonly string[], directive: string): Block[] {
  const placeholders = withPlaceholders({ blocks: [], calls, openCalls: new Set() })
  return [...placeholders, { type: "text", text: asDirective(directive) }]
}

interface ReplyInput {
  readonly blocks: readonly Block[]
  readonly calls: readonly string[]
  readonly openCalls: ReadonlySet<string>
}

/** The reply to the parent's last answer, with a result for every call. Results come first, as the API requires. */
function withPlaceholders({ blocks, calls, openCalls }: ReplyInput): Block[] {
  const real = blocks.filter((block) => !(isToolResult(block) && openCalls.has(block.tool_use_id)))
  const known = new Set(real.filter(isToolResult).map(({ tool_use_id }) => tool_use_id))
  const placeholders = calls
    .filter((id) => !known.has(id))
    .map((id) => ({ type: "tool_result" as const, tool_use_id: id, content: STILL_RUNNING }))
  if (placeholders.length === 0) return real
  return [...real.filter(isToolResult), ...placeholders, ...real.filter((block) => !isToolResult(block))]
}

// The state that a fork changes without affecting its parent: its reads, todos, plan and directory. It starts as a copy of the parent's. A
// fork works in the background, so it cannot ask the user.

/** The part of a conversation's tool context that a fork copies. The copy can change without affecting the parent. */
export type ForkToolState = Pick<SharedToolContext, "clock" | "env" | "directory" | "todos" | "plan"> & {
  readonly confinement?: () => Confinement
}

export function cloneToolState(parent: ForkToolState, reads: ReadState): SharedToolContext {
  let isPlanning = parent.plan.isActive()
  return {
    clock: parent.clock,
    env: parent.env,
    ...(parent.confinement ? { confinement: parent.confinement } : {}),
    reads: cloneReads(reads),
    directory: createVariable(parent.directory.get()),
    todos: createVariable(parent.todos.get()),
    plan: {
      isActive: () => isPlanning,
      enter: () => {
        isPlanning = true
      },
      leave: async () => ({ approved: false, remark: "a fork has no one to approve a plan" }),
    },
  }
}

/** The tool environment of a fork that only writes text: no tools and no state. */
export function withoutTools(clock: Clock): {
  readonly tools: readonly Tool[]
  readonly reads: FileReads
  readonly toolContext: ForkToolState
} {
  return {
    tools: [],
    reads: new FileReads(),
    toolContext: {
      clock,
      env: {},
      directory: createVariable("."),
      todos: createVariable<readonly Todo[]>([]),
      plan: { isActive: () => false, enter: () => undefined, leave: async () => ({ approved: false }) },
    },
  }
}

export function cloneReads(reads: ReadState): FileReads {
  return reads instanceof FileReads ? reads.clone() : new FileReads({ reads: reads.entries() })
}

function createVariable<T>(start: T): { get(): T; set(value: T): void } {
  let value = start
  return {
    get: () => value,
    set: (next) => {
      value = next
    },
  }
}

// Runs the calls of a fork. The caller of the fork decides about each call; a refusal is an error result.

/**
 * Decides about one call: `true` allows it, a string is the reason for refusing. The question names the files that the call touches, with
 * links followed. A string in place of the function refuses every call, including calls of tools that only a custom loop can run.
 */
export type CallPolicy = string | ((call: ToolUse, tool: Tool, question: PermissionQuestion) => true | string)

export interface ForkToolRun {
  readonly tools: readonly Tool[]
  readonly context: SharedToolContext
  readonly allows: CallPolicy
  readonly signal: AbortSignal
}

/** Runs the calls and returns their results in the order of the calls. */
export async function runForkCalls(calls: readonly ToolUse[], run: ForkToolRun): Promise<readonly ToolResult[]> {
  const { tools, allows, context, signal } = run
  if (typeof allows === "string") return calls.map((call) => refusedCall(call, allows))
  const results: ToolResult[] = []
  for (const group of await prepareCalls(calls, tools)) {
    const outcomes = group.map((prepared) =>
      runCall(prepared, {
        context,
        signal,
        authorize: async ({ call, tool, question }) => {
          const verdict = allows(call, tool, question)
          return verdict === true ? { state: "admitted", unapproved: true } : { state: "refused", why: verdict }
        },
      }),
    )
    results.push(...(await Promise.all(outcomes)).map(({ result }) => result))
  }
  return results
}

// Turns of a small conversation without a journal: asks the model, runs the calls it makes, and asks again, up to a limit.

export interface TurnsOptions {
  readonly model: Model
  /** Request of the first turn. */
  readonly request: ModelRequest
  readonly tools: readonly Tool[]
  readonly context: SharedToolContext
  /** Asked before every call. */
  readonly allows: CallPolicy
  /** Maximum number of requests to the model. The calls of the last answer still run. */
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
  /** Text of the last answer. */
  readonly text: string
  /** All responses. Each one was billed, however the run ended. */
  readonly responses: readonly ModelResponse[]
  readonly turns: number
  /** Set if `ended` is "failed". */
  readonly error?: unknown
}

/** Never rejects: errors are part of the outcome. */
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
          ...keepAddedContent(request, addedIn(messages.slice(request.messages.length))),
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

function addedIn(messages: ModelRequest["messages"]): AddedByFork {
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

/** The blocks of an answer that the API accepts when they are sent back. A call with the id of an earlier one is dropped. */
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

export interface ForkParent {
  readonly model: Model
  /** The request that the parent would send now. */
  readonly request: ModelRequest
  /** The parent's calls that have no result yet. */
  readonly openCalls?: readonly string[]
  readonly tools: readonly Tool[]
  readonly reads: ReadState
  readonly toolContext: ForkToolState
}

export interface ForkOptions {
  readonly directive: string
  /** Purpose of the requests, for telemetry. */
  readonly purpose?: RequestSource
  /** Asked before every call. */
  readonly allows: CallPolicy
  /** Maximum number of requests to the model. The calls of the last answer still run. */
  readonly maxTurns: number
  /** Linked to the parent's signal: if the parent is aborted, so are its forks. */
  readonly signal: AbortSignal
  /** Whether requests write to the server's cache. Default: only if a second request may read it. */
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
  const context = cloneToolState(parent.toolContext, parent.reads)
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
