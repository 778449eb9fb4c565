/** What the layers saved, and what lost caches and repeated reads cost. Chat, demo and inspect share these lines. Pure. */

import type { TokenCounts } from "@strata/core"
import type { RepeatedReads } from "@strata/core/tokens"
import type { BreakCause, CacheBreakTotal, LayerSaving } from "@strata/core/views"
import { totalSaving } from "@strata/core/views"
import { CAUSES, LAYER_WORDS, lossWords } from "@strata/page"
import { counted, dollars, dollarsOrUnknown, grouped, short } from "./numbers.ts"
import { table } from "./table.ts"
import { plainStyle, type Style } from "./terminal.ts"
import { indented, wrapped } from "./text.ts"

export interface Look {
  readonly width: number
  readonly style?: Style
}

/** `22.75M read from cache, 409K written to cache, 1.1K uncached` */
export const cacheWords = ({ cacheRead, cacheWrite5m, cacheWrite1h, input }: TokenCounts): string =>
  `${short(cacheRead)} read from cache, ${short(cacheWrite5m + cacheWrite1h)} written to cache, ${short(input)} uncached`

/** `$0.0512 saved, 1.20M tokens not sent` */
export function savedInAll(savings: readonly LayerSaving[]): string {
  return `${moneySaved(savings)}, ${short(totalSaving(savings).unsent)} tokens not sent`
}

/** `$0.0512 saved`, or that the layers have cost more so far, or that the price is unknown. */
function moneySaved(savings: readonly LayerSaving[]): string {
  const { dollars: saved } = totalSaving(savings)
  if (saved === undefined) return "savings unknown (no price)"
  return saved < 0 ? `${dollars(-saved)} more spent than saved so far` : `${dollars(saved)} saved`
}

/** A table, then what each row is compared with. */
export function savingLines(savings: readonly LayerSaving[], { width, style = plainStyle }: Look): string[] {
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
        LAYER_WORDS[layer],
        grouped(decisions),
        short(removed),
        short(unsent),
        dollarsOrUnknown(gained),
        dollarsOrUnknown(paid),
        dollarsOrUnknown(saved),
      ]),
    }),
    ...savings.flatMap((saving) => remarksOn(saving, { width, style })),
  ]
}

function remarksOn(
  { layer, counterfactual, dollars: saved, unmeasured, spared }: LayerSaving,
  { width, style }: Required<Look>,
) {
  const remarks = [
    `${LAYER_WORDS[layer]}: ${counterfactual}`,
    ...(layer !== "notes" && saved !== undefined && saved < 0 ? ["It has cost more than it saved so far."] : []),
    ...(spared > 0
      ? [`${counted(spared, layer === "fold" ? "fold" : "clearing")} made a compaction unnecessary.`]
      : []),
    ...(unmeasured > 0 ? [`${counted(unmeasured, "decision")} without a size: not counted.`] : []),
  ]
  return indented(wrapped(remarks.join(" "), width - 2), 2).map(style.dim)
}

/** What was paid again after a lost cache, by cause, the most expensive first. */
export function lostCacheLines(
  totals: Iterable<readonly [BreakCause, CacheBreakTotal]>,
  { width, style = plainStyle }: Look,
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
      CAUSES[cause],
      grouped(total.breaks),
      short(total.rewrittenTokens),
      lossWords(total),
    ]),
  })
}

export function repeatedReadLines(
  { files, tokens, dollars: paid, counted: how }: RepeatedReads,
  { width }: Look,
): string[] {
  if (tokens === 0) return []
  const cost = paid === undefined ? "cost unknown" : `about ${dollars(paid)}`
  return wrapped(
    `${counted(files, "file was", "files were")} read again: ${short(tokens)} tokens, ${cost}. ${how}`,
    width,
  )
}

/** What is kept out of the window now: `45.0K put aside, 12.0K cleared`; empty if nothing is. */
export function keptOut(savings: readonly LayerSaving[]): string {
  return savings
    .filter(({ standing }) => standing > 0)
    .map(({ layer, standing }) => `${short(standing)} ${KEPT_OUT_WORDS[layer]}`)
    .join(", ")
}

const KEPT_OUT_WORDS: Readonly<Record<LayerSaving["layer"], string>> = {
  "tool-results": "put aside",
  microcompact: "cleared",
  fold: "folded",
  server: "cleared by the server",
  compaction: "compacted",
  notes: "in notes",
}
