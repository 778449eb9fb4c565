/**
 * Step 3, summarise. A route's summary within its budget, before anything else looks at it. Notes have limits of their own, section by
 * section.
 */
import { grouped } from "../../../base/grouped.ts"
import { fenceAfter, withFencesClosed } from "../../../messages/fences.ts"
import { handleOf } from "../../../messages/handles.ts"
import { cutText, type Estimate } from "../cut-text.ts"
import type { Situation } from "../situation.ts"
import type { Route, RouteOutcome } from "./route.ts"

const RETELLING = 0.5 // of the context: such a text retells the conversation, even if most of it could be cut
const LONG = 6_000 // tokens: twice a usual summary; a shorter one may be half of a short conversation

type Summary = Extract<RouteOutcome, { kind: "summary" }>

export function limited({ context, figures }: Situation, { name }: Route, summary: Summary): RouteOutcome {
  const { text, cut, responses } = summary
  const estimate = (words: string) => context.views.estimator.text(words)
  const tokens = Math.ceil(estimate(text))
  const [first, last] = [cut.summarised[0], cut.summarised.at(-1)]
  if (name === "notes" || tokens <= figures.summary || !first || !last) return summary
  if (tokens > Math.max(LONG, context.size.tokens * RETELLING)) {
    const message = `its summary has ${grouped(tokens)} tokens, and the whole context ${grouped(context.size.tokens)}, which saves too little`
    return { kind: "failed", why: "threshold_exceeded", message, responses }
  }
  const range = [handleOf(first.uuid), handleOf(last.uuid)] as const
  return { ...summary, text: withinBudget({ text, budget: figures.summary, estimate, range }) }
}

interface SummaryToFit {
  readonly text: string
  /** Tokens. */
  readonly budget: number
  readonly estimate: Estimate
  /** Handles of the first and the last message that the summary replaces. */
  readonly range: readonly [first: string, last: string]
}

/** What is wanted and what comes next stays longest; the record holds files, errors and messages as data. */
const BY_WORTH = [1, 9, 7, 8, 5, 4, 3, 6, 2]
const SECTION = /^[ \t]{0,3}(?:#{1,6} )?(?:\*\*)?([1-9])\. \S/
const STEP = 4 // tokens
const LEFT_OUT = "[Left out: the summary was too long.]"

/**
 * Keeps a summary within its budget. A longer one loses whole sections, those first that the record after it or a recall can make up for.
 * What is left out is named, and how to get it. The text itself where it fits.
 */
export function withinBudget({ text, budget, estimate, range: [first, last] }: SummaryToFit): string {
  if (estimate(text) <= budget) return text
  const note = `[The summary was too long and was cut. Messages ${first} to ${last} have what is missing.]`
  const [opening = "", ...sections] = sectionsOf(text)
  const within = (room: number) => {
    const shown = sections.length > 1 ? mostWorth(sections, { room: room - estimate(opening), estimate }) : undefined
    const kept = shown
      ? `${opening}${shown.join("")}`
      : withFencesClosed(cutText({ text, limit: Math.max(0, room), estimate }))
    return `${kept.trimEnd()}\n\n${note}`
  }
  // joined pieces may take a little more than each alone
  let room = budget - estimate(`\n\n${note}`)
  let cut = within(room)
  while (estimate(cut) > budget && room > 0) {
    room -= STEP
    cut = within(room)
  }
  return cut
}

/** What is before the first section, and the sections. Lists in a section and quoted text have numbers too: a section follows the one before. */
function sectionsOf(text: string): readonly string[] {
  const pieces: string[][] = [[]]
  let fence: string | undefined
  let next: number | undefined
  for (const line of text.split(/(?<=\n)/)) {
    const before = fence
    fence = fenceAfter(line, fence)
    const number = before === undefined && fence === undefined ? Number(SECTION.exec(line)?.[1]) : Number.NaN
    if (number === (next ?? number)) {
      pieces.push([])
      next = number + 1
    }
    pieces.at(-1)!.push(line)
  }
  return pieces.map((lines) => lines.join(""))
}

/** Every section keeps its title. The first that does not fit whole is cut at a line end, where it is the most worth of all. */
function mostWorth(
  sections: readonly string[],
  { room, estimate }: { readonly room: number; readonly estimate: Estimate },
): readonly string[] {
  const shown = sections.map((section) => `${titleOf(section)} ${LEFT_OUT}\n`)
  let left = room - shown.reduce((sum, title) => sum + estimate(title), 0)
  const order = sections.map((section, at) => ({ at, worth: worthOf(section) })).toSorted((a, b) => a.worth - b.worth)
  for (const [nth, { at }] of order.entries()) {
    const more = estimate(sections[at]!) - estimate(shown[at]!)
    if (more <= left) shown[at] = sections[at]!
    else if (nth === 0)
      shown[at] =
        `${withFencesClosed(cutText({ text: sections[at]!, limit: Math.max(0, left), estimate }))}\n${LEFT_OUT}\n`
    else continue
    left -= more
    if (nth === 0 && left < 0) break
  }
  return shown
}

function worthOf(section: string): number {
  const place = BY_WORTH.indexOf(Number(/[1-9]/.exec(section)?.[0]))
  return place < 0 ? BY_WORTH.length : place
}

const titleOf = (section: string) => /^[^:\n]*:?/.exec(section)![0]
