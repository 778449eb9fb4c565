/** A chart of the context over turns: areas by class, a line at each compaction, and a symbol below for each cache miss. */

import { apportion, formatCompact, formatNumber, pluralize } from "@strata/core/base"
import type { ContextClass } from "@strata/transcripts/replay"
import { CLASSES } from "@strata/transcripts/replay"
import { pricePhrase } from "../labels/cache-breaks.ts"
import { CONTEXT_LABELS } from "../labels/context.ts"
import { chartFrame, plotTop, stripMiddle } from "./chart-frame.ts"
import { type CacheMissKind, type ChartedMiss, type ChartTimeline, MISS_KINDS, type TimelinePoint } from "./content.ts"
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

export interface ContextChartOptions {
  readonly timeline: ChartTimeline
  readonly height: number
  readonly turns: TurnRange
  /** The top of the scale, in tokens. */
  readonly max: number
  /** Maximum number of points. */
  readonly points: number
  /** Number of hover areas that show values. */
  readonly slices: number
  /** Thresholds in tokens. */
  readonly levels?: readonly { readonly value: number; readonly words: string }[]
}

const MAX_MISSES = 80
const MAX_BOUNDARIES = 400
const MAX_FULL_LINES = 30 // with more, boundaries are short lines at the top, which do not hide the areas
const SHORT_LINE_PIXELS = 10 // pixels

const CLASS_LABELS: Readonly<Record<ContextClass, string>> = {
  prompt: CONTEXT_LABELS.prompt,
  person: CONTEXT_LABELS.human,
  answers: CONTEXT_LABELS.assistant,
  thinking: CONTEXT_LABELS.thinking,
  calls: CONTEXT_LABELS.calls,
  results: CONTEXT_LABELS.results,
  summary: CONTEXT_LABELS.summary,
}

const MISS_TITLES: Readonly<Record<CacheMissKind, string>> = {
  pause: "expired in a pause",
  compaction: "compacted",
  clearing: "results cleared",
  model: "another model",
  other: "other",
}

export function contextChart({
  timeline,
  height,
  turns,
  max,
  points,
  slices,
  levels = [],
}: ContextChartOptions): Markup {
  const shown = samplePoints(timeline.points, points)
  const peak = timeline.points.reduce((largest, { context }) => Math.max(largest, context), 0)
  const drawnMisses = timeline.misses.toSorted((a, b) => b.tokens - a.tokens).slice(0, MAX_MISSES)
  return chartFrame({
    height,
    turns,
    max,
    label: (value) => tickLabel(value, "tokens"),
    description: `Context over turns, ${timeline.name}: at most ${formatCompact(peak)} tokens, ${pluralize(timeline.boundaries.length, "compaction")}, ${pluralize(timeline.misses.length, "lost cache")}.`,
    plot: areas(shown, { height, turns, max }),
    overlay: [
      ...levels.map((each) => levelLine(each, { height, max })),
      ...timeline.boundaries.slice(0, MAX_BOUNDARIES).map((turn) =>
        boundaryLine(turn, {
          turns,
          height: timeline.boundaries.length > MAX_FULL_LINES ? SHORT_LINE_PIXELS : height,
        }),
      ),
      ...hoverSlices(shown, { height, turns, slices }),
    ],
    strip: drawnMisses.map((loss) => missSymbol(loss, { height, turns })),
  })
}

type ChartArea = Pick<ContextChartOptions, "height" | "turns">

/** Stacked areas from the bottom, in the order of the classes. */
function areas(
  points: readonly TimelinePoint[],
  { height, turns, max }: ChartArea & { readonly max: number },
): Markup[] {
  const xs = points.map(({ turn }) => roundToTenth(PLOT_WIDTH * turnFraction(turn, turns)))
  let floor = points.map(() => 0)
  return [...CLASSES, "whole" as const].flatMap((name) => {
    const top = points.map(
      (point, i) => floor[i]! + (name === "whole" ? unclassifiedTokens(point) : (point.classes?.[name] ?? 0)),
    )
    if (top.every((value, i) => value - floor[i]! < max / 2_000)) return []
    const y = (value: number) => roundToTenth(height * (1 - Math.min(1, value / max)))
    const upper = top.map((value, i) => [xs[i]!, y(value)] as const)
    const lower = floor.map((value, i) => [xs[i]!, y(value)] as const).reverse()
    floor = top
    return [html`<path class="c-${name}" d="M${pathPoints([...upper, ...lower])}Z"/>`]
  })
}

function levelLine(
  { value, words }: { value: number; words: string },
  { height, max }: { height: number; max: number },
) {
  const y = roundToTenth(plotTop + height * (1 - value / max))
  return html`<line class="level" x1="0" x2="100%" y1="${y}" y2="${y}"/><text class="tick" x="100%" y="${y + 12}" text-anchor="end">${words}, ${formatCompact(value)}</text>`
}

