/** What was paid up to each turn, a line for each course, and a legend in the order of their ends. */
import type { CostUnit } from "@strata/transcripts/replay"
import type { Course, PageConversation } from "./content.ts"
import { costIn } from "./cost-words.ts"
import { framed, plotTop } from "./frame.ts"
import { html, type Markup, places } from "./markup.ts"
import { alongTurns, PLOT_WIDTH, percentAt, type Range, round, sampled, tickLabel } from "./scale.ts"

export interface CostChart {
  readonly conversation: PageConversation
  readonly turns: Range
  readonly points: number
}

const HEIGHT = 220
/** Policies that keep their look on every page. */
const KNOWN_LOOKS: Readonly<Record<string, string>> = {
  strata: "l-strata",
  "claude-style": "l-claude",
  none: "l-none",
  optimum: "l-optimum",
  "as recorded": "l-strata",
}
const OTHER_LOOKS = ["l-a", "l-b", "l-c"] // with more, the others are all grey

function looksOf(courses: readonly Course[]): ReadonlyMap<Course, string> {
  const others = courses.filter(({ name }) => KNOWN_LOOKS[name] === undefined)
  return new Map(
    courses.map((course) => {
      const other = others.length <= OTHER_LOOKS.length ? OTHER_LOOKS[others.indexOf(course)] : undefined
      return [course, KNOWN_LOOKS[course.name] ?? other ?? "l-other"]
    }),
  )
}

export const costAtEnd = ({ points }: Course): number | undefined => points.at(-1)?.cost

export function costChart({ conversation, turns, points }: CostChart): Markup | undefined {
  const { unit } = conversation
  const courses = conversation.courses.filter((course) => costAtEnd(course) !== undefined)
  const max = Math.max(0, ...courses.map((course) => costAtEnd(course)!))
  if (max === 0) return undefined
  const looks = looksOf(courses)
  const drawn = courses.toSorted((a, b) => emphasis(looks.get(a)!) - emphasis(looks.get(b)!))
  const single = courses.length === 1 ? courses[0] : undefined
  return html`<figure><figcaption>Cost over turns, added up${unit === "dollars" ? " (dollars)" : " (tokens of plain input; a price is unknown)"}</figcaption>
<div class="with-legend"><div class="canvas">${framed({
    height: HEIGHT,
    turns,
    max,
    label: (value) => tickLabel(value, unit),
    about: `Cost over turns: ${courses.map((course) => `${course.name} ${costIn(costAtEnd(course)!, unit)}`).join(", ")}.`,
    plot: drawn.map((course) => line(course, { look: looks.get(course)!, turns, max, points, unit })),
    over: (single?.boundaries ?? []).map((turn) => {
      const x = percentAt(turn, turns)
      return html`<line class="boundary" x1="${x}" x2="${x}" y1="${plotTop}" y2="${plotTop + HEIGHT}"/>`
    }),
  })}</div>${courses.length > 1 ? legend(courses, { looks, unit }) : undefined}</div></figure>`
}

/** The last drawn is on top. */
const emphasis = (look: string) =>
  ["l-other", "l-a", "l-b", "l-c", "l-none", "l-claude", "l-optimum", "l-strata"].indexOf(look)

interface LineOptions {
  readonly look: string
  readonly turns: Range
  readonly max: number
  readonly points: number
  readonly unit: CostUnit
}

function line(course: Course, { look, turns, max, points, unit }: LineOptions): Markup {
  const at = sampled(course.points, points).map(
    ({ turn, cost = 0 }) => [round(PLOT_WIDTH * alongTurns(turn, turns)), round(HEIGHT * (1 - cost / max))] as const,
  )
  return html`<path class="line ${look}" d="M${places(at)}${at.length === 1 ? "h0" : ""}"><title>${course.name}: ${costIn(costAtEnd(course)!, unit)}</title></path>`
}

function legend(
  courses: readonly Course[],
  { looks, unit }: { readonly looks: ReadonlyMap<Course, string>; readonly unit: CostUnit },
): Markup {
  const ordered = courses.toSorted((a, b) => costAtEnd(b)! - costAtEnd(a)!)
  return html`<ol class="ends">${ordered.map(
    (course) =>
      html`<li><svg width="26" height="10" aria-hidden="true"><path class="line ${looks.get(course)!}" d="M1 5H25"/></svg><span class="name">${course.name}</span><span class="value">${costIn(costAtEnd(course)!, unit)}</span></li>`,
  )}</ol>`
}
