/**
 * Runs the tool calls of one response in the agent loop, with permissions, hooks, events and telemetry. Read-only calls run in parallel,
 * others in order. Every call gets exactly one result.
 */

import { resolve } from "node:path"
import type { Telemetry } from "../../base/telemetry.ts"
import { SerialQueue } from "../../base/work.ts"
import type { Attachment } from "../../messages/attachments.ts"
import { type ToolResult, type ToolUse, textOf } from "../../messages/blocks.ts"
import type { CallChanges } from "../../messages/messages.ts"
import { forgetCalls } from "../../tools/files/read-state.ts"
import { type CallOutcome, type CallRequest, type PreparedCall, prepareCalls, runCall } from "../../tools/run-calls.ts"
import type { SharedToolContext, Tool, ToolOutput } from "../../tools/tool.ts"
import {
  applyRules,
  asAttachment,
  type CallCandidate,
  cloneIfPossible,
  contextsOf,
  type PermissionGate,
  runPreToolHooks,
} from "../permissions/authorize-call.ts"
import { judge } from "../permissions/permissions.ts"
import { NO_OUTPUT } from "../tools/shell/bash.ts"
import type { QueryEvent } from "./query-events.ts"
import type { Refusals } from "./refusals.ts"

/** Merges events of several concurrent sources into one stream, in order of arrival. */
class Channel<T> {
  readonly #waiting: T[] = []
  #wake: (() => void) | undefined
  #ended = false

  push(value: T): void {
    this.#waiting.push(value)
    this.#wake?.()
  }

