/**
 * Decides whether a call may run, and with what input: PreToolUse hooks, rules, PermissionRequest hooks, the user. What is judged is what
 * is displayed and run. If a hook replaces the input, the new input is validated and judged.
 */
import type { Attachment } from "../../messages/attachments.ts"
import { checkToolInput } from "../../messages/tool-input.ts"
import { clip, isReadOnly, needsApproval, questionOf } from "../../tools/defaults.ts"
import { type CallRequest, orInterrupted } from "../../tools/run-calls.ts"
import type { PermissionQuestion } from "../../tools/tool.ts"
import { type HookOutcome, hookReports, type RunHooks } from "../hooks/hooks.ts"
import { type Judgement, judge, type PermissionPolicy } from "./permissions.ts"
import { exactRules, suggestedRules } from "./suggested-rules.ts"

// Rules that are offered for "Yes, and don't ask again".

const MAX_CHARACTERS = 80 // maximum length of a rule, as a user would write it
const MAX_EXACT = 160 // maximum length of an exact command or path, which the user can compare
const MAX_RULES = 3 // a longer list would not be reviewed

interface RuleRequest {
  readonly tool: string
  readonly question: PermissionQuestion
  readonly onlyUser?: true
}

/** Rules that would allow the call. Empty if no rule is narrow and short, or if it would be asked about again. */
export interface OfferedRules {
  /** Rules for similar calls: a command with its subcommand, a directory. Without such rules, those for exactly this call. */
  readonly rules: readonly string[]
  /** Rules for exactly this call, if `rules` allow more. */
  readonly exactRules?: readonly string[]
}

export function offeredRules(request: RuleRequest, project: string): OfferedRules {
  if (request.onlyUser || isOnlyForUser(judgeWithRules([], { request, project }))) return { rules: [] }
  const allows = (rules: readonly string[], max: number) =>
    rules.length > 0 &&
    rules.length <= MAX_RULES &&
    rules.every((rule) => rule.length <= max) &&
    judgeWithRules(rules, { request, project }).verdict === "allow"
  const wide = [suggestedRules(request, project)].filter((rules) => allows(rules, MAX_CHARACTERS))
  const exact = exactRules(request, project).filter((rules) => allows(rules, MAX_EXACT))
  const [rules = [], narrower] = [...wide, ...exact.slice(0, 1)]
  return narrower === undefined || narrower.join() === rules.join() ? { rules } : { rules, exactRules: narrower }
}

function judgeWithRules(
  allow: readonly string[],
  { request, project }: { readonly request: RuleRequest; readonly project: string },
): Judgement {
  const { tool, question } = request
  return judge(
    { tool, question, isReadOnly: false },
    { mode: "ask", allow, ask: [], deny: [], project, protectedDirectories: [] },
  )
}

/** Whether each such call needs its own decision, such as writing a file that runs code later. */
const isOnlyForUser = (judgement: Judgement): boolean => judgement.verdict === "ask" && judgement.onlyUser === true

/** Ending of a refusal that a rule or the user could have prevented. */
export const NO_ONE_TO_ASK = "there is no one to ask"

export interface PermissionRequest {
  readonly id: string
  readonly tool: string
  readonly question: PermissionQuestion
  /** Reason why the user must decide. */
  readonly why: string
  /** Name of the sub-agent that requests the call. Absent for the agent itself. */
  readonly agent?: string
  /** Set if each such call needs its own decision, which no rule can make. */
  readonly onlyUser?: true
  /** Set if no query waits for the answer, so that the user may continue with something else. */
  readonly background?: true
  /** Rules for `agent.allow` that would allow such calls from now on. Absent if no narrow rules exist. */
  readonly rules?: readonly string[]
  /** Rules for exactly this call. Absent if `rules` allow nothing more. */
  readonly exactRules?: readonly string[]
}

export type PermissionAnswer = { readonly allowed: true } | { readonly allowed: false; readonly remark?: string }

export interface PermissionGate {
  readonly signal: AbortSignal
  readonly policy: () => PermissionPolicy
  /** Asks the user. Without it, calls that need approval are refused. */
  readonly askPermission?: (request: PermissionRequest) => PermissionAnswer | Promise<PermissionAnswer>
  readonly runHooks: RunHooks
  readonly notice: (message: string) => void
}

