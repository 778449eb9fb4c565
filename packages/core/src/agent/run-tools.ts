/**
 * Runs the tool calls of one response in the agent's loop: with permissions, hooks, events and telemetry. Calls that change nothing run
 * side by side, others in order. Every call gets exactly one result.
 */
import { Channel } from "../base/channel.ts"
import type { Telemetry } from "../base/telemetry.ts"
import type { Attachment } from "../messages/attachments.ts"
import type { ToolResult, ToolUse } from "../messages/blocks.ts"
import { needsApproval, questionOf } from "../tools/defaults.ts"
import { forgetCalls } from "../tools/files/read-state.ts"
import {
  type CallOutcome,
  type CallRequest,
  orInterrupted,
  type PreparedCall,
  prepareCalls,
  runCall,
} from "../tools/run-calls.ts"
import type { PermissionQuestion, SharedToolContext, Tool, ToolOutput } from "../tools/tool.ts"
import type { HookOutcome, RunHooks } from "./hooks.ts"
import { judge, type PermissionPolicy } from "./permissions.ts"
import type { QueryEvent } from "./query-events.ts"

export interface PermissionRequest {
  readonly id: string
  readonly tool: string
  readonly question: PermissionQuestion
  /** Why a person must decide. */
  readonly why: string
}

export type PermissionAnswer = { readonly allowed: true } | { readonly allowed: false; readonly remark?: string }

export interface ToolRun {
  readonly tools: readonly Tool[]
  readonly context: SharedToolContext
  readonly signal: AbortSignal
  readonly policy: () => PermissionPolicy
  /** Asks a person. Without it, a call that needs permission is refused. */
  readonly askPermission?: (request: PermissionRequest) => PermissionAnswer | Promise<PermissionAnswer>
  readonly runHooks: RunHooks
  readonly telemetry: Telemetry
  readonly conversation: string
  readonly now: () => number
}

export interface ToolRunOutcome {
  /** In the order of the calls. */
  readonly results: readonly ToolResult[]
  readonly attachments: readonly Attachment[]
  readonly touched: readonly string[]
  /** What the person said when they refused a call. It is kept as their own message. */
  readonly remarks: readonly string[]
}

const INTERRUPTED = "Interrupted by the user before it finished."

/** Yields what happens; returns what goes into the conversation. */
export async function* runTools(calls: readonly ToolUse[], given: ToolRun): AsyncGenerator<QueryEvent, ToolRunOutcome> {
  const outcomes: CallOutcome[] = []
  const remarks: string[] = []
  const run = recordingRemarks(given, remarks)
  for (const group of await prepareCalls(calls, run.tools)) {
    const events = new Channel<QueryEvent>()
    const emit = (event: QueryEvent) => events.push(event)
    const work = Promise.all(group.map((prepared) => runWithEvents(prepared, run, emit))).finally(() => events.end())
    yield* events
    outcomes.push(...(await work))
  }
  return {
    results: outcomes.map(({ result }) => result),
    attachments: outcomes.flatMap(({ attachments }) => attachments),
    touched: [...new Set(outcomes.flatMap(({ touched }) => touched))],
    remarks,
  }
}

