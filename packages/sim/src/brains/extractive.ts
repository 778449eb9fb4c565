/**
 * The truthful answer to a request about the conversation: a summary, session notes, memories, a consolidation or a progress line. It
 * fills the sections the prompt names with text from the conversation only, so an audit must find nothing wrong.
 */

import type { Answer, AnswerBlock, Brain, BrainMessage, BrainTurn } from "../brain.ts"
import { dreamAnswer } from "./dreams.ts"
import { type Demand, recogniseDemand } from "./extractive/demand.ts"
import { type Section, splitDocument } from "./extractive/document.ts"
import { type Facts, gatherFacts } from "./extractive/facts.ts"
import { fillSection, USUAL_TITLES } from "./extractive/fill.ts"
import { keepMemories } from "./extractive/memories.ts"
import { type NotesStep, takeNotes } from "./extractive/notes.ts"
import { type Moment, readTimeline, wordsOf } from "./timeline.ts"
import { commandOf, pathOf, type Role, roleOf } from "./toolbox.ts"

const NOTHING = "Nothing in the conversation."
const ORIGIN = "Extracted from the conversation, word for word; nothing is added."
const LONGEST_LINE = 120 // characters of a progress line

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
export function extractiveAnswer(turn: BrainTurn): Answer | undefined {
  const dreamed = dreamAnswer(turn)
  if (dreamed) return dreamed
  const demand = recogniseDemand(turn)
  if (demand === undefined) return undefined
  const facts = gatherFacts(demand.moments)
  switch (demand.kind) {
    case "summary":
      return say(writeSummary(demand, facts))
    case "notes":
      return carryOut(takeNotes({ turn, demand, facts }), turn)
    case "memory":
      return carryOut(keepMemories({ turn, demand, facts }), turn)
    case "progress":
      return say(progressLine(facts))
  }
}

/** Only the summary, for callers without a brain. The instructions may name sections. */
export function summarise(messages: readonly BrainMessage[], instructions = ""): string {
  return renderSections(splitDocument(instructions), gatherFacts(readTimeline(messages)))
}

/** A brain that can do only this. It answers any other request by repeating the last thing the user said. */
export function extractiveBrain(): Brain {
  return {
    name: "extractive",
    answer(turn) {
      const words = wordsOf(readTimeline(turn.request.messages), "human").at(-1)
      return extractiveAnswer(turn) ?? say(words === undefined ? NOTHING : `You said: ${words}`)
    },
  }
}

function writeSummary(demand: Demand, facts: Facts): string {
  const summary = renderSections(demand.sections, facts)
  if (!/<summary>/i.test(demand.prompt)) return summary
  const analysis = /<analysis>/i.test(demand.prompt)
    ? `<analysis>\n${walkThrough(demand.moments)}\n</analysis>\n\n`
    : ""
  return `${analysis}<summary>\n${summary}\n</summary>`
}

function renderSections(sections: readonly Section[], facts: Facts): string {
  const titles = sections.length > 0 ? sections.map(({ title }) => title) : USUAL_TITLES
  return titles
    .map((title, index) => {
      const entries = fillSection(title, facts)
      const lines = entries.length > 0 ? entries.map((entry) => `   - ${entry}`) : [`   ${NOTHING}`]
      return [`${index + 1}. ${title}:`, ...lines].join("\n")
    })
    .join("\n\n")
}

/** The conversation in order, one line per message of the user. */
function walkThrough(moments: readonly Moment[]): string {
  const lines = [ORIGIN]
  for (const moment of moments) {
    if (moment.kind === "human") lines.push(`The user: "${firstLine(moment.text)}"`)
    if (moment.kind === "summary") lines.push("An earlier summary covers what came before.")
  }
  return lines.join("\n")
}

function firstLine(text: string): string {
  return text.trimStart().split("\n")[0]!.slice(0, LONGEST_LINE)
}

function progressLine(facts: Facts): string {
  const call = facts.calls.at(-1)
  if (call === undefined) return firstLine(facts.lastText ?? facts.userMessages.at(-1) ?? NOTHING)
  const role = roleOf(call.name)
  const target = pathOf(call)?.split("/").at(-1) ?? commandOf(call) ?? ""
  return firstLine(`${role === "other" ? `Using ${call.name}` : DOING[role]} ${target}`.trim())
}

function carryOut(step: NotesStep, turn: BrainTurn): Answer {
  if (step.kind === "text") return say(step.text)
  const content = step.calls.map(({ name, input }): AnswerBlock => {
    return { type: "tool_use", id: turn.nextToolUseId(), name, input }
  })
  return { content }
}

function say(text: string): Answer {
  return { content: [{ type: "text", text }] }
}
