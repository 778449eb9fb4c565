/**
 * Runs the tool calls of one response (LOOP-3, LOOP-4): checked input, a permission, hooks, an abort signal. Calls that change nothing run
 * side by side, others in order. Every call gets exactly one result, whatever happens: an error or an interruption is a result, too.
 */
import { Channel } from "../base/channel.ts"
import { reasonOf } from "../base/errors.ts"
import type { Telemetry } from "../base/telemetry.ts"
import type { Attachment } from "../messages/attachments.ts"
import type { ToolResult, ToolUse } from "../messages/blocks.ts"
import { checkToolInput, invalidInputResult } from "../messages/tool-input.ts"
import { unusableInputOf } from "../model/tool-input-text.ts"
import { groupsOf } from "../tools/call-groups.ts"
import { executed, isReadOnly, needsApproval, questionOf } from "../tools/defaults.ts"
import { forgetCalls } from "../tools/files/read-state.ts"
import type { PermissionQuestion, Tool, ToolContext, ToolOutput } from "../tools/tool.ts"
import { type Hook, type HookInput, type HookOutcome, runHooks } from "./hooks.ts"
import { judge, type PermissionPolicy } from "./permissions.ts"
import type { QueryEvent } from "./query-events.ts"

export interface PermissionRequest {
  readonly id: string
  readonly tool: string
  readonly question: PermissionQuestion
  /** Why it must be asked. */
  readonly why: string
}

export type PermissionAnswer = { readonly allowed: true } | { readonly allowed: false; readonly remark?: string }

export interface ToolRun {
  readonly tools: readonly Tool[]
  readonly context: Omit<ToolContext, "signal" | "progress" | "toolUseId">
  readonly signal: AbortSignal
  readonly policy: () => PermissionPolicy
  /** Asks a person. Without one, what must be asked is denied. */
  readonly askPermission?: (request: PermissionRequest) => Promise<PermissionAnswer>
  readonly hooks: readonly Hook[]
  readonly hookInput: (event: HookInput["hook_event_name"], more: Record<string, unknown>) => HookInput
  readonly telemetry: Telemetry
  readonly conversation: string
  readonly now: () => number
}

export interface ToolRunOutcome {
  /** In the order of the calls. */
  readonly results: readonly ToolResult[]
  readonly attachments: readonly Attachment[]
  readonly touched: readonly string[]
  /** What the person said when a call was not allowed: his own words, and to be kept as such. */
  readonly remarks: readonly string[]
}

interface Finished {
  readonly result: ToolResult
  readonly attachments: readonly Attachment[]
  readonly touched: readonly string[]
}

const INTERRUPTED = "Interrupted by the user before it finished."

/** Yields what happens; returns what goes into the conversation. */
export async function* runTools(calls: readonly ToolUse[], given: ToolRun): AsyncGenerator<QueryEvent, ToolRunOutcome> {
  const finished: Finished[] = []
  const remarks: string[] = []
  const run = hearing(given, (remark) => remarks.push(remark))
  for (const group of await groupsOf(calls, run.tools)) {
    const events = new Channel<QueryEvent>()
    const work = Promise.all(group.map((call) => runCall(call, run, (event) => events.push(event)))).finally(() =>
      events.end(),
    )
    yield* events
    finished.push(...(await work))
  }
  return {
    results: finished.map(({ result }) => result),
    attachments: finished.flatMap(({ attachments }) => attachments),
    touched: [...new Set(finished.flatMap(({ touched }) => touched))],
    remarks,
  }
}

function hearing(run: ToolRun, onRemark: (remark: string) => void): ToolRun {
  const ask = run.askPermission
  if (!ask) return run
  return {
    ...run,
    async askPermission(request) {
      const answer = await ask(request)
      if (!answer.allowed && answer.remark?.trim()) onRemark(answer.remark)
      return answer
    },
  }
}

type Tell = (event: QueryEvent) => void

async function runCall(call: ToolUse, run: ToolRun, tell: Tell): Promise<Finished> {
  const timer = { started: run.now() }
  const finished = await runChecked({ call, timer }, run, tell)
  tell({ type: "tool-result", id: call.id, name: call.name, result: finished.result, ms: run.now() - timer.started })
  return finished
}

interface TimedCall {
  readonly call: ToolUse
  /** Set anew when the tool itself begins: what a person took to decide is not its time. */
  readonly timer: { started: number }
}