/** A call that is being authorized. */
export interface CallCandidate {
  readonly request: CallRequest
  /** Notes for the model: context from hooks, and that one replaced the input. */
  readonly notes: readonly Attachment[]
  /** Decision of the PreToolUse hooks. */
  readonly before: Pick<HookOutcome, "permission" | "reason">
  /** Reason why the call may not run. */
  readonly refused?: string
  /** Set if nobody could be asked: rules that would have allowed the call. */
  readonly rules?: readonly string[]
  /** No user, rule, mode or hook approved the call. */
  readonly unapproved?: true
  /** Reason for ending the query. */
  readonly stop?: string
}

/** Runs the PreToolUse hooks. */
export async function runPreToolHooks(request: CallRequest, gate: PermissionGate): Promise<CallCandidate> {
  const outcome = await toolHooks("PreToolUse", request, gate)
  const candidate = { request, notes: contextsOf(outcome), before: outcome }
  if (outcome.stop !== undefined) return stopped(candidate, outcome.stop)
  if (outcome.blocked !== undefined) return { ...candidate, refused: outcome.blocked }
  return withInput(candidate, outcome, gate)
}

/** Applies rules and hooks, and asks the user if needed. Returns the call that may run, or the reason why it may not. */
export async function applyRules(candidate: CallCandidate, gate: PermissionGate): Promise<CallCandidate> {
  if (candidate.refused !== undefined) return candidate
  const decided = await decide(candidate, gate)
  const refused = decided.refused ?? (await changedMeanwhile(decided.request))
  return refused === undefined ? decided : { ...decided, refused }
}

/**
 * Combines the hooks' decision with the rules. A hook may be stricter than the rules, or answer for the user. It cannot override a denial,
 * or a question that only the user may answer.
 */
async function decide(candidate: CallCandidate, gate: PermissionGate): Promise<CallCandidate> {
  const { permission, reason } = candidate.before
  const judgement = await judgeCall(candidate.request, gate)
  if (judgement.verdict === "deny") return { ...candidate, refused: judgement.why }
  if (permission === "deny") return { ...candidate, refused: forbidden(reason) }
  if (permission === "ask") return question(candidate, { why: reason ?? "a hook asks for it", judgement }, gate)
  if (judgement.verdict === "allow" && judgement.unapproved && permission !== "allow")
    return { ...candidate, unapproved: true }
  if (judgement.verdict === "allow" || (permission === "allow" && !judgement.onlyUser)) return candidate
  return question(candidate, { why: judgement.why, judgement }, gate)
}

interface OpenQuestion {
  readonly why: string
  readonly judgement: Judgement
}

/** Asks the PermissionRequest hooks, and then the user. Hooks may answer for the user or replace the input. */
async function question(
  candidate: CallCandidate,
  { why, judgement }: OpenQuestion,
  gate: PermissionGate,
): Promise<CallCandidate> {
  const outcome = await toolHooks("PermissionRequest", candidate.request, gate)
  const noted = { ...candidate, notes: [...candidate.notes, ...contextsOf(outcome)] }
  if (outcome.stop !== undefined) return stopped(noted, outcome.stop)
  if (outcome.permission === "deny" || outcome.blocked !== undefined)
    return { ...noted, refused: outcome.blocked ?? forbidden(outcome.reason) }
  const next = await withInput(noted, outcome, gate)
  if (next.refused !== undefined) return next
  const now = next.request === candidate.request ? judgement : await judgeCall(next.request, gate)
  if (now.verdict === "deny") return { ...next, refused: now.why }
  const isOnlyUser = now.verdict === "ask" && now.onlyUser
  if (outcome.permission === "allow" && !isOnlyUser) return next
  const reason = now.verdict === "ask" && next !== noted ? now.why : why
  return user(next, { why: reason, ...(isOnlyUser ? { onlyUser: true } : {}) }, gate)
}

async function user(
  candidate: CallCandidate,
  { why, ...doubt }: Pick<PermissionRequest, "why" | "onlyUser">,
  gate: PermissionGate,
): Promise<CallCandidate> {
  const { askPermission, signal } = gate
  const { call, tool, question: asked } = candidate.request
  const { rules, ...exact } = offeredRules({ tool: tool.name, question: asked, ...doubt }, gate.policy().project)
  if (!askPermission) return { ...candidate, refused: `${why}, and ${NO_ONE_TO_ASK}`, rules }
  notifyHooks(tool.name, gate)
  const offered = rules.length === 0 ? {} : { rules, ...exact }
  const answer = await orInterrupted(signal, async () =>
    askPermission({ id: call.id, tool: tool.name, question: asked, why, ...doubt, ...offered }),
  )
  if (answer.allowed) return candidate
  return { ...candidate, refused: `the user said no${answer.remark ? `: ${answer.remark}` : ""}` }
}

