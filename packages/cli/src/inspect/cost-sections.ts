/** The sections about size and cost over time: growth, cache, money. */

import { PURPOSE_LABELS } from "@strata/core/views"
import {
  apiReasonLabel,
  CAUSE_LABELS,
  describeLostNames,
  describeNamesInView,
  formatCost,
  formatMissCost,
  pricePhrase,
} from "@strata/page"
import type { BoundaryNames } from "@strata/transcripts"
import { columnChart } from "../display/bars.ts"
import {
  formatCompact,
  formatDollars,
  formatDollarsOrUnknown,
  formatNumber,
  formatPause,
  formatPercent,
  pluralize,
} from "../display/numbers.ts"
import { describeCacheUse } from "../display/savings.ts"
import { moreLine, sectionTitle } from "../display/section.ts"
import { table } from "../display/table.ts"
import { indent, wrapText } from "../display/text.ts"
import { escapeToLine } from "../display/visible.ts"
import type { AnalysisPage } from "./page.ts"

const CHART_HEIGHT = 8
const MAX_BREAKS = 8

export function growth(page: AnalysisPage): string[] {
  const { analysis, style, width } = page
  const { source, sizes, boundaries } = analysis.growth
  if (sizes.length === 0) return []
  const how = source === "counted" ? "counted by the API" : "estimated, without system prompt and tools"
  const peak = Math.max(...sizes)
  return [
    ...sectionTitle(page, {
      title: "Growth over turns",
      about: `largest ${formatCompact(peak)} tokens, ${formatCompact(sizes.at(-1)!)} at the end; ${how}`,
    }),
    ...indent(
      columnChart({
        values: sizes,
        marked: boundaries.map(({ turn }) => turn),
        width: width - 2,
        height: CHART_HEIGHT,
        style,
      }),
      1,
    ),
    ...boundaries.flatMap(({ turn, before, after, estimated = 0, needed }) => [
      `${" ".repeat(9)}${style.yellow("▲")} compacted after turn ${turn}: ${formatCompact(before)} to ${after === undefined ? `about ${formatCompact(estimated)} (estimated)` : formatCompact(after)}`,
      ...indent(keptLines(needed, width - 11), 11),
    ]),
  ]
}

const LINES_OF_NAMES = 2

/** Names that were used again after a compaction: how many remained in view, and which did not. */
function keptLines(needed: BoundaryNames | undefined, width: number): readonly string[] {
  if (needed === "unrecorded") return wrapText(`what was used again is ${describeNamesInView(needed)}`, width)
  if (!needed || needed.names === 0) return []
  const lines = (max: number) => {
    const lost = escapeToLine(describeLostNames(needed, max))
    return wrapText(`kept ${describeNamesInView(needed)} used again${lost === "" ? "" : `; lost: ${lost}`}`, width)
  }
  let max = needed.lost.length
  while (max > 1 && lines(max).length > LINES_OF_NAMES) max--
  return lines(max)
}

export function cache(page: AnalysisPage): string[] {
  const { analysis, style, width } = page
  const { requests, counts, hitRatio, breaks, broken } = analysis.cache
  if (requests === 0)
    return sectionTitle(page, { title: "Cache", about: "the transcript does not record what was billed" })
  if (counts.cacheRead === 0)
    return sectionTitle(page, {
      title: "Cache",
      about: `none of the ${pluralize(requests, "request")} read from a cache`,
    })
  const facts = `${formatPercent(hitRatio, 1)} of the input came from it: ${describeCacheUse(counts)}`
  if (broken.breaks === 0)
    return [...sectionTitle(page, { title: "Cache", about: facts }), "  the cache was never lost"]
  const hasReasons = breaks.some(({ apiReason }) => apiReason !== undefined)
  const shown = breaks.toSorted((a, b) => b.rewrittenTokens - a.rewrittenTokens).slice(0, MAX_BREAKS)
  return [
    ...sectionTitle(page, { title: "Cache", about: facts }),
    `  lost ${pluralize(broken.breaks, "time")}; ${formatCompact(broken.rewrittenTokens)} tokens paid again, ${pricePhrase(formatMissCost(broken))}:`,
    ...table({
      width,
      titles: style.dim,
      columns: [
        { title: "turn", align: "right" },
        { title: "pause", align: "right" },
        { title: "cache read", align: "right", isMinor: hasReasons },
        { title: "paid again", align: "right" },
        { title: "cost", align: "right" },
        { title: "probable cause", gives: "end" },
        ...(hasReasons ? [{ title: "the API says", gives: "end" } as const] : []),
      ],
      rows: shown
        .toSorted((a, b) => a.turn - b.turn)
        .map(({ turn, gapMinutes, readBefore, read, rewrittenTokens, dollars: cost, cause, apiReason }) => [
          formatNumber(turn),
          gapMinutes === undefined ? "?" : formatPause(gapMinutes),
          `${formatCompact(readBefore)} to ${formatCompact(read)}`,
          formatCompact(rewrittenTokens),
          formatDollarsOrUnknown(cost),
          CAUSE_LABELS[cause],
          ...(hasReasons ? [apiReason === undefined ? "" : apiReasonLabel(apiReason)] : []),
        ]),
    }),
    ...moreLine(broken.breaks - shown.length, "loss", "losses"),
  ]
}

export function money(page: AnalysisPage): string[] {
  const { analysis, style, width } = page
  const { lines, dollars: all, unpriced, stubs, remarks } = analysis.money
  if (lines.length === 0) return []
  const unknown = `no price is known for ${unpriced.map(escapeToLine).join(", ")}`
  const spent = formatCost({ dollars: all, unpriced, isLowerBound: stubs !== undefined })
  const sum = unpriced.length === 0 ? spent : spent === "unknown" ? unknown : `${spent}; ${unknown}`
  return [
    ...sectionTitle(page, { title: "Money", about: sum }),
    ...table({
      width,
      titles: style.dim,
      columns: [
        { title: "model", gives: "end" },
        { title: "", gives: "end" },
        { title: "requests", align: "right" },
        { title: "input", align: "right" },
        { title: "cached", align: "right" },
        { title: "output", align: "right" },
        { title: "cost", align: "right" },
      ],
      rows: lines.map(({ model, purpose, requests, counts, dollars: cost }) => [
        escapeToLine(model),
        purpose === "main" ? "" : PURPOSE_LABELS[purpose],
        formatNumber(requests),
        formatCompact(counts.input + counts.cacheWrite5m + counts.cacheWrite1h),
        formatCompact(counts.cacheRead),
        formatCompact(counts.output),
        cost === undefined ? "unknown" : formatDollars(cost),
      ]),
    }),
    ...remarks.flatMap((remark) => indent(wrapText(remark, width - 2), 2)),
  ]
}
