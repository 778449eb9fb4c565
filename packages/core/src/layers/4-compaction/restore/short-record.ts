/**
 * Step 5, restore. The record for a very small budget: one list without headings and handles. The most valuable content for its length
 * comes first: always rules and the beginning of the open task, then sentences that are exact or express wishes. No sentence is repeated.
 */
import { inline, quoted } from "../../../messages/blocks.ts"
import type { Uuid } from "../../../messages/messages.ts"
import { sentenceParts } from "../../../views/record/user-messages.ts"
import type { Views } from "../../../views/views.ts"
import type { Estimate } from "../cut.ts"
import { worthOf } from "./statements.ts"
import { openTask, outdatedSentences } from "./user-messages.ts"

type ShortRecordViews = Pick<Views, "words" | "statements">

interface ShortRecord {
  readonly estimate: Estimate
  readonly budget: number
  readonly preserved: ReadonlySet<Uuid>
  readonly summary: string
}

interface Line {
  readonly text: string
  readonly by: "user" | "assistant"
  readonly at: number
  readonly score: number
}

const SHORT_MESSAGE = 160 // characters: it stays in one piece
const ALWAYS = 100 // more than anything else: rules and the newest message
const TASK_LENGTH = 400 // characters of the open task that always stay
const RECENCY = 0.5
const BY_ASSISTANT = 0.5 // of the weight of a statement
const SHORTEST = 8 // tokens: a shorter line is not worth more

export function shortRecord(views: ShortRecordViews, { estimate, budget, preserved, summary }: ShortRecord): string {
  const lines = new Map<string, Line>()
  for (const line of [...linesOfUser(views, preserved), ...linesOfAssistant(views, preserved)])
    if (!summary.includes(line.text) && (line.by === "user" || !lines.has(line.text))) lines.set(line.text, line)
  // a short line leaves room for another one; of those that are needed, the longest first, so that none is there twice
  const worthwhile = ({ score, text }: Line) =>
    score < ALWAYS ? score / Math.max(SHORTEST, estimate(text)) ** 0.5 : ALWAYS + text.length
  const ranked = [...lines.values()].sort((a, b) => worthwhile(b) - worthwhile(a) || b.at - a.at)
  const taken: Line[] = []
  let room = budget - estimate("The user said:\nThe assistant said:\n")
  for (const line of ranked) {
    const tokens = estimate(`${escapeLine(line.text)}\n`)
    if ((tokens > room && line.score < ALWAYS) || taken.some(({ text }) => text.includes(line.text))) continue
    room -= tokens
    taken.push(line)
  }
  const linesBy = (who: Line["by"], title: string) => {
    const own = taken.filter(({ by }) => by === who).sort((a, b) => a.at - b.at)
    return own.length === 0 ? [] : [title, ...own.map(({ text }) => escapeLine(text))]
  }
  return [...linesBy("user", "The user said:"), ...linesBy("assistant", "The assistant said:")].join("\n")
}

/** Quotes text that begins like a line of the record. */
const escapeLine = (text: string): string => (RECORD_LINE.test(text) ? quoted(text) : inline(text))
const RECORD_LINE = /^(?:The (?:user|assistant) said|#|`{3})/i

function linesOfUser({ words, statements }: ShortRecordViews, kept: ReadonlySet<Uuid>): readonly Line[] {
  const task = openTask(words)
  const count = words.messages.length
  const outdated = outdatedSentences(words, statements)
  const isOutdated = (segment: string) => outdated.some((old) => segment.includes(old))
  return words.messages.flatMap(({ uuid, text, rules }, at): readonly Line[] => {
    if (kept.has(uuid)) return []
    const max = task.has(uuid) ? TASK_LENGTH : SHORT_MESSAGE
    const shown = task.has(uuid) ? text.slice(0, TASK_LENGTH).toWellFormed() : text
    const parts = shown.length <= max && !isOutdated(shown) ? [shown] : sentenceParts(shown)
    const segments = parts.map((part) => part.trim()).filter((segment) => segment !== "" && !isOutdated(segment))
    const standing = rules.filter((rule) => !isOutdated(rule) && !segments.some((segment) => segment.includes(rule)))
    return [...segments.filter((segment) => !standing.some((rule) => rule.includes(segment))), ...standing].map(
      (segment) => {
        const isNeeded = uuid === words.messages.at(-1)!.uuid || rules.some((rule) => segment.includes(rule))
        const score = worthOf(segment) + (RECENCY * at) / count + (isNeeded ? ALWAYS : 0)
        return { text: segment, by: "user", at, score }
      },
    )
  })
}

function linesOfAssistant({ statements, words }: ShortRecordViews, kept: ReadonlySet<Uuid>): readonly Line[] {
  const all = [...statements.current].filter(([, { by, uuid }]) => by === "assistant" && !kept.has(uuid))
  return all.map(([text, { weight, was }], at) => ({
    ...{
      text: was === undefined || text.includes(was) ? text : `${text} (was ${was})`,
      by: "assistant",
      at: words.messages.length + at,
    },
    score: weight * BY_ASSISTANT + (RECENCY * at) / all.length,
  }))
}
