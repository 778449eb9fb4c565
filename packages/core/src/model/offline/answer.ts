/**
 * The answer to a request about the conversation: a summary, session notes, memories, a consolidation or a progress line. It fills the
 * sections the prompt names with text from the conversation only. The same request always gets the same answer.
 */
import { atOnce, type Steps } from "../../base/work.ts"
import { firstLineOf, headOf } from "./document.ts"
import { dreamAnswer } from "./dreams.ts"
import { type Facts, factSteps } from "./facts.ts"
import { keepMemories } from "./memories.ts"
import { type NotesStep, takeNotes } from "./notes.ts"
import type { AnswerBlock, Asking } from "./read-message.ts"
import { NOTHING, writeSections } from "./summary.ts"
import { type Demand, demandSteps, type Moment, ORIGIN } from "./timeline.ts"
import { commandOf, pathOf, type Role, roleOf } from "./toolbox.ts"

const MAX_LINE = 120 // characters of a progress line

const DOING: Readonly<Record<Role, string>> = {
  read: "Reading",
  write: "Writing",
  edit: "Editing",
  shell: "Running",
  search: "Searching",
  find: "Looking for files",
  todo: "Updating the todo list",
}

/** Returns `undefined` if the request continues the conversation instead of asking about it. */
export const answerAbout = (asking: Asking): Answer => atOnce(answerSteps(asking))

type Answer = readonly AnswerBlock[] | undefined

/** The same answer in steps, for callers that must not block the event loop. */
export function* answerSteps(asking: Asking): Steps<Answer> {
  const dreamed = dreamAnswer(asking)
  if (dreamed) return dreamed
  const demand = yield* demandSteps(asking)
  if (demand === undefined) return undefined
  const { request } = asking
  const facts = yield* factSteps(demand.moments)
  switch (demand.kind) {
    case "summary":
      return say(yield* summaryFor(demand, facts, asking))
    case "notes":
      return carryOut(yield* takeNotes({ request, demand, facts }), asking)
    case "memory":
      return carryOut(yield* keepMemories({ request, demand, facts }), asking)
    case "progress":
      return say(progressLine(facts))
  }
}

function* summaryFor({ prompt, sections, moments }: Demand, facts: Facts, { budget }: Asking): Steps<string> {
  const summary = yield* writeSections({ sections, facts, budget })
  if (!/<summary>/i.test(prompt)) return summary
  // what is thrown away afterwards gets no part of a budget
  const wantsAnalysis = budget === undefined && /<analysis>/i.test(prompt)
  const analysis = wantsAnalysis ? `<analysis>\n${walkThrough(moments)}\n</analysis>\n\n` : ""
  return `${analysis}<summary>\n${summary}\n</summary>`
}

/** The conversation in order, one line per message of the user. */
function walkThrough(moments: readonly Moment[]): string {
  const lines = [ORIGIN]
  for (const moment of moments) {
    if (moment.kind === "human") lines.push(`The user: "${lineFrom(moment.text)}"`)
    if (moment.kind === "summary") lines.push("An earlier summary covers what came before.")
  }
  return lines.join("\n")
}

const lineFrom = (text: string): string => headOf(firstLineOf(text.trimStart()), MAX_LINE)

function progressLine(facts: Facts): string {
  const call = facts.calls.at(-1)
  if (call === undefined) return lineFrom(facts.lastText ?? facts.userMessages.at(-1) ?? NOTHING)
  const role = roleOf(call.name)
  const target = pathOf(call)?.split("/").at(-1) ?? commandOf(call) ?? ""
  return lineFrom(`${role === "other" ? `Using ${call.name}` : DOING[role]} ${target}`.trim())
}

function carryOut(step: NotesStep, { nextToolUseId }: Asking): readonly AnswerBlock[] {
  if (step.kind === "text") return say(step.text)
  return step.calls.map(({ name, input }) => ({ type: "tool_use", id: nextToolUseId(), name, input }))
}

const say = (text: string): readonly AnswerBlock[] => [{ type: "text", text }]
