/**
 * Runs tool calls for the agent loop and for forks: finds the tool, validates the input, asks for authorization, executes. Every call gets
 * exactly one result; refusals, errors and interruptions are results too. A forwarded call counts as a call of the tool it names.
 */
import { errorMessage } from "../base/errors.ts"
import { unlessInterrupted } from "../base/work.ts"
import type { Attachment } from "../messages/attachments.ts"
import type { ToolResult, ToolUse } from "../messages/blocks.ts"
import type { CallChanges } from "../messages/messages.ts"
import { checkToolInput, invalidInputResult } from "../messages/tool-input.ts"
import { getUnusableInput } from "../model/tool-input-text.ts"
import { executeTool, isReadOnly, questionOf } from "./defaults.ts"
import { CALL_TOOL, SEARCH_TOOL } from "./deferred/deferrable.ts"
import { forgetCalls } from "./files/read-state.ts"
import type { PermissionQuestion, SharedToolContext, Tool, ToolContext, ToolOutput, WorkingDirectory } from "./tool.ts"

/** A call with an existing tool and valid input, or the error result that it gets instead. */
export type PreparedCall =
  | {
      readonly state: "ready"
      readonly call: ToolUse
      readonly tool: Tool
      readonly input: unknown
      readonly isReadOnly: boolean
    }
  | { readonly state: "unusable"; readonly call: ToolUse; readonly result: ToolResult }

type ReadyCall = Extract<PreparedCall, { state: "ready" }>

/** A call that needs authorization. */
export interface CallRequest extends Omit<ReadyCall, "state"> {
  readonly context: ToolContext
  readonly question: PermissionQuestion
}

export type CallAuthorization =
  /**
   * `perform` wraps the execution of the tool and may change its output. Default: only the tool runs. `input` replaces the call's validated
   * input, and is validated too. `unapproved`: no user, rule, mode or hook approved the call.
   */
  | {
      readonly state: "admitted"
      readonly input?: unknown
      readonly unapproved?: true
      readonly perform?: (execute: () => Promise<ToolOutput>) => Promise<ToolOutput>
    }
  /** `why` is for the model. */
  | { readonly state: "refused"; readonly why: string; readonly attachments?: readonly Attachment[] }

export interface CallRun {
  readonly context: SharedToolContext
  readonly signal: AbortSignal
  /** Decides whether a call may run. */
  readonly authorize: (request: CallRequest) => Promise<CallAuthorization>
  readonly progress?: (text: string) => void
  /** Result text of an interrupted call. */
  readonly interrupted?: string
}

export interface CallOutcome {
  readonly result: ToolResult
  readonly attachments: readonly Attachment[]
  readonly touched: readonly string[]
  /** Changes on disk during the call. */
  readonly filesChanged?: CallChanges
}

const INTERRUPTED = "Interrupted before it finished."

/** Prepares calls in groups that run one after the other. Consecutive read-only calls form one group and may run in parallel. */
export async function prepareCalls(
  calls: readonly ToolUse[],
  tools: readonly Tool[],
): Promise<readonly (readonly PreparedCall[])[]> {
  const groups: PreparedCall[][] = []
  let isJoinable = false
  for (const prepared of await Promise.all(calls.map((call) => prepareCall(call, tools)))) {
    const changesNothing = prepared.state === "unusable" || prepared.isReadOnly
    if (changesNothing && isJoinable) groups.at(-1)!.push(prepared)
    else groups.push([prepared])
    isJoinable = changesNothing
  }
  return groups
}

async function prepareCall(call: ToolUse, tools: readonly Tool[]): Promise<PreparedCall> {
  const unusable = (result: ToolResult): PreparedCall => ({ state: "unusable", call, result })
  const tool = tools.find(({ name }) => name === call.name)
  if (!tool) return unusable(failure(call, noSuchTool(call.name, tools)))
  const notLoaded = isUnseen(tool.name, tools) ? ` ${loadFirst(tool.name)}` : ""
  const broken = getUnusableInput(call)
  if (broken) return unusable(invalidInputResult(call.id, tool.name, broken.reason))
  try {
    const checked = await checkToolInput(tool.inputSchema, call.input)
    if (checked.state === "invalid")
      return unusable(invalidInputResult(call.id, tool.name, `${checked.reason}${notLoaded}`))
    const forwarded = tool.forwards?.(checked.input)
    if (forwarded?.state === "refused") return unusable(failure(call, forwarded.why))
    if (forwarded) return prepareCall({ ...call, name: forwarded.name, input: forwarded.input }, tools)
    return { state: "ready", call, tool, input: checked.input, isReadOnly: isReadOnly(tool, checked.input) }
  } catch (error) {
    return unusable(failure(call, errorMessage(error)))
  }
}

