/**
 * A deterministic agent that works with the tools it is offered. It explores a directory, reads, searches, edits, runs commands, keeps
 * todos, reacts to errors, obeys corrections, and ends its turn with an answer. It can continue for millions of tokens.
 *
 * It keeps no state between requests. All its knowledge comes from the request (see `worker/worker-state.ts`), its choices from its seed and
 * the simulator's random numbers.
 */

import { findProblems, isRecord, type PlannedCall, sampleValue, sentencesOf, toolRole } from "@strata/core/offline"
import type { Answer, AnswerBlock, Responder, ResponderRequest, ResponderTurn } from "../responder.ts"
import { constrainResponder } from "./constrained.ts"
import { isRule, obeys, promiseOf } from "./corrections.ts"
import { extractFacts } from "./extractive/conversation-facts.ts"
import { extractiveAnswer } from "./extractive.ts"
import { createRandom } from "./seeded-random.ts"
import { lookAround, orderActions, writeWhereAsked } from "./worker/actions.ts"
import { useAskedTool } from "./worker/asked-tool.ts"
import { isDone, planTodos } from "./worker/plan.ts"
import { REFUSED, react } from "./worker/reactions.ts"
import { DEFAULT_SETTINGS, keepCalls, type StepContext, type WorkerSettings, type WorkerStep } from "./worker/step.ts"
import { observe } from "./worker/worker-state.ts"

export type { WorkerSettings } from "./worker/step.ts"

const SHARE_OF_WORDS = 0.6 // share of answers with tool calls that also contain text
const SHARE_OF_THOUGHTS = 0.5 // the simulator drops them if the request has thinking off
const RECENT_CALLS = 40 // a call among these is repeated only if no other is possible
const MAX_REFUSALS = 2 // after these the worker avoids the tool while the refusals are in view
const STOP = /^\s*(?:please )?stop\b[\s.!]*$/i

export function workerResponder(settings: Partial<WorkerSettings> = {}): Responder {
  const complete = { ...DEFAULT_SETTINGS, ...settings }
  return constrainResponder({
    name: "worker",
    answer: (turn) => extractiveAnswer(turn) ?? work(turn, complete),
  })
}

function work(turn: ResponderTurn, settings: WorkerSettings): Answer {
  const context: StepContext = { state: observe(turn.request), settings, random: createRandom(settings.seed, turn) }
  if (STOP.test(context.state.correction ?? "")) return say("Stopped. Nothing further was changed.")
  if (isDone(context)) return say(finalWords(context))
  const step = useAskedTool(turn.request, context) ?? chooseStep(context) ?? tryUnknownTool(turn.request, context)
  return step === undefined ? say(finalWords(context)) : speak({ step, context, turn })
}

function chooseStep(context: StepContext): WorkerStep | undefined {
  const { state } = context
  const reaction = permit(react(context), context)
  if (reaction !== undefined) return reaction
  const first = state.calls.length === 0 ? [lookAround, writeWhereAsked] : [writeWhereAsked]
  const actions = [...first, ...orderActions(context)]
  const steps = actions
    .values()
    .map((action) => permit(action(context), context))
    .filter((step) => step !== undefined)
  let repeated: WorkerStep | undefined
  for (const step of steps) {
    const fresh = keepCalls(step, (call) => !wasMadeLately(call, context))
    if (fresh !== undefined) return fresh
    repeated ??= step
  }
  return repeated
}

/** The step without calls that rules or repeated refusals forbid, or `undefined` if none is left. */
function permit(step: WorkerStep | undefined, { state }: StepContext): WorkerStep | undefined {
  const refused = state.calls.filter((call) => call.result?.failed && REFUSED.test(call.result.text))
  const isPermitted = (call: PlannedCall) => {
    const timesRefused = refused.filter(({ name }) => toolRole(name) === call.role).length
    return timesRefused < MAX_REFUSALS && state.rules.every((rule) => obeys(rule, { call, root: state.root }))
  }
  return step && keepCalls(step, isPermitted)
}

