/** A chart of the cumulative cost, one line per timeline, with a legend in the order of the final values. */
import type { CostUnit } from "@strata/transcripts/replay"
import { chartFrame, plotTop } from "./chart-frame.ts"
import type { ChartTimeline, PageConversation } from "./content.ts"
import { formatAmount } from "./format.ts"
import { html, type Markup, pathPoints } from "./markup.ts"
import {
  PLOT_WIDTH,
  roundToTenth,
  samplePoints,
  type TurnRange,
  tickLabel,
  turnFraction,
  turnPercent,
} from "./scale.ts"

export interface CostChartOptions {
  readonly conversation: PageConversation
  readonly turns: TurnRange
  readonly points: number
}

const HEIGHT = 220
/** Policies with the same line style on every page. */
const POLICY_STYLES: Readonly<Record<string, string>> = {
  strata: "l-strata",
  "claude-style": "l-claude",
  none: "l-none",
  optimum: "l-optimum",
  "as recorded": "l-strata",
}
const OTHER_STYLES = ["l-a", "l-b", "l-c"] // if there are more, all of them are grey

function assignStyles(courses: readonly ChartTimeline[]): ReadonlyMap<ChartTimeline, string> {
  const others = courses.filter(({ name }) => POLICY_STYLES[name] === undefined)
  return new Map(
    courses.map((course) => {
      const other = others.length <= OTHER_STYLES.length ? OTHER_STYLES[others.indexOf(course)] : undefined
      return [course, POLICY_STYLES[course.name] ?? other ?? "l-other"]
    }),
  )
}

export const finalCost = ({ points }: ChartTimeline): number | undefined => points.at(-1)?.cost

export function costChart({ conversation, turns, points }: CostChartOptions): Markup | undefined {
  const { unit } = conversation
  const courses = conversation.timelines.filter((course) => finalCost(course) !== undefined)
  const max = Math.max(0, ...courses.map((course) => finalCost(course)!))
  if (max === 0) return undefined
  const styles = assignStyles(courses)
  const drawn = courses.toSorted((a, b) => drawOrder(styles.get(a)!) - drawOrder(styles.get(b)!))
  const single = courses.length === 1 ? courses[0] : undefined
  return html`<figure><figcaption>Cost over turns, added up${unit === "dollars" ? " (dollars)" : " (tokens of plain input; a price is unknown)"}</figcaption>
<div class="with-legend"><div class="canvas">${chartFrame({
    height: HEIGHT,
    turns,
    max,
    label: (value) => tickLabel(value, unit),
    description: `Cost over turns: ${courses.map((course) => `${course.name} ${formatAmount(finalCost(course)!, unit)}`).join(", ")}.`,
    plot: drawn.map((course) => line(course, { style: styles.get(course)!, turns, max, points, unit })),
    overlay: (single?.boundaries ?? []).map((turn) => {
      const x = turnPercent(turn, turns)
      return html`<line class="boundary" x1="${x}" x2="${x}" y1="${plotTop}" y2="${plotTop + HEIGHT}"/>`
    }),
  })}</div>${courses.length > 1 ? legend(courses, { styles, unit }) : undefined}</div></figure>`
}

/** Drawing order: later lines are on top. */
const drawOrder = (look: string) =>
  ["l-other", "l-a", "l-b", "l-c", "l-none", "l-claude", "l-optimum", "l-strata"].indexOf(look)

interface LineOptions {
  readonly style: string
  readonly turns: TurnRange
  readonly max: number
  readonly points: number
  readonly unit: CostUnit
}

function line(course: ChartTimeline, { style, turns, max, points, unit }: LineOptions): Markup {
  const at = samplePoints(course.points, points).map(
    ({ turn, cost = 0 }) =>
      [roundToTenth(PLOT_WIDTH * turnFraction(turn, turns)), roundToTenth(HEIGHT * (1 - cost / max))] as const,
  )
  return html`<path class="line ${style}" d="M${pathPoints(at)}${at.length === 1 ? "h0" : ""}"><title>${course.name}: ${formatAmount(finalCost(course)!, unit)}</title></path>`
}

function legend(
  courses: readonly ChartTimeline[],
  { styles, unit }: { readonly styles: ReadonlyMap<ChartTimeline, string>; readonly unit: CostUnit },
): Markup {
  const ordered = courses.toSorted((a, b) => finalCost(b)! - finalCost(a)!)
  return html`<ol class="ends">${ordered.map(
    (course) =>
      html`<li><svg width="26" height="10" aria-hidden="true"><path class="line ${styles.get(course)!}" d="M1 5H25"/></svg><span class="name">${course.name}</span><span class="value">${formatAmount(finalCost(course)!, unit)}</span></li>`,
  )}</ol>`
}
