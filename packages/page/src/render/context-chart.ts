/** The context over turns: areas by class, a line at each boundary, and a mark below for every lost cache. */

import { counted, grouped, short } from "@strata/core/base"
import type { ContextClass } from "@strata/transcripts/replay"
import { CLASSES } from "@strata/transcripts/replay"
import { paidWords } from "../labels/cache-breaks.ts"
import { type Course, LOSS_KINDS, type Loss, type LossKind, type Point } from "./content.ts"
import { framed, plotTop, stripMiddle } from "./frame.ts"
import { html, type Markup, places } from "./markup.ts"
import { alongTurns, PLOT_WIDTH, percentAt, type Range, round, sampled, tickLabel } from "./scale.ts"

export interface ContextChart {
  readonly course: Course
  readonly height: number
  readonly turns: Range
  /** The top of the scale, in tokens. */
  readonly max: number
  /** How many points to draw at most. */
  readonly points: number
  /** How many stretches say their figures when pointed at. */
  readonly slices: number
  /** Sizes at which something happens, in tokens. */
  readonly levels?: readonly { readonly value: number; readonly words: string }[]
}

const MAX_MARKS = 80
const MAX_BOUNDARIES = 400
const MAX_LONG_LINES = 30 // more would hide the areas: then boundaries are short lines at the top
const SHORT_LINE = 10 // pixels

const CLASS_WORDS: Readonly<Record<ContextClass, string>> = {
  prompt: "system prompt and tools",
  person: "your messages",
  answers: "answers",
  thinking: "thinking",
  calls: "tool calls",
  results: "tool results",
  summary: "summary and facts",
}

const LOSS_TITLES: Readonly<Record<LossKind, string>> = {
  pause: "expired in a pause",
  compaction: "compacted",
  clearing: "results cleared",
  model: "another model",
  other: "other",
}

export function contextChart({ course, height, turns, max, points, slices, levels = [] }: ContextChart): Markup {
  const shown = sampled(course.points, points)
  const peak = course.points.reduce((largest, { context }) => Math.max(largest, context), 0)
  const marks = course.losses.toSorted((a, b) => b.tokens - a.tokens).slice(0, MAX_MARKS)
  return framed({
    height,
    turns,
    max,
    label: (value) => tickLabel(value, "tokens"),
    about: `Context over turns, ${course.name}: at most ${short(peak)} tokens, ${counted(course.boundaries.length, "compaction")}, ${counted(course.losses.length, "lost cache")}.`,
    plot: areas(shown, { height, turns, max }),
    over: [
      ...levels.map((each) => level(each, { height, max })),
      ...course.boundaries
        .slice(0, MAX_BOUNDARIES)
        .map((turn) =>
          boundary(turn, { turns, height: course.boundaries.length > MAX_LONG_LINES ? SHORT_LINE : height }),
        ),
      ...slicesOf(shown, { height, turns, slices }),
    ],
    strip: marks.map((loss) => mark(loss, { height, turns })),
  })
}

type Place = Pick<ContextChart, "height" | "turns">

/** From the bottom: the order of the classes. */
function areas(points: readonly Point[], { height, turns, max }: Place & { readonly max: number }): Markup[] {
  const xs = points.map(({ turn }) => round(PLOT_WIDTH * alongTurns(turn, turns)))
  let floor = points.map(() => 0)
  return [...CLASSES, "whole" as const].flatMap((name) => {
    const top = points.map((point, i) => floor[i]! + (name === "whole" ? restOf(point) : (point.classes?.[name] ?? 0)))
    if (top.every((value, i) => value - floor[i]! < max / 2_000)) return []
    const y = (value: number) => round(height * (1 - Math.min(1, value / max)))
    const upper = top.map((value, i) => [xs[i]!, y(value)] as const)
    const lower = floor.map((value, i) => [xs[i]!, y(value)] as const).reverse()
    floor = top
    return [html`<path class="c-${name}" d="M${places([...upper, ...lower])}Z"/>`]
  })
}

function level({ value, words }: { value: number; words: string }, { height, max }: { height: number; max: number }) {
  const y = round(plotTop + height * (1 - value / max))
  return html`<line class="level" x1="0" x2="100%" y1="${y}" y2="${y}"/><text class="tick" x="100%" y="${y + 12}" text-anchor="end">${words}, ${short(value)}</text>`
}