const boundaryLine = (turn: number, { height, turns }: ChartArea) => {
  const x = turnPercent(turn, turns)
  return html`<line class="boundary" x1="${x}" x2="${x}" y1="${plotTop - 6}" y2="${plotTop + height}"><title>compacted before turn ${formatNumber(turn)}</title></line>`
}

const missSymbol = ({ turn, tokens, cost, kind, reason }: ChartedMiss, { height, turns }: ChartArea) =>
  html`<use href="#loss-${kind}" class="loss" x="${turnPercent(turn, turns)}" y="${stripMiddle(height)}"><title>turn ${formatNumber(turn)}: ${formatCompact(tokens)} tokens written again${cost === undefined ? "" : ` ${pricePhrase(cost)}`}, ${reason}</title></use>`

/** Invisible areas that show values on hover. */
function hoverSlices(
  points: readonly TimelinePoint[],
  { height, turns, slices }: ChartArea & { readonly slices: number },
): Markup[] {
  const every = Math.max(1, Math.ceil(points.length / slices))
  if (slices === 0 || points.length < 2) return []
  return points
    .filter((_, i) => i % every === 0)
    .map((point, i, all) => {
      const from = 100 * turnFraction(point.turn, turns)
      const to = i + 1 < all.length ? 100 * turnFraction(all[i + 1]!.turn, turns) : 100
      return html`<rect class="slice" data-turn="${point.turn}" x="${roundToTenth(from)}%" width="${roundToTenth(Math.max(0, to - from))}%" y="${plotTop}" height="${height}"><title>${describePoint(point)}</title></rect>`
    })
}

/** Tokens that belong to no class. */
const unclassifiedTokens = ({ classes, rest = 0, context }: TimelinePoint): number => (classes ? rest : context)

/** The non-empty parts of a context, with labels. They are whole tokens that add up to its size. */
export function listParts(point: TimelinePoint): readonly { readonly words: string; readonly tokens: number }[] {
  const { classes } = point
  const parts = classes ? CLASSES.map((name) => ({ words: CLASS_LABELS[name], tokens: classes[name] })) : []
  const all = [...parts, { words: CONTEXT_LABELS.unknown, tokens: unclassifiedTokens(point) }]
  const whole = apportion(
    all.map(({ tokens }) => tokens),
    Math.round(point.context),
  )
  return all.map(({ words }, i) => ({ words, tokens: whole[i]! })).filter(({ tokens }) => tokens > 0)
}

function describePoint(point: TimelinePoint): string {
  const parts = point.classes ? listParts(point).map(({ words, tokens }) => `${words} ${formatCompact(tokens)}`) : []
  return [`turn ${formatNumber(point.turn)}: ${formatCompact(point.context)} tokens`, ...parts].join(", ")
}

/** Legend of the classes that occur, from the top of the stack to the bottom. */
export function classLegend(courses: readonly ChartTimeline[]): Markup | undefined {
  const used = CLASSES.filter((name) =>
    courses.some(({ points }) => points.some(({ classes }) => (classes?.[name] ?? 0) > 0)),
  )
  const isWhole = courses.some(({ points }) => points.some((point) => unclassifiedTokens(point) >= 1))
  const shown = [
    ...(isWhole ? [["whole", CONTEXT_LABELS.unknown] as const] : []),
    ...used.toReversed().map((name) => [name, CLASS_LABELS[name]] as const),
  ]
  if (shown.length === 0) return undefined
  return html`<ul class="legend">${shown.map(
    ([name, words]) =>
      html`<li><svg width="12" height="12" aria-hidden="true"><rect class="c-${name}" width="12" height="12"/></svg> ${words}</li>`,
  )}${
    courses.some(({ boundaries }) => boundaries.length > 0)
      ? html`<li><svg width="12" height="12" aria-hidden="true"><line class="boundary" x1="6" x2="6" y1="0" y2="12"/></svg> compaction</li>`
      : undefined
  }</ul>`
}

export function missLegend(courses: readonly ChartTimeline[]): Markup | undefined {
  const losses = courses.flatMap((course) => course.misses)
  const used = MISS_KINDS.filter((kind) => losses.some((loss) => loss.kind === kind))
  if (used.length === 0) return undefined
  return html`<ul class="legend"><li>Cache lost:</li>${used.map(
    (kind) =>
      html`<li><svg width="12" height="12" aria-hidden="true"><use href="#loss-${kind}" class="loss" x="6" y="6"/></svg> ${MISS_TITLES[kind]}</li>`,
  )}</ul>`
}

/** Symbols for cache misses, defined once per page. Shapes differ, so that the cause does not depend on colour. */
export const MISS_SYMBOLS = html`<svg class="shapes" width="0" height="0" aria-hidden="true"><defs>
<circle id="loss-pause" r="4.5"/>
<path id="loss-compaction" d="M0-5L5 4H-5Z"/>
<rect id="loss-clearing" x="-4" y="-4" width="8" height="8"/>
<path id="loss-model" d="M0-5.5L5.5 0L0 5.5L-5.5 0Z"/>
<path id="loss-other" d="M-4-4L4 4M4-4L-4 4" stroke-width="2.5"/>
</defs></svg>`