/** Runs notification hooks without waiting for them, because one may play a sound. */
function notifyHooks(tool: string, { runHooks, signal, notice }: PermissionGate): void {
  const eventFields = { message: `Strata needs your permission to use ${tool}`, notification_type: "permission_prompt" }
  const done = runHooks("Notification", { eventFields, signal }).then(hookReports, () => []) // aborted with the query
  void done.then((reports) => {
    for (const report of reports) notice(report)
  })
}

async function judgeCall(
  { tool, input, context, question: asked, isReadOnly: readOnly }: CallRequest,
  gate: PermissionGate,
) {
  const approval = await needsApproval(tool, input, context)
  return judge({ tool: tool.name, isReadOnly: readOnly, needsApproval: approval, question: asked }, gate.policy())
}

const forbidden = (reason: string | undefined) => (reason ? `a hook forbids it: ${reason}` : "a hook forbids it")
const stopped = (candidate: CallCandidate, why: string): CallCandidate => ({
  ...candidate,
  stop: why,
  refused: `a hook stopped the work: ${why}`,
})

const NOTED_INPUT_CHARACTERS = 2_000 // of the new input in the note for the model

/**
 * Replaces the input with the one from a hook, validated like the model's. The model is informed, because its original call remains in the
 * journal.
 */
async function withInput(
  candidate: CallCandidate,
  { input: given }: HookOutcome,
  gate: PermissionGate,
): Promise<CallCandidate> {
  if (given === undefined) return candidate
  const { tool, context } = candidate.request
  const checked = await checkToolInput(tool.inputSchema, cloneIfPossible(given.value))
  if (checked.state === "invalid")
    return { ...candidate, refused: `the hook "${given.hook}" gave it an input that does not fit: ${checked.reason}` }
  const { input } = checked
  const request = {
    ...candidate.request,
    input,
    isReadOnly: isReadOnly(tool, input),
    question: await questionOf(tool, input, context),
  }
  gate.notice(`The hook "${given.hook}" changed the input of ${tool.name}: ${request.question.summary}`)
  const shown = clip(JSON.stringify(given.value), NOTED_INPUT_CHARACTERS)
  const content = `It replaced the input of your ${tool.name} call. This input was used: ${shown}`
  return { ...candidate, request, notes: [...candidate.notes, asAttachment({ hook: given.hook, text: content })] }
}

/** Runs hooks with a copy of the input, so that a hook cannot change what was judged. */
async function toolHooks(event: "PreToolUse" | "PermissionRequest", request: CallRequest, gate: PermissionGate) {
  const { call, tool, input, question: asked } = request
  const eventFields = {
    tool_name: tool.name,
    tool_input: cloneIfPossible(input),
    tool_use_id: call.id,
    summary: asked.summary,
  }
  const outcome = await gate.runHooks(event, { eventFields, signal: gate.signal })
  for (const message of outcome.messages) gate.notice(message)
  return outcome
}

/** Copies a value. A value that cannot be cloned comes from a hook in code, and is passed on unchanged. */
export function cloneIfPossible<T>(value: T): T {
  try {
    return structuredClone(value)
  } catch {
    return value
  }
}

/** Resolves the paths again, because a link may have changed while the decision was pending. */
async function changedMeanwhile({ tool, input, context, question: asked }: CallRequest): Promise<string | undefined> {
  if (asked.paths === undefined) return undefined
  const { paths = [] } = await questionOf(tool, input, context)
  const isSame = paths.length === asked.paths.length && paths.every((path, i) => path === asked.paths?.[i])
  return isSame ? undefined : "the files it touches changed while it was being decided; ask again"
}

export const asAttachment = ({ hook, text }: { hook: string; text: string }): Attachment => ({
  type: "hook_output",
  hook,
  content: text,
})
export const contextsOf = ({ contexts }: HookOutcome): readonly Attachment[] => contexts.map(asAttachment)