export async function runCall(prepared: PreparedCall, run: CallRun): Promise<CallOutcome> {
  const { call } = prepared
  const { signal, interrupted = INTERRUPTED } = run
  if (signal.aborted) return failed(call, interrupted)
  if (prepared.state === "unusable") return { result: prepared.result, attachments: [], touched: [] }
  try {
    return await admitAndExecute(prepared, run)
  } catch (error) {
    forgetCalls(run.context.reads, new Set([call.id])) // the conversation does not contain what the call may have read
    return failed(call, signal.aborted ? interrupted : errorMessage(error))
  }
}

async function admitAndExecute({ state: _, ...ready }: ReadyCall, run: CallRun): Promise<CallOutcome> {
  const { call, tool, input } = ready
  const { signal } = run
  const context: ToolContext = {
    ...run.context,
    directory: directoryOfCall(run.context.directory),
    signal,
    toolUseId: call.id,
    progress: run.progress ?? (() => undefined),
  }
  const admission = await run.authorize({ ...ready, context, question: await questionOf(tool, input, context) })
  if (admission.state === "refused") {
    return { result: refusedCall(call, admission.why), attachments: admission.attachments ?? [], touched: [] }
  }
  const admitted = admission.input ?? input
  const within: ToolContext = admission.unapproved ? { ...context, unapproved: true } : context
  const execute = () => orInterrupted(signal, () => executeTool(tool, admitted, within))
  const output = admission.perform ? await admission.perform(execute) : await execute()
  return {
    result: resultOf(call, output),
    attachments: output.attachments ?? [],
    touched: output.touched ?? [],
    ...(output.filesChanged ? { filesChanged: { callId: call.id, ...output.filesChanged } } : {}),
  }
}

/** Gives a call its own working directory, the one it was authorized in, because a parallel call may change the shared one. */
function directoryOfCall(shared: WorkingDirectory): WorkingDirectory {
  let current = shared.get()
  return {
    get: () => current,
    set: (path) => {
      current = path
      shared.set(path)
    },
  }
}

/** Rejects as soon as the signal aborts, so that work that ignores the signal cannot block the conversation. */
export async function orInterrupted<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  signal.throwIfAborted()
  const done = await unlessInterrupted(signal, work())
  if (done.state === "interrupted") throw new Error(INTERRUPTED)
  return done.value
}

function resultOf(call: ToolUse, { content, isError }: ToolOutput): ToolResult {
  const result = { type: "tool_result" as const, tool_use_id: call.id, content: content as string }
  return isError ? { ...result, is_error: true } : result
}

/** The result of a refused call. */
export const refusedCall = (call: ToolUse, why: string): ToolResult => failure(call, `Not allowed: ${why}`)

const failure = (call: ToolUse, text: string): ToolResult => resultOf(call, { content: text, isError: true })
const failed = (call: ToolUse, text: string): CallOutcome => ({
  result: failure(call, text),
  attachments: [],
  touched: [],
})

function noSuchTool(name: string, tools: readonly Tool[]): string {
  const unseen = unseenOf(tools)
  const names = tools.map((tool) => tool.name).filter((each) => (unseen ? !unseen.has(each) : !ON_DEMAND.has(each)))
  const list = names.length === 0 ? "There are no tools here." : `The tools are: ${names.join(", ")}.`
  const more = unseen?.size ? ` ${SEARCH_TOOL} finds ${unseen.size} more.` : ""
  return `There is no tool named ${name}. ${list}${more}`
}

/** Tools that are declared only if other tools are deferred. */
const ON_DEMAND: ReadonlySet<string> = new Set([SEARCH_TOOL, CALL_TOOL])

const unseenOf = (tools: readonly Tool[]) => tools.find(({ name }) => name === SEARCH_TOOL)?.unseen?.()
const isUnseen = (name: string, tools: readonly Tool[]) => unseenOf(tools)?.has(name) === true
const loadFirst = (name: string) =>
  `Its schema is not loaded. Load it with ${SEARCH_TOOL}, query "select:${name}", and call it again.`
