/** The common parts of all charts: the stretched plot, grid lines and labels. Text keeps its size at every width. */
import { formatNumber } from "@strata/core/base"
import { html, type Markup, type MarkupContent } from "./markup.ts"
import { PLOT_WIDTH, roundToTenth, type TurnRange, ticksUpTo, turnPercent } from "./scale.ts"

const STRIP_PIXELS = 16 // pixels below the plot for symbols
const LABEL_PIXELS = 18 // pixels for the turns
const TOP_PIXELS = 14 // pixels above the plot, for the topmost label

export interface ChartFrame {
  readonly height: number
  readonly turns: TurnRange
  /** The top of the scale. */
  readonly max: number
  readonly label: (value: number) => string
  /** Text alternative for screen readers. */
  readonly description: string
  /** Paths in the coordinates of the plot. */
  readonly plot: MarkupContent
  /** Drawn over the plot, with positions in percent and pixels. */
  readonly overlay?: MarkupContent
  /** Symbols below the plot. */
  readonly strip?: MarkupContent
}

export const stripMiddle = (height: number): number => TOP_PIXELS + height + STRIP_PIXELS / 2
export const plotTop = TOP_PIXELS

export function chartFrame({ height, turns, max, label, description, plot, overlay, strip }: ChartFrame): Markup {
  const below = strip === undefined ? 0 : STRIP_PIXELS
  const yFor = (value: number) => roundToTenth(TOP_PIXELS + height * (1 - value / max))
  return html`<svg class="chart" role="img" aria-label="${description}" width="100%" height="${TOP_PIXELS + height + below + LABEL_PIXELS}">
${ticksUpTo(max).map((tick) => html`<line class="grid" x1="0" x2="100%" y1="${yFor(tick)}" y2="${yFor(tick)}"/>`)}
<svg x="0" y="${TOP_PIXELS}" width="100%" height="${height}" viewBox="0 0 ${PLOT_WIDTH} ${height}" preserveAspectRatio="none">${plot}</svg>
${overlay}
${ticksUpTo(max)
  .filter((tick) => tick > 0)
  .map((tick) => html`<text class="tick" x="2" y="${yFor(tick) - 3}">${label(tick)}</text>`)}
${strip}
${turnLabels(turns, TOP_PIXELS + height + below + 13)}
</svg>`
}

function turnLabels(turns: TurnRange, y: number): Markup {
  const { first, last } = turns
  if (last <= first)
    return html`<text class="tick" x="50%" y="${y}" text-anchor="middle">turn ${formatNumber(first)}</text>`
  const middle = Math.round((first + last) / 2)
  return html`<text class="tick" x="0" y="${y}">turn ${formatNumber(first)}</text>${
    last - first > 3
      ? html`<text class="tick" x="${turnPercent(middle, turns)}" y="${y}" text-anchor="middle">${formatNumber(middle)}</text>`
      : undefined
  }<text class="tick" x="100%" y="${y}" text-anchor="end">${formatNumber(last)}</text>`
}
