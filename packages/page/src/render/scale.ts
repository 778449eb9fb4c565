/** Maps values to positions in a chart: round ticks, coordinates, and fewer points for long timelines. */

import { formatCompact } from "@strata/core/base"
import type { CostUnit } from "@strata/transcripts/replay"
import type { TimelinePoint } from "./content.ts"

/** Width of a plot in its own coordinates. The plot is stretched to the width of the page. */
export const PLOT_WIDTH = 1_000

const MAX_TICKS = 4
const ROUND_STEPS = [1, 2, 2.5, 5, 10]

/** At most five round values from 0 up to `max`. */
export function ticksUpTo(max: number): readonly number[] {
  if (!(max > 0)) return [0]
  const rough = max / MAX_TICKS
  const size = 10 ** Math.floor(Math.log10(rough))
  const step = size * ROUND_STEPS.find((each) => each * size >= rough)!
  return Array.from({ length: Math.floor(max / step + 1e-9) + 1 }, (_, i) => i * step)
}

/** `$0.25`, `$12`, `75K`, `1.5M` */
export const tickLabel = (value: number, unit: CostUnit): string =>
  unit === "tokens"
    ? formatCompact(value)
        .replace(/(\.\d*?)0+(?=[KM])/, "$1")
        .replace(/\.(?=[KM])/, "")
    : `$${Number(value.toPrecision(3))}`

export interface TurnRange {
  readonly first: number
  readonly last: number
}

export const turnRange = (points: readonly TimelinePoint[]): TurnRange => ({
  first: points[0]?.turn ?? 1,
  last: points.at(-1)?.turn ?? 1,
})

/** Position of a turn from 0 to 1. A single turn is in the middle. */
export const turnFraction = (turn: number, { first, last }: TurnRange): number =>
  last <= first ? 0.5 : Math.min(1, Math.max(0, (turn - first) / (last - first)))

export const turnPercent = (turn: number, range: TurnRange): string =>
  `${roundToTenth(100 * turnFraction(turn, range))}%`

export const roundToTenth = (value: number): number => Math.round(value * 10) / 10

/** Reduces the points to `max`. The largest and the smallest context of each section are preserved, so that no peak and no drop is lost. */
export function samplePoints(points: readonly TimelinePoint[], max: number): readonly TimelinePoint[] {
  if (points.length <= max) return points
  const stretches = Math.max(1, Math.floor(max / 2) - 1)
  const kept = new Set([points[0]!, points.at(-1)!])
  for (let i = 0; i < stretches; i++) {
    const from = Math.floor((i * points.length) / stretches)
    const to = Math.floor(((i + 1) * points.length) / stretches)
    const stretch = points.slice(from, to)
    if (stretch.length === 0) continue
    kept.add(stretch.reduce((a, b) => (b.context > a.context ? b : a)))
    kept.add(stretch.reduce((a, b) => (b.context < a.context ? b : a)))
  }
  return points.filter((point) => kept.has(point))
}