function wasMadeLately(call: PlannedCall, { state }: StepContext): boolean {
  const input = JSON.stringify(call.input)
  return state.calls.slice(-RECENT_CALLS).some(({ name, input: made }) => {
    return name === call.name && JSON.stringify(made) === input
  })
}

/** If no offered tool has a known role, tries one of them with the smallest valid input. */
function tryUnknownTool({ tools = [] }: ResponderRequest, { state, random }: StepContext): WorkerStep | undefined {
  if (tools.some(({ name }) => toolRole(name) !== "other")) return undefined
  const tool = random.pick(tools)
  const schema = tool?.input_schema ?? { type: "object" }
  const input = sampleValue(schema, state.task.split("\n")[0] ?? "")
  if (tool === undefined || !isRecord(input) || findProblems(schema, input).length > 0) return undefined
  const calls = [{ role: "other" as const, name: tool.name, input }]
  return { thought: `${tool.name} is what there is.`, words: `Using ${tool.name}.`, calls }
}

function speak(given: { step: WorkerStep; context: StepContext; turn: ResponderTurn }): Answer {
  const { step, context, turn } = given
  const { random, state } = context
  const todos = permit({ ...step, calls: [planTodos(context)].filter((call) => call !== undefined) }, context)
  const content: AnswerBlock[] = []
  const talks = random.chance(SHARE_OF_WORDS) || state.lastCalls.some((call) => call.result?.failed)
  const thinks = random.chance(SHARE_OF_THOUGHTS)
  const thinking = thinks ? [step.thought, repeatResults(context)].filter(Boolean).join("\n") : ""
  if (thinking !== "") content.push({ type: "thinking", thinking })
  if (state.correction !== undefined) content.push({ type: "text", text: acknowledge(context) })
  else if ((talks || step.isAnnounced) && step.words !== "") content.push({ type: "text", text: step.words })
  for (const { name, input } of [...(todos?.calls ?? []), ...step.calls]) {
    content.push({ type: "tool_use", id: turn.nextToolUseId(), name, input })
  }
  return { content }
}

/** Repeats the beginning of the last results, as a model does that thinks them through. */
function repeatResults({ state, settings }: StepContext): string {
  const results = state.lastCalls.map(({ result }) => result?.text ?? "").join("\n")
  const part = results.slice(0, settings.thoughtSize).trim().toWellFormed()
  return part === "" ? "" : `What I have just seen:\n${part}`
}

function acknowledge({ state }: StepContext): string {
  const words = state.correction ?? ""
  const rules = state.rules.filter((rule) => words.includes(rule.words))
  const heard = rules.length > 0 ? rules.map((rule) => rule.words).join(" ") : words.split("\n")[0]
  return `Understood, you are right to correct me: "${heard}" I will keep to that.`
}

function finalWords({ state }: StepContext): string {
  const facts = extractFacts(state.sinceTask)
  const changed = facts.files.filter(({ doings }) => doings.some((doing) => doing !== "read")).map(({ path }) => path)
  const failed = facts.outcomes.filter((outcome) => outcome.failed && outcome.isCommand).at(-1)
  const { tasks = [], rules = [] } = Object.groupBy(sentencesOf(state.task.trim().split("\n")[0]!), (sentence) =>
    isRule(sentence) ? "rules" : "tasks",
  )
  const subject = tasks
    .join(" ")
    .slice(0, 120)
    .replace(/[.!?]+$/, "")
  const isRuleOnly = tasks.length === 0 && rules.length > 0
  return [
    isRuleOnly ? "" : `Done: ${subject || "there was nothing to do"}.`,
    ...rules.map(promiseOf),
    changed.length > 0 ? `Changed: ${changed.slice(-5).join(", ")}.` : "No file was changed.",
    failed === undefined ? "" : `One command failed and still does: \`${failed.what.split("\n")[0]}\`.`,
  ]
    .filter((line) => line !== "")
    .join(" ")
}

function say(text: string): Answer {
  return { content: [{ type: "text", text }] }
}