async function runChecked({ call, timer }: TimedCall, run: ToolRun, tell: Tell): Promise<Finished> {
  if (run.signal.aborted) return failure(call, INTERRUPTED)
  const tool = run.tools.find(({ name }) => name === call.name)
  if (!tool)
    return failure(
      call,
      `There is no tool named ${call.name}. The tools are: ${run.tools.map(({ name }) => name).join(", ")}.`,
    )
  const unusable = unusableInputOf(call)
  if (unusable) return { result: invalidInputResult(call.id, tool.name, unusable.why), attachments: [], touched: [] }
  const checked = await checkToolInput(tool.inputSchema, call.input)
  if (checked.state === "invalid")
    return { result: invalidInputResult(call.id, tool.name, checked.why), attachments: [], touched: [] }
  const context: ToolContext = {
    ...run.context,
    signal: run.signal,
    toolUseId: call.id,
    progress: (text) => tell({ type: "tool-progress", id: call.id, text }),
  }
  try {
    const question = await questionOf(tool, checked.input, context)
    tell({ type: "tool-start", id: call.id, name: tool.name, input: checked.input, summary: question.summary })
    const before = await runHooks(
      run.hooks,
      run.hookInput("PreToolUse", { tool_name: tool.name, tool_input: checked.input }),
      tool.name,
    )
    for (const message of before.messages) tell({ type: "notice", message })
    const asked = {
      call,
      tool,
      question,
      before,
      isReadOnly: isReadOnly(tool, checked.input),
      needsApproval: await needsApproval(tool, checked.input, context),
    }
    const askAgain = () => questionOf(tool, checked.input, context)
    const denied = (await permissionFor(asked, run)) ?? (await changedMeanwhile(question, askAgain))
    if (denied !== undefined) {
      tell({ type: "tool-denied", id: call.id, name: tool.name, question, why: denied })
      return failure(call, `Not allowed: ${denied}`, before)
    }
    const about = { conversation: run.conversation, name: tool.name, callId: call.id }
    timer.started = run.now()
    const output = await run.telemetry.tool(about, () =>
      untilAborted(executed(tool, checked.input, context), run.signal),
    )
    return await withPostHooks({ call, tool, input: checked.input, output, before }, run, tell)
  } catch (error) {
    forgetCalls(run.context.reads, new Set([call.id])) // what it may have read is not in the conversation
    return failure(call, run.signal.aborted ? INTERRUPTED : messageOf(error))
  }
}

interface Asked {
  readonly call: ToolUse
  readonly tool: Tool
  readonly question: PermissionQuestion
  readonly before: HookOutcome
  readonly isReadOnly: boolean
  readonly needsApproval: boolean | undefined
}

/** Why the call may not run; nothing where it may. A hook may be stricter or answer for the person, but never overrule a denial. */
async function permissionFor(
  { call, tool, question, before, isReadOnly, needsApproval }: Asked,
  run: ToolRun,
): Promise<string | undefined> {
  if (before.blocked !== undefined) return before.blocked
  const judgement = judge({ tool: tool.name, isReadOnly, needsApproval, question }, run.policy())
  if (judgement.verdict === "deny") return judgement.why
  if (before.permission === "deny") return "a hook forbids it"
  const verdict = before.permission ?? judgement.verdict
  if (verdict === "allow") return undefined
  const asked = await runHooks(
    run.hooks,
    run.hookInput("PermissionRequest", { tool_name: tool.name, summary: question.summary }),
    tool.name,
  )
  if (asked.permission === "allow") return undefined
  if (asked.permission === "deny" || asked.blocked !== undefined) return asked.blocked ?? "a hook forbids it"
  if (!run.askPermission) return `${judgement.why}, and there is nobody to ask`
  const answer = await untilAborted(
    run.askPermission({ id: call.id, tool: tool.name, question, why: judgement.why }),
    run.signal,
  )
  return answer.allowed ? undefined : `the user said no${answer.remark ? `: ${answer.remark}` : ""}`
}

/** A link that was turned elsewhere while somebody decided must not carry the permission along. */
async function changedMeanwhile(
  before: PermissionQuestion,
  ask: () => Promise<PermissionQuestion>,
): Promise<string | undefined> {
  if (before.paths === undefined) return undefined
  const { paths = [] } = await ask()
  const same = paths.length === before.paths.length && paths.every((path, i) => path === before.paths?.[i])
  return same ? undefined : "the files it is about changed while it was being decided; ask again"
}

interface Done {
  readonly call: ToolUse
  readonly tool: Tool
  readonly input: unknown
  readonly output: ToolOutput
  readonly before: HookOutcome
}

async function withPostHooks({ call, tool, input, output, before }: Done, run: ToolRun, tell: Tell): Promise<Finished> {
  const response = typeof output.content === "string" ? output.content : output.content.map((block) => block.type)
  const about = { tool_name: tool.name, tool_input: input, tool_response: response }
  const after = await runHooks(run.hooks, run.hookInput("PostToolUse", about), tool.name)
  for (const message of after.messages) tell({ type: "notice", message })
  if (after.output !== undefined) forgetCalls(run.context.reads, new Set([call.id]))
  const content = after.output ?? output.content
  const result = {
    type: "tool_result" as const,
    tool_use_id: call.id,
    content: content as string,
    ...(output.isError ? { is_error: true } : {}),
  }
  const blocked = after.blocked === undefined ? [] : [{ hook: tool.name, text: after.blocked }]
  return {
    result,
    attachments: [
      ...(output.attachments ?? []),
      ...contextsOf(before),
      ...contextsOf(after),
      ...blocked.map(asAttachment),
    ],
    touched: output.touched ?? [],
  }
}

const asAttachment = ({ hook, text }: { hook: string; text: string }): Attachment => ({
  type: "hook_output",
  hook,
  content: text,
})
const contextsOf = ({ contexts }: HookOutcome): readonly Attachment[] => contexts.map(asAttachment)

function failure(call: ToolUse, text: string, hooks?: HookOutcome): Finished {
  return {
    result: { type: "tool_result", tool_use_id: call.id, content: text, is_error: true },
    attachments: hooks ? contextsOf(hooks) : [],
    touched: [],
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error && error.message !== "" ? error.message : reasonOf(error)
}

/** The work's outcome, or an end at once when the user interrupts: a tool that does not listen cannot hold up the conversation. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) return Promise.reject(new Error(INTERRUPTED))
  return new Promise((resolve, reject) => {
    const stop = () => reject(new Error(INTERRUPTED))
    signal.addEventListener("abort", stop, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop))
  })
}
