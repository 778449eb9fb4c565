/**
 * Answers a request about the conversation: a summary, session notes, memories, a consolidation or a progress line. The sections named in
 * the prompt are filled only with text from the conversation. The same request always gets the same answer.
 */
import { type CooperativeTask, runSync } from "../../base/work.ts"
import { firstLineOf, headOf } from "./document.ts"
import { dreamAnswer } from "./dreams.ts"
import { type Facts, factsTask } from "./facts.ts"
import { keepMemories } from "./memories.ts"
import { type NotesStep, takeNotes } from "./notes.ts"
import type { AnswerBlock, OfflineQuestion } from "./read-message.ts"
import { NOTHING, writeSections } from "./summary.ts"
import { type OfflineRequest, ORIGIN, requestTask, type TimelineEntry } from "./timeline.ts"
import { type ToolRole, toolCommand, toolPath, toolRole } from "./toolbox.ts"

const MAX_LINE = 120 // characters of a progress line

const DOING: Readonly<Record<ToolRole, string>> = {
  read: "Reading",
  write: "Writing",
  edit: "Editing",
  shell: "Running",
  search: "Searching",
  find: "Looking for files",
  todo: "Updating the todo list",
}

/** Returns `undefined` if the request continues the conversation instead of asking about it. */
export const answerOffline = (asking: OfflineQuestion): OfflineAnswer => runSync(answerTask(asking))

type OfflineAnswer = readonly AnswerBlock[] | undefined

/** The same as a cooperative task, for callers that must not block the event loop. */
export function* answerTask(asking: OfflineQuestion): CooperativeTask<OfflineAnswer> {
  const dreamed = dreamAnswer(asking)
  if (dreamed) return dreamed
  const demand = yield* requestTask(asking)
  if (demand === undefined) return undefined
  const { request } = asking
  const facts = yield* factsTask(demand.timeline)
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

function* summaryFor(
  { prompt, sections, timeline }: OfflineRequest,
  facts: Facts,
  { budget }: OfflineQuestion,
): CooperativeTask<string> {
  const summary = yield* writeSections({ sections, facts, budget })
  if (!/<summary>/i.test(prompt)) return summary
  // the analysis is discarded afterwards, so it gets no part of a budget
  const wantsAnalysis = budget === undefined && /<analysis>/i.test(prompt)
  const analysis = wantsAnalysis ? `<analysis>\n${walkThrough(timeline)}\n</analysis>\n\n` : ""
  return `${analysis}<summary>\n${summary}\n</summary>`
}

/** The conversation in order, one line per user message. */
function walkThrough(moments: readonly TimelineEntry[]): string {
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
  const role = toolRole(call.name)
  const target = toolPath(call)?.split("/").at(-1) ?? toolCommand(call) ?? ""
  return lineFrom(`${role === "other" ? `Using ${call.name}` : DOING[role]} ${target}`.trim())
}

function carryOut(step: NotesStep, { nextToolUseId }: OfflineQuestion): readonly AnswerBlock[] {
  if (step.kind === "text") return say(step.text)
  return step.calls.map(({ name, input }) => ({ type: "tool_use", id: nextToolUseId(), name, input }))
}

const say = (text: string): readonly AnswerBlock[] => [{ type: "text", text }]