function recordingRemarks(run: ToolRun, remarks: string[]): ToolRun {
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

type Emit = (event: QueryEvent) => void

async function runWithEvents(prepared: PreparedCall, run: ToolRun, emit: Emit): Promise<CallOutcome> {
  const { id, name } = prepared.call
  let started = run.now()
  const outcome = await runCall(prepared, {
    context: {
      ...run.context,
      judgeStep: (step) => judge({ tool: name, isReadOnly: true, question: step }, run.policy()),
    },
    signal: run.signal,
    interrupted: INTERRUPTED,
    progress: (text) => emit({ type: "tool-progress", id, text }),
    admit: async (request) => {
      const { question, input } = request
      emit({ type: "tool-start", id, name, input, summary: question.summary })
      const before = await runToolHooks({ event: "PreToolUse", request, about: {} }, run, emit)
      const why = (await refusalOf({ ...request, before }, run)) ?? (await changedMeanwhile(request))
      if (why !== undefined) {
        emit({ type: "tool-denied", id, name, question, why })
        return { state: "refused", why, attachments: contextsOf(before) }
      }
      return {
        state: "admitted",
        perform: async (execute) => {
          started = run.now() // the time a person took to decide is not the tool's
          const output = await run.telemetry.tool({ conversation: run.conversation, name, callId: id }, execute)
          return afterHooks({ request, output, before }, run, emit)
        },
      }
    },
  })
  emit({ type: "tool-result", id, name, result: outcome.result, ms: run.now() - started })
  return outcome
}

interface ToolHook {
  readonly event: "PreToolUse" | "PostToolUse"
  readonly request: CallRequest
  readonly about: Record<string, unknown>
}

async function runToolHooks({ event, request, about }: ToolHook, run: ToolRun, emit: Emit): Promise<HookOutcome> {
  const { tool, input } = request
  const outcome = await run.runHooks(event, { tool_name: tool.name, tool_input: input, ...about })
  for (const message of outcome.messages) emit({ type: "notice", message })
  return outcome
}

interface HookedRequest extends CallRequest {
  readonly before: HookOutcome
}

/** Why the call may not run, if so. A hook may be stricter than the rules or answer for the person, but cannot overrule a denial. */
async function refusalOf(request: HookedRequest, run: ToolRun): Promise<string | undefined> {
  const { call, tool, input, context, question, isReadOnly, before } = request
  if (before.blocked !== undefined) return before.blocked
  const approval = await needsApproval(tool, input, context)
  const judgement = judge({ tool: tool.name, isReadOnly, needsApproval: approval, question }, run.policy())
  if (judgement.verdict === "deny") return judgement.why
  if (before.permission === "deny") return "a hook forbids it"
  const verdict = before.permission ?? judgement.verdict
  if (verdict === "allow") return undefined
  const asked = await run.runHooks("PermissionRequest", { tool_name: tool.name, summary: question.summary })
  if (asked.permission === "allow") return undefined
  if (asked.permission === "deny" || asked.blocked !== undefined) return asked.blocked ?? "a hook forbids it"
  const { askPermission } = run
  if (!askPermission) return `${judgement.why}, and there is no one to ask`
  const answer = await orInterrupted(run.signal, async () =>
    askPermission({ id: call.id, tool: tool.name, question, why: judgement.why }),
  )
  return answer.allowed ? undefined : `the user said no${answer.remark ? `: ${answer.remark}` : ""}`
}

/** A link that was changed while someone decided must not take the permission with it. */
async function changedMeanwhile({ tool, input, context, question }: CallRequest): Promise<string | undefined> {
  if (question.paths === undefined) return undefined
  const { paths = [] } = await questionOf(tool, input, context)
  const isSame = paths.length === question.paths.length && paths.every((path, i) => path === question.paths?.[i])
  return isSame ? undefined : "the files it touches changed while it was being decided; ask again"
}

interface Performed {
  readonly request: CallRequest
  readonly output: ToolOutput
  readonly before: HookOutcome
}

/** The output after the hooks: one may replace the content, each may add something for the model. */
async function afterHooks({ request, output, before }: Performed, run: ToolRun, emit: Emit): Promise<ToolOutput> {
  const { call, tool } = request
  const response = typeof output.content === "string" ? output.content : output.content.map((block) => block.type)
  const after = await runToolHooks({ event: "PostToolUse", request, about: { tool_response: response } }, run, emit)
  if (after.output !== undefined) forgetCalls(run.context.reads, new Set([call.id]))
  const blocked = after.blocked === undefined ? [] : [asAttachment({ hook: tool.name, text: after.blocked })]
  return {
    ...output,
    content: after.output ?? output.content,
    attachments: [...(output.attachments ?? []), ...contextsOf(before), ...contextsOf(after), ...blocked],
  }
}

const asAttachment = ({ hook, text }: { hook: string; text: string }): Attachment => ({
  type: "hook_output",
  hook,
  content: text,
})
const contextsOf = ({ contexts }: HookOutcome): readonly Attachment[] => contexts.map(asAttachment)
