/** What all charts have: the stretched plot, lines and labels of the scales. Text keeps its size at every width. */
import { grouped } from "@strata/core/base"
import { html, type Markup, type Piece } from "./markup.ts"
import { PLOT_WIDTH, percentAt, type Range, round, ticksUpTo } from "./scale.ts"

const STRIP = 16 // pixels below the plot for marks
const LABELS = 18 // pixels for the turns
const ABOVE = 14 // pixels above the plot, for the topmost label

export interface Frame {
  readonly height: number
  readonly turns: Range
  /** The top of the scale. */
  readonly max: number
  readonly label: (value: number) => string
  /** For people who cannot see the chart. */
  readonly about: string
  /** Paths in the coordinates of the plot. */
  readonly plot: Piece
  /** Drawn over the plot, placed in percent and pixels. */
  readonly over?: Piece
  /** Marks below the plot. */
  readonly strip?: Piece
}

export const stripMiddle = (height: number): number => ABOVE + height + STRIP / 2
export const plotTop = ABOVE

export function framed({ height, turns, max, label, about, plot, over, strip }: Frame): Markup {
  const below = strip === undefined ? 0 : STRIP
  const placeOf = (value: number) => round(ABOVE + height * (1 - value / max))
  return html`<svg class="chart" role="img" aria-label="${about}" width="100%" height="${ABOVE + height + below + LABELS}">
${ticksUpTo(max).map((tick) => html`<line class="grid" x1="0" x2="100%" y1="${placeOf(tick)}" y2="${placeOf(tick)}"/>`)}
<svg x="0" y="${ABOVE}" width="100%" height="${height}" viewBox="0 0 ${PLOT_WIDTH} ${height}" preserveAspectRatio="none">${plot}</svg>
${over}
${ticksUpTo(max)
  .filter((tick) => tick > 0)
  .map((tick) => html`<text class="tick" x="2" y="${placeOf(tick) - 3}">${label(tick)}</text>`)}
${strip}
${turnLabels(turns, ABOVE + height + below + 13)}
</svg>`
}

function turnLabels(turns: Range, y: number): Markup {
  const { first, last } = turns
  if (last <= first) return html`<text class="tick" x="50%" y="${y}" text-anchor="middle">turn ${grouped(first)}</text>`
  const middle = Math.round((first + last) / 2)
  return html`<text class="tick" x="0" y="${y}">turn ${grouped(first)}</text>${
    last - first > 3
      ? html`<text class="tick" x="${percentAt(middle, turns)}" y="${y}" text-anchor="middle">${grouped(middle)}</text>`
      : undefined
  }<text class="tick" x="100%" y="${y}" text-anchor="end">${grouped(last)}</text>`
}
