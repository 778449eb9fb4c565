/** Savings of the layers, and the cost of cache misses and repeated reads. Shared by chat, demo and inspect. Pure. */

import type { TokenCounts } from "@strata/core"
import type { RepeatedReads } from "@strata/core/tokens"
import type { BreakCause, CacheBreakTotal, LayerSaving } from "@strata/core/views"
import { totalSaving } from "@strata/core/views"
import { CAUSE_LABELS, formatMissCost, LAYER_LABELS } from "@strata/page"
import { formatCompact, formatDollars, formatDollarsOrUnknown, formatNumber, pluralize } from "./numbers.ts"
import { table } from "./table.ts"
import { plainStyle, type Style } from "./terminal.ts"
import { indent, wrapText } from "./text.ts"

export interface SavingsOptions {
  readonly width: number
  readonly style?: Style
}

/** `22.75M read from cache, 409K written to cache, 1.1K uncached` */
export const describeCacheUse = ({ cacheRead, cacheWrite5m, cacheWrite1h, input }: TokenCounts): string =>
  `${formatCompact(cacheRead)} read from cache, ${formatCompact(cacheWrite5m + cacheWrite1h)} written to cache, ${formatCompact(input)} uncached`

/** `$0.0512 saved, 1.20M tokens not sent` */
export function describeTotalSavings(savings: readonly LayerSaving[]): string {
  return `${describeMoneySaved(savings)}, ${formatCompact(totalSaving(savings).unsent)} tokens not sent`
}

/** `$0.0512 saved`, or a phrase that the layers have cost more so far or the price is unknown. */
function describeMoneySaved(savings: readonly LayerSaving[]): string {
  const { dollars: saved } = totalSaving(savings)
  if (saved === undefined) return "savings unknown (no price)"
  return saved < 0 ? `${formatDollars(-saved)} more spent than saved so far` : `${formatDollars(saved)} saved`
}

/** A table of savings, followed by an explanation of the comparison. */
export function savingLines(savings: readonly LayerSaving[], { width, style = plainStyle }: SavingsOptions): string[] {
  if (savings.length === 0) return []
  return [
    ...table({
      width,
      titles: style.dim,
      columns: [
        { title: "layer", gives: "end" },
        { title: "times", align: "right" },
        { title: "removed", align: "right", isMinor: true },
        { title: "not sent", align: "right" },
        { title: "worth", align: "right", isMinor: true },
        { title: "cost", align: "right" },
        { title: "saved", align: "right" },
      ],
      rows: savings.map(({ layer, decisions, removed, unsent, gained, paid, dollars: saved }) => [
        LAYER_LABELS[layer],
        formatNumber(decisions),
        formatCompact(removed),
        formatCompact(unsent),
        formatDollarsOrUnknown(gained),
        formatDollarsOrUnknown(paid),
        formatDollarsOrUnknown(saved),
      ]),
    }),
    ...savings.flatMap((saving) => savingsRemarks(saving, { width, style })),
  ]
}

function savingsRemarks(
  { layer, counterfactual, dollars: saved, unmeasured, spared }: LayerSaving,
  { width, style }: Required<SavingsOptions>,
) {
  const remarks = [
    `${LAYER_LABELS[layer]}: ${counterfactual}`,
    ...(layer !== "notes" && saved !== undefined && saved < 0 ? ["It has cost more than it saved so far."] : []),
    ...(spared > 0
      ? [`${pluralize(spared, layer === "fold" ? "fold" : "clearing")} made a compaction unnecessary.`]
      : []),
    ...(unmeasured > 0 ? [`${pluralize(unmeasured, "decision")} without a size: not counted.`] : []),
  ]
  return indent(wrapText(remarks.join(" "), width - 2), 2).map(style.dim)
}

/** Cost of cache misses by cause, most expensive first. */
export function cacheMissLines(
  totals: Iterable<readonly [BreakCause, CacheBreakTotal]>,
  { width, style = plainStyle }: SavingsOptions,
): string[] {
  const causes = [...totals].toSorted(([, a], [, b]) => b.rewrittenTokens - a.rewrittenTokens)
  if (causes.length === 0) return []
  return table({
    width,
    titles: style.dim,
    columns: [
      { title: "cache lost because", gives: "end" },
      { title: "times", align: "right" },
      { title: "paid again", align: "right" },
      { title: "cost", align: "right" },
    ],
    rows: causes.map(([cause, total]) => [
      CAUSE_LABELS[cause],
      formatNumber(total.breaks),
      formatCompact(total.rewrittenTokens),
      formatMissCost(total),
    ]),
  })
}

export function repeatedReadLines(
  { files, tokens, dollars: paid, counted: how }: RepeatedReads,
  { width }: SavingsOptions,
): string[] {
  if (tokens === 0) return []
  const cost = paid === undefined ? "cost unknown" : `about ${formatDollars(paid)}`
  return wrapText(
    `${pluralize(files, "file was", "files were")} read again: ${formatCompact(tokens)} tokens, ${cost}. ${how}`,
    width,
  )
}

/** Tokens kept out of the window now: `45.0K offloaded, 12.0K cleared`. Empty if nothing is. */
export function describeKeptOut(savings: readonly LayerSaving[]): string {
  return savings
    .filter(({ standing }) => standing > 0)
    .map(({ layer, standing }) => `${formatCompact(standing)} ${KEPT_OUT_LABELS[layer]}`)
    .join(", ")
}

const KEPT_OUT_LABELS: Readonly<Record<LayerSaving["layer"], string>> = {
  "tool-results": "offloaded",
  microcompact: "cleared",
  fold: "folded",
  server: "cleared by the server",
  compaction: "compacted",
  notes: "in notes",
}
