/**
 * Decides whether a call may run, and with what input: hooks before it, rules, hooks on the question, the person. What is judged is what
 * is shown and what runs. If a hook gives another input, that one is checked and judged.
 */
import type { Attachment } from "../../messages/attachments.ts"
import { checkToolInput } from "../../messages/tool-input.ts"
import { clip, isReadOnly, needsApproval, questionOf } from "../../tools/defaults.ts"
import { type CallRequest, orInterrupted } from "../../tools/run-calls.ts"
import type { PermissionQuestion } from "../../tools/tool.ts"
import { type HookOutcome, type RunHooks, reportsOf } from "../hooks/hooks.ts"
import { type Judgement, judge, type PermissionPolicy } from "./permissions.ts"
import { exactRules, suggestedRules } from "./suggested-rules.ts"

// "Yes, and don't ask again": the rules that are offered for a call.

const MAX_CHARACTERS = 80 // of a rule: a person would not write a longer one
const MAX_EXACT = 160 // a command or a path as it is, which the person can compare
const MAX_RULES = 3 // more are a list that no one checks

interface Asked {
  readonly tool: string
  readonly question: PermissionQuestion
  readonly onlyUser?: true
}

/** Each list allows the call. Where no rule is narrow and short, or it would ask again all the same, there is only yes or no. */
export interface OfferedRules {
  /** For calls like this one: a command with its subcommand, a directory. Without such rules, for exactly this one. */
  readonly rules: readonly string[]
  /** For exactly this call, where `rules` allow more. */
  readonly exactRules?: readonly string[]
}

export function offeredRules(request: Asked, project: string): OfferedRules {
  if (request.onlyUser || isOnlyForUser(judged([], { request, project }))) return { rules: [] }
  const allows = (rules: readonly string[], max: number) =>
    rules.length > 0 &&
    rules.length <= MAX_RULES &&
    rules.every((rule) => rule.length <= max) &&
    judged(rules, { request, project }).verdict === "allow"
  const wide = [suggestedRules(request, project)].filter((rules) => allows(rules, MAX_CHARACTERS))
  const exact = exactRules(request, project).filter((rules) => allows(rules, MAX_EXACT))
  const [rules = [], narrower] = [...wide, ...exact.slice(0, 1)]
  return narrower === undefined || narrower.join() === rules.join() ? { rules } : { rules, exactRules: narrower }
}

function judged(
  allow: readonly string[],
  { request, project }: { readonly request: Asked; readonly project: string },
): Judgement {
  const { tool, question } = request
  return judge({ tool, question, isReadOnly: false }, { mode: "ask", allow, ask: [], deny: [], project, kept: [] })
}

/** Each such call is a decision of its own: a file that runs code later. */
const isOnlyForUser = (judgement: Judgement): boolean => judgement.verdict === "ask" && judgement.onlyUser === true

/** How a refusal ends that a rule or a person could have turned into a yes. */
export const NO_ONE_TO_ASK = "there is no one to ask"

export interface PermissionRequest {
  readonly id: string
  readonly tool: string
  readonly question: PermissionQuestion
  /** Why a person must decide. */
  readonly why: string
  /** The name of the sub-agent that wants to run it. Absent for the agent itself. */
  readonly agent?: string
  /** Each such question is a decision of its own: no rule can answer the next one. */
  readonly onlyUser?: true
  /** No query waits for the answer. It may come while the person does something else. */
  readonly background?: true
  /** Rules for `agent.allow` that would answer such questions from now on. Absent where there are no narrow ones. */
  readonly rules?: readonly string[]
  /** The same for exactly this call. Absent where `rules` allow no more than it. */
  readonly exactRules?: readonly string[]
}

export type PermissionAnswer = { readonly allowed: true } | { readonly allowed: false; readonly remark?: string }

export interface Gate {
  readonly signal: AbortSignal
  readonly policy: () => PermissionPolicy
  /** Asks a person. Without it, a call that needs permission is refused. */
  readonly askPermission?: (request: PermissionRequest) => PermissionAnswer | Promise<PermissionAnswer>
  readonly runHooks: RunHooks
  readonly notice: (message: string) => void
}

/** A call on its way through the gate. */
export interface Candidate {
  readonly request: CallRequest
  /** For the model: what hooks said, and that one changed the input. */
  readonly notes: readonly Attachment[]
  /** What hooks decided before the rules were asked. */
  readonly before: Pick<HookOutcome, "permission" | "reason">
  /** Why it may not run. */
  readonly refused?: string
  /** No one could be asked. These rules would have allowed it. */
  readonly rules?: readonly string[]
  /** No person, rule, mode or hook said yes to it. */
  readonly unasked?: true
  /** Why the query ends. */
  readonly stop?: string
}

/** Runs the hooks before a call. */
export async function throughHooks(request: CallRequest, gate: Gate): Promise<Candidate> {
  const outcome = await toolHooks("PreToolUse", request, gate)
  const candidate = { request, notes: contextsOf(outcome), before: outcome }
  if (outcome.stop !== undefined) return stopped(candidate, outcome.stop)
  if (outcome.blocked !== undefined) return { ...candidate, refused: outcome.blocked }
  return withInput(candidate, outcome, gate)
}

/** Asks rules, hooks and the person. Returns the call that may run, or why it may not. */
export async function throughRules(candidate: Candidate, gate: Gate): Promise<Candidate> {
  if (candidate.refused !== undefined) return candidate
  const decided = await decide(candidate, gate)
  const refused = decided.refused ?? (await changedMeanwhile(decided.request))
  return refused === undefined ? decided : { ...decided, refused }
}

