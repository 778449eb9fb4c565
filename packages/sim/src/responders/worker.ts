/**
 * A deterministic agent that works with the tools it is offered. It explores a directory, reads, searches, edits, runs
 * commands, keeps todos, reacts to errors, obeys corrections, and ends its turn with an answer. It can go on for
 * millions of tokens.
 *
 * It remembers nothing between requests. What it knows comes from the request (see `worker/situation.ts`), what it
 * chooses from its seed and the simulator's random numbers.
 */

import { findProblems, isRecord, type PlannedCall, roleOf, sampleValue } from "@strata/core/offline"
import type { Answer, AnswerBlock, Responder, ResponderRequest, ResponderTurn } from "../responder.ts"
import { obeys } from "./corrections.ts"
import { throwDice } from "./dice.ts"
import { knownOf } from "./extractive/known.ts"
import { extractiveAnswer } from "./extractive.ts"
import { obedient } from "./obedient.ts"
import { useAskedTool } from "./worker/asked-tool.ts"
import { lookAround, orderMoves, writeWhereAsked } from "./worker/moves.ts"
import { isDone, planTodos } from "./worker/plan.ts"
import { REFUSED, react } from "./worker/reactions.ts"
import { observe } from "./worker/situation.ts"
import { DEFAULT_SETTINGS, type Hand, keepCalls, type Step, type WorkerSettings } from "./worker/step.ts"

export type { WorkerSettings } from "./worker/step.ts"

const SHARE_OF_WORDS = 0.6 // share of answers with tool calls that also contain text
const SHARE_OF_THOUGHTS = 0.5 // the simulator drops them if the request has thinking off
const RECENT_CALLS = 40 // a call among these is repeated only if there is nothing else to do
const MAX_REFUSALS = 2 // then the worker avoids the tool while the refusals are in view
const STOP = /^\s*(?:please )?stop\b[\s.!]*$/i

export function workerResponder(settings: Partial<WorkerSettings> = {}): Responder {
  const complete = { ...DEFAULT_SETTINGS, ...settings }
  return obedient({
    name: "worker",
    answer: (turn) => extractiveAnswer(turn) ?? work(turn, complete),
  })
}

function work(turn: ResponderTurn, settings: WorkerSettings): Answer {
  const hand: Hand = { situation: observe(turn.request), settings, dice: throwDice(settings.seed, turn) }
  if (STOP.test(hand.situation.correction ?? "")) return say("Stopped. Nothing further was changed.")
  if (isDone(hand)) return say(finalWords(hand))
  const step = useAskedTool(turn.request, hand) ?? chooseStep(hand) ?? tryUnknownTool(turn.request, hand)
  return step === undefined ? say(finalWords(hand)) : speak({ step, hand, turn })
}

function chooseStep(hand: Hand): Step | undefined {
  const { situation } = hand
  const reaction = permit(react(hand), hand)
  if (reaction !== undefined) return reaction
  const first = situation.calls.length === 0 ? [lookAround, writeWhereAsked] : [writeWhereAsked]
  const moves = [...first, ...orderMoves(hand)]
  const steps = moves
    .values()
    .map((move) => permit(move(hand), hand))
    .filter((step) => step !== undefined)
  let repeated: Step | undefined
  for (const step of steps) {
    const fresh = keepCalls(step, (call) => !wasMadeLately(call, hand))
    if (fresh !== undefined) return fresh
    repeated ??= step
  }
  return repeated
}

/** The step without calls that rules or repeated refusals forbid, or `undefined` if none is left. */
function permit(step: Step | undefined, { situation }: Hand): Step | undefined {
  const refused = situation.calls.filter((call) => call.result?.failed && REFUSED.test(call.result.text))
  const isPermitted = (call: PlannedCall) => {
    const timesRefused = refused.filter(({ name }) => roleOf(name) === call.role).length
    return timesRefused < MAX_REFUSALS && situation.rules.every((rule) => obeys(rule, { call, root: situation.root }))
  }
  return step && keepCalls(step, isPermitted)
}

function wasMadeLately(call: PlannedCall, { situation }: Hand): boolean {
  const input = JSON.stringify(call.input)
  return situation.calls.slice(-RECENT_CALLS).some(({ name, input: made }) => {
    return name === call.name && JSON.stringify(made) === input
  })
}

/** If no offered tool has a known role, tries one of them with the smallest valid input. */
function tryUnknownTool({ tools = [] }: ResponderRequest, { situation, dice }: Hand): Step | undefined {
  if (tools.some(({ name }) => roleOf(name) !== "other")) return undefined
  const tool = dice.pick(tools)
  const schema = tool?.input_schema ?? { type: "object" }
  const input = sampleValue(schema, situation.task.split("\n")[0] ?? "")
  if (tool === undefined || !isRecord(input) || findProblems(schema, input).length > 0) return undefined
  const calls = [{ role: "other" as const, name: tool.name, input }]
  return { thought: `${tool.name} is what there is.`, words: `Using ${tool.name}.`, calls }
}

function speak(given: { step: Step; hand: Hand; turn: ResponderTurn }): Answer {
  const { step, hand, turn } = given
  const { dice, situation } = hand
  const todos = permit({ ...step, calls: [planTodos(hand)].filter((call) => call !== undefined) }, hand)
  const content: AnswerBlock[] = []
  const talks = dice.chance(SHARE_OF_WORDS) || situation.lastCalls.some((call) => call.result?.failed)
  const thinks = dice.chance(SHARE_OF_THOUGHTS)
  if (thinks && step.thought !== "") content.push({ type: "thinking", thinking: step.thought })
  if (situation.correction !== undefined) content.push({ type: "text", text: acknowledge(hand) })
  else if ((talks || step.isAnnounced) && step.words !== "") content.push({ type: "text", text: step.words })
  for (const { name, input } of [...(todos?.calls ?? []), ...step.calls]) {
    content.push({ type: "tool_use", id: turn.nextToolUseId(), name, input })
  }
  return { content }
}

function acknowledge({ situation }: Hand): string {
  const words = situation.correction ?? ""
  const rules = situation.rules.filter((rule) => words.includes(rule.words))
  const heard = rules.length > 0 ? rules.map((rule) => rule.words).join(" ") : words.split("\n")[0]
  return `Understood, you are right to correct me: "${heard}" I will keep to that.`
}

function finalWords({ situation }: Hand): string {
  const facts = knownOf(situation.sinceTask)
  const changed = facts.files.filter(({ doings }) => doings.some((doing) => doing !== "read")).map(({ path }) => path)
  const failed = facts.outcomes.filter((outcome) => outcome.failed && outcome.isCommand).at(-1)
  const subject = situation.task
    .trim()
    .split("\n")[0]!
    .slice(0, 120)
    .replace(/[.!?]+$/, "")
  return [
    `Done: ${subject || "there was nothing to do"}.`,
    changed.length > 0 ? `Changed: ${changed.slice(-5).join(", ")}.` : "No file was changed.",
    failed === undefined ? "" : `One command failed and still does: \`${failed.what.split("\n")[0]}\`.`,
  ]
    .filter((line) => line !== "")
    .join(" ")
}

function say(text: string): Answer {
  return { content: [{ type: "text", text }] }
}