  end(): void {
    this.#ended = true
    this.#wake?.()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for (;;) {
      while (this.#waiting.length > 0) yield this.#waiting.shift()!
      if (this.#ended) return
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
      this.#wake = undefined
    }
  }
}

export interface ToolRun extends Omit<PermissionGate, "notice"> {
  readonly tools: readonly Tool[]
  readonly context: SharedToolContext
  readonly telemetry: Telemetry
  readonly refusals: Refusals
  readonly conversation: string
  readonly now: () => number
}

export interface ToolRunOutcome {
  /** Results in the order of the calls. */
  readonly results: readonly ToolResult[]
  readonly attachments: readonly Attachment[]
  readonly touched: readonly string[]
  /** File changes on disk during each call, if they were tracked. */
  readonly filesChanged: readonly CallChanges[]
  /** Remarks of the user when refusing calls. They are recorded as the user's message. */
  readonly remarks: readonly string[]
  /** Reason why a hook ends the query. */
  readonly stop: string | undefined
}

/** Reason if the user interrupted instead of answering. */
const NEVER_RAN = "you interrupted before it ran"
const INTERRUPTED = "Interrupted by the user before it finished."

/** Yields events, and returns the results for the conversation. */
export async function* runTools(calls: readonly ToolUse[], given: ToolRun): AsyncGenerator<QueryEvent, ToolRunOutcome> {
  const outcomes: CallOutcome[] = []
  const remarks: string[] = []
  let stop: string | undefined
  const run = recordRemarks(given, remarks)
  for (const group of await prepareCalls(calls, run.tools)) {
    const events = new Channel<QueryEvent>()
    const round: ToolRound = {
      emit: (event) => events.push(event),
      stopped: () => stop,
      stop: (why) => {
        stop ??= why
      },
      alone: new SerialQueue(),
    }
    const work = Promise.all(group.map((prepared) => runWithEvents(prepared, run, round))).finally(() => events.end())
    yield* events
    outcomes.push(...(await work))
  }
  return {
    results: outcomes.map(({ result }) => result),
    attachments: outcomes.flatMap(({ attachments }) => attachments),
    touched: [...new Set(outcomes.flatMap(({ touched }) => touched))],
    filesChanged: outcomes.flatMap(({ filesChanged }) => filesChanged ?? []),
    remarks,
    stop,
  }
}

/** State shared by the calls of one group. */
interface ToolRound {
  readonly emit: (event: QueryEvent) => void
  /** Reason why a hook ends the query. Calls that have not started do not run. */
  readonly stopped: () => string | undefined
  readonly stop: (why: string) => void
  /** Serializes calls that were started in parallel as read-only until a hook gave them an input that changes something. */
  readonly alone: SerialQueue
}

function recordRemarks(run: ToolRun, remarks: string[]): ToolRun {
  const ask = run.askPermission
  if (!ask) return run
  return {
    ...run,
    async askPermission(request) {
      const answer = await ask(request)
      if (typeof answer?.allowed !== "boolean")
        throw new Error("It was not run: askPermission must return { allowed: true } or { allowed: false }.")
      if (!answer.allowed && answer.remark?.trim()) remarks.push(answer.remark)
      return answer
    },
  }
}

async function runWithEvents(prepared: PreparedCall, run: ToolRun, round: ToolRound): Promise<CallOutcome> {
  const { id, name } = prepared.call
  const { emit } = round
  const gate: PermissionGate = { ...run, notice: (message) => emit({ type: "notice", message }) }
  let started: number | undefined
  let waiting: CallRequest | undefined
  const outcome = await runCall(prepared, {
    context: {
      ...run.context,
      judgeStep: (step) => {
        const judgement = judge({ tool: name, isReadOnly: true, question: step }, run.policy())
        return { ...judgement, byRule: judgement.verdict === "ask" && judgement.onlyUser === true }
      },
    },
    signal: run.signal,
    interrupted: INTERRUPTED,
    progress: (text) => emit({ type: "tool-progress", id, text }),
    authorize: async (given) => {
      const candidate = await runCallHooks(given, gate, round)
      const { input, question } = candidate.request
      emit({ type: "tool-start", id, name, input, summary: question.summary })
      waiting = candidate.request
      const { request, notes, refused, rules, stop, unapproved } = await applyRules(candidate, gate)
      waiting = undefined
      if (stop !== undefined) round.stop(stop)
      if (refused !== undefined) {
        emit({ type: "tool-denied", id, name, question: request.question, why: refused, ...(rules ? { rules } : {}) })
        const advice = run.refusals.refused(name, refused)
        return { state: "refused", why: advice === undefined ? refused : `${refused}\n${advice}`, attachments: notes }
      }
      run.refusals.allowed()
      const mustWait = given.isReadOnly && !request.isReadOnly
      return {
        state: "admitted",
        input: request.input,
        ...(unapproved ? { unapproved } : {}),
        perform: async (execute) => {
          const timed = () => {
            started = run.now() // excludes the time the user took to decide
            return run.telemetry.tool(
              { conversation: run.conversation, name, callId: id, input: () => request.input },
              execute,
            )
          }
          const output = await (mustWait ? round.alone.run(timed) : timed())
          return afterHooks({ request, output, notes }, gate, round)
        },
      }
    },
  })
  if (waiting && run.signal.aborted) emit({ type: "tool-denied", id, name, question: waiting.question, why: NEVER_RAN })
  const ms = started === undefined ? 0 : run.now() - started // a call that never ran has no duration
  emit({ type: "tool-result", id, name, result: outcome.result, ms })
  return outcome
}

/** Runs the hooks before a call. After a hook has ended the query, remaining calls are refused. */
async function runCallHooks(request: CallRequest, gate: PermissionGate, round: ToolRound): Promise<CallCandidate> {
  const stop = round.stopped()
  if (stop === undefined) return runPreToolHooks(request, gate)
  const before = { permission: undefined, reason: undefined }
  return { request, notes: [], before, refused: `a hook stopped the work: ${stop}` }
}

interface PerformedCall {
  readonly request: CallRequest
  readonly output: ToolOutput
  readonly notes: readonly Attachment[]
}

/** Runs PostToolUse hooks, which may replace the content and add context for the model. */
async function afterHooks(
  { request, output, notes }: PerformedCall,
  gate: PermissionGate,
  round: ToolRound,
): Promise<ToolOutput> {
  const { call, tool, input, context } = request
  const response = typeof output.content === "string" ? output.content : output.content.map((block) => block.type)
  const eventFields = {
    tool_name: tool.name,
    tool_input: cloneIfPossible(input),
    tool_use_id: call.id,
    tool_response: response,
  }
  const claudeCode = {
    tool_response: claudeToolResponse({ tool: tool.name, input, output, directory: context.directory.get() }),
  }
  const after = await gate.runHooks("PostToolUse", { eventFields, claudeCode, signal: gate.signal })
  for (const message of after.messages) gate.notice(message)
  if (after.stop !== undefined) round.stop(after.stop)
  if (after.output !== undefined) forgetCalls(context.reads, new Set([call.id]))
  const blocked = after.blocked === undefined ? [] : [asAttachment({ hook: tool.name, text: after.blocked })]
  return {
    ...output,
    content: after.output ?? output.content,
    attachments: [...(output.attachments ?? []), ...notes, ...contextsOf(after), ...blocked],
  }
}

/** Input for the `tool_response` that scripts written for Claude Code expect after a call: an object whose fields depend on the tool. */
interface ToolResponseInput {
  readonly tool: string
  readonly input: unknown
  readonly output: ToolOutput
  /** Directory from which relative paths are resolved. */
  readonly directory: string
}

type Fields = Readonly<Record<string, unknown>>

type ResponseBuilder = (input: Fields, output: ToolOutput) => Fields

/** Builders by tool name. A map, because a tool may be named like a method of every object. */
const RESPONSES: ReadonlyMap<string, ResponseBuilder> = new Map<string, ResponseBuilder>([
  // the shell has one stream for both, in the order of output
  ["Bash", (_, output) => ({ stdout: textIn(output), stderr: "", interrupted: false, isImage: false })],
  ["Read", ({ file_path: filePath }, output) => ({ type: "text", file: { filePath, content: textIn(output) } })],
  ["Write", ({ file_path: filePath, content }, output) => ({ filePath, content, success: output.isError !== true })],
  [
    "Edit",
    ({ file_path: filePath, old_string, new_string, replace_all }, output) => ({
      filePath,
      oldString: old_string,
      newString: new_string,
      replaceAll: replace_all === true,
      success: output.isError !== true,
    }),
  ],
])

/** Builds the response. For other tools it contains the content as text or blocks. */
export function claudeToolResponse({ tool, input, output, directory }: ToolResponseInput): Fields {
  const given = (typeof input === "object" && input !== null ? input : {}) as Fields
  const { file_path: path } = given
  const fields = typeof path === "string" ? { ...given, file_path: resolve(directory, path) } : given
  const failed = output.isError ? { is_error: true } : {}
  return { ...(RESPONSES.get(tool)?.(fields, output) ?? { content: output.content }), ...failed }
}

function textIn({ content }: ToolOutput): string {
  const text = typeof content === "string" ? content : textOf(content)
  return text === NO_OUTPUT ? "" : text
}