const boundary = (turn: number, { height, turns }: Place) => {
  const x = percentAt(turn, turns)
  return html`<line class="boundary" x1="${x}" x2="${x}" y1="${plotTop - 6}" y2="${plotTop + height}"><title>compacted before turn ${grouped(turn)}</title></line>`
}

const mark = ({ turn, tokens, cost, kind, why }: Loss, { height, turns }: Place) =>
  html`<use href="#loss-${kind}" class="loss" x="${percentAt(turn, turns)}" y="${stripMiddle(height)}"><title>turn ${grouped(turn)}: ${short(tokens)} tokens written again${cost === undefined ? "" : ` ${paidWords(cost)}`}, ${why}</title></use>`

/** Invisible stretches that say their figures when pointed at. */
function slicesOf(points: readonly Point[], { height, turns, slices }: Place & { readonly slices: number }): Markup[] {
  const every = Math.max(1, Math.ceil(points.length / slices))
  if (slices === 0 || points.length < 2) return []
  return points
    .filter((_, i) => i % every === 0)
    .map((point, i, all) => {
      const from = 100 * alongTurns(point.turn, turns)
      const to = i + 1 < all.length ? 100 * alongTurns(all[i + 1]!.turn, turns) : 100
      return html`<rect class="slice" data-turn="${point.turn}" x="${round(from)}%" width="${round(Math.max(0, to - from))}%" y="${plotTop}" height="${height}"><title>${wordsOf(point)}</title></rect>`
    })
}

const NOT_BROKEN_DOWN = "not broken down"

/** What no class has. */
const restOf = ({ classes, rest = 0, context }: Point): number => (classes ? rest : context)

/** The parts of a context that are not empty, in words. */
export function partsIn(point: Point): readonly { readonly words: string; readonly tokens: number }[] {
  const { classes } = point
  const parts = classes ? CLASSES.map((name) => ({ words: CLASS_WORDS[name], tokens: classes[name] })) : []
  return [...parts, { words: NOT_BROKEN_DOWN, tokens: restOf(point) }].filter(({ tokens }) => tokens >= 1)
}

function wordsOf(point: Point): string {
  const parts = point.classes ? partsIn(point).map(({ words, tokens }) => `${words} ${short(tokens)}`) : []
  return [`turn ${grouped(point.turn)}: ${short(point.context)} tokens`, ...parts].join(", ")
}

/** The classes that occur, from the top of the stack to the bottom. */
export function classLegend(courses: readonly Course[]): Markup | undefined {
  const used = CLASSES.filter((name) =>
    courses.some(({ points }) => points.some(({ classes }) => (classes?.[name] ?? 0) > 0)),
  )
  const isWhole = courses.some(({ points }) => points.some((point) => restOf(point) >= 1))
  const shown = [
    ...(isWhole ? [["whole", NOT_BROKEN_DOWN] as const] : []),
    ...used.toReversed().map((name) => [name, CLASS_WORDS[name]] as const),
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

export function lossLegend(courses: readonly Course[]): Markup | undefined {
  const losses = courses.flatMap((course) => course.losses)
  const used = LOSS_KINDS.filter((kind) => losses.some((loss) => loss.kind === kind))
  if (used.length === 0) return undefined
  return html`<ul class="legend"><li>Cache lost:</li>${used.map(
    (kind) =>
      html`<li><svg width="12" height="12" aria-hidden="true"><use href="#loss-${kind}" class="loss" x="6" y="6"/></svg> ${LOSS_TITLES[kind]}</li>`,
  )}</ul>`
}

/** The shapes of the marks, once in a page. Shapes differ, so the reason does not depend on colour. */
export const MARK_SHAPES = html`<svg class="shapes" width="0" height="0" aria-hidden="true"><defs>
<circle id="loss-pause" r="4.5"/>
<path id="loss-compaction" d="M0-5L5 4H-5Z"/>
<rect id="loss-clearing" x="-4" y="-4" width="8" height="8"/>
<path id="loss-model" d="M0-5.5L5.5 0L0 5.5L-5.5 0Z"/>
<path id="loss-other" d="M-4-4L4 4M4-4L-4 4" stroke-width="2.5"/>
</defs></svg>`