/** A hook may be stricter than the rules or answer for the person. It overrules no denial, and no question that is for a person only. */
async function decide(candidate: Candidate, gate: Gate): Promise<Candidate> {
  const { permission, reason } = candidate.before
  const judgement = await judgedOfAdmitCall(candidate.request, gate)
  if (judgement.verdict === "deny") return { ...candidate, refused: judgement.why }
  if (permission === "deny") return { ...candidate, refused: forbidden(reason) }
  if (permission === "ask") return question(candidate, { why: reason ?? "a hook asks for it", judgement }, gate)
  if (judgement.verdict === "allow" && judgement.unasked && permission !== "allow")
    return { ...candidate, unasked: true }
  if (judgement.verdict === "allow" || (permission === "allow" && !judgement.onlyUser)) return candidate
  return question(candidate, { why: judgement.why, judgement }, gate)
}

interface Doubt {
  readonly why: string
  readonly judgement: Judgement
}

/** Hooks may answer in place of the person, or change what the person is asked about. */
async function question(candidate: Candidate, { why, judgement }: Doubt, gate: Gate): Promise<Candidate> {
  const outcome = await toolHooks("PermissionRequest", candidate.request, gate)
  const noted = { ...candidate, notes: [...candidate.notes, ...contextsOf(outcome)] }
  if (outcome.stop !== undefined) return stopped(noted, outcome.stop)
  if (outcome.permission === "deny" || outcome.blocked !== undefined)
    return { ...noted, refused: outcome.blocked ?? forbidden(outcome.reason) }
  const next = await withInput(noted, outcome, gate)
  if (next.refused !== undefined) return next
  const now = next.request === candidate.request ? judgement : await judgedOfAdmitCall(next.request, gate)
  if (now.verdict === "deny") return { ...next, refused: now.why }
  const isOnlyUser = now.verdict === "ask" && now.onlyUser
  if (outcome.permission === "allow" && !isOnlyUser) return next
  const reason = now.verdict === "ask" && next !== noted ? now.why : why
  return user(next, { why: reason, ...(isOnlyUser ? { onlyUser: true } : {}) }, gate)
}

async function user(
  candidate: Candidate,
  { why, ...doubt }: Pick<PermissionRequest, "why" | "onlyUser">,
  gate: Gate,
): Promise<Candidate> {
  const { askPermission, signal } = gate
  const { call, tool, question: asked } = candidate.request
  const { rules, ...exact } = offeredRules({ tool: tool.name, question: asked, ...doubt }, gate.policy().project)
  if (!askPermission) return { ...candidate, refused: `${why}, and ${NO_ONE_TO_ASK}`, rules }
  notifyOf(tool.name, gate)
  const offered = rules.length === 0 ? {} : { rules, ...exact }
  const answer = await orInterrupted(signal, async () =>
    askPermission({ id: call.id, tool: tool.name, question: asked, why, ...doubt, ...offered }),
  )
  if (answer.allowed) return candidate
  return { ...candidate, refused: `the user said no${answer.remark ? `: ${answer.remark}` : ""}` }
}

/** The question does not wait for these hooks: one may play a sound. */
function notifyOf(tool: string, { runHooks, signal, notice }: Gate): void {
  const about = { message: `Strata needs your permission to use ${tool}`, notification_type: "permission_prompt" }
  const done = runHooks("Notification", { about, signal }).then(reportsOf, () => []) // an abort ends them
  void done.then((reports) => {
    for (const report of reports) notice(report)
  })
}

async function judgedOfAdmitCall(
  { tool, input, context, question: asked, isReadOnly: readOnly }: CallRequest,
  gate: Gate,
) {
  const approval = await needsApproval(tool, input, context)
  return judge({ tool: tool.name, isReadOnly: readOnly, needsApproval: approval, question: asked }, gate.policy())
}

const forbidden = (reason: string | undefined) => (reason ? `a hook forbids it: ${reason}` : "a hook forbids it")
const stopped = (candidate: Candidate, why: string): Candidate => ({
  ...candidate,
  stop: why,
  refused: `a hook stopped the work: ${why}`,
})

const NOTED_INPUT_CHARACTERS = 2_000 // of the new input, in the note for the model

/** With the input that a hook gave, checked like the model's own. The model learns of it, because its own call stays in the journal. */
async function withInput(candidate: Candidate, { input: given }: HookOutcome, gate: Gate): Promise<Candidate> {
  if (given === undefined) return candidate
  const { tool, context } = candidate.request
  const checked = await checkToolInput(tool.inputSchema, copyOf(given.value))
  if (checked.state === "invalid")
    return { ...candidate, refused: `the hook "${given.hook}" gave it an input that does not fit: ${checked.why}` }
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

/** Hooks get a copy: one that changes it in place must not change what was judged. */
async function toolHooks(event: "PreToolUse" | "PermissionRequest", request: CallRequest, gate: Gate) {
  const { call, tool, input, question: asked } = request
  const about = { tool_name: tool.name, tool_input: copyOf(input), tool_use_id: call.id, summary: asked.summary }
  const outcome = await gate.runHooks(event, { about, signal: gate.signal })
  for (const message of outcome.messages) gate.notice(message)
  return outcome
}

/** What cannot be copied, a hook in code made of the input. It is passed on as it is. */
export function copyOf<T>(value: T): T {
  try {
    return structuredClone(value)
  } catch {
    return value
  }
}

/** A link that was changed while someone decided must not take the permission with it. */
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
