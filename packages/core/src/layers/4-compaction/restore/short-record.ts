/**
 * Step 5, restore. The record where there is hardly any room: one list, without headings and handles. What is worth most for its length
 * comes first: rules, the open task, and sentences that are exact or say what is wanted. No sentence is there twice.
 */
import { inline } from "../../../messages/inline.ts"
import type { Uuid } from "../../../messages/messages.ts"
import { sentenceParts } from "../../../views/record/sentences.ts"
import { standingRules } from "../../../views/record/standing-rules.ts"
import type { Views } from "../../../views/views.ts"
import type { Estimate } from "../cut-text.ts"
import { openTask } from "./users-words.ts"
import { worthOf } from "./worth.ts"

type Recorded = Pick<Views, "words" | "statements">

interface ShortRecord {
  readonly estimate: Estimate
  readonly budget: number
  readonly kept: ReadonlySet<Uuid>
  readonly summary: string
}

interface Line {
  readonly text: string
  readonly by: "user" | "assistant"
  readonly at: number
  readonly score: number
}

const SHORT_MESSAGE = 160 // characters: it stays in one piece
const NEEDED = 100 // rules and the newest request: more than anything else
const TASK_LENGTH = 400 // characters of the open task that always stay
const RECENCY = 0.5
const BY_ASSISTANT = 0.5 // of the weight of a statement
const SHORTEST = 8 // tokens: a shorter line is not worth more

export function shortRecord(views: Recorded, { estimate, budget, kept, summary }: ShortRecord): string {
  const lines = new Map<string, Line>()
  for (const line of [...linesOfUser(views, kept), ...linesOfAssistant(views, kept)])
    if (!summary.includes(line.text)) lines.set(line.text, line) // said again: the newest place counts
  // a short line leaves room for another one
  const worthwhile = ({ score, text }: Line) => score / Math.max(SHORTEST, estimate(text)) ** 0.5
  const ranked = [...lines.values()].sort((a, b) => worthwhile(b) - worthwhile(a) || b.at - a.at)
  const taken: Line[] = []
  let room = budget - estimate("The user said:\nThe assistant said:\n")
  for (const line of ranked) {
    const tokens = estimate(`${inline(line.text)}\n`)
    if (tokens > room && line.score < NEEDED) continue
    room -= tokens
    taken.push(line)
  }
  const saidBy = (who: Line["by"], title: string) => {
    const own = taken.filter(({ by }) => by === who).sort((a, b) => a.at - b.at)
    return own.length === 0 ? [] : [title, ...own.map(({ text }) => inline(text))]
  }
  return [...saidBy("user", "The user said:"), ...saidBy("assistant", "The assistant said:")].join("\n")
}

function linesOfUser({ words, statements }: Recorded, kept: ReadonlySet<Uuid>): readonly Line[] {
  const task = openTask(words)
  const count = words.messages.length
  const newest = words.messages.at(-1)?.uuid
  const isNeeded = (piece: string, uuid: Uuid) => uuid === newest || standingRules(piece).length > 0
  return words.messages.flatMap(({ uuid, text }, at): readonly Line[] => {
    if (kept.has(uuid)) return []
    const isTask = task.has(uuid)
    const pieces = text.length <= SHORT_MESSAGE ? [text.trim()] : sentenceParts(text).map((part) => part.trim())
    const shown = isTask && text.length > SHORT_MESSAGE ? [text.slice(0, TASK_LENGTH).toWellFormed().trim()] : pieces
    return shown
      .filter((piece) => piece !== "" && ![...statements.replaced.keys()].some((old) => piece.includes(old)))
      .map((piece) => ({
        ...{ text: piece, by: "user", at },
        score: worthOf(piece) + (RECENCY * at) / count + (isNeeded(piece, uuid) ? NEEDED : 0),
      }))
  })
}

function linesOfAssistant({ statements, words }: Recorded, kept: ReadonlySet<Uuid>): readonly Line[] {
  const all = [...statements.current].filter(([, { by, uuid }]) => by === "assistant" && !kept.has(uuid))
  return all.map(([text, { weight, was }], at) => ({
    ...{ text: was === undefined ? text : `${text} (was ${was})`, by: "assistant", at: words.messages.length + at },
    score: weight * BY_ASSISTANT + (RECENCY * at) / all.length,
  }))
}
