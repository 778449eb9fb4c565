/** `/cost`: the ledger by model and purpose, the savings of the layers, and the cost of cache misses and repeated reads. */

import { inputTokens } from "@strata/core/base"
import type { RepeatedReads } from "@strata/core/tokens"
import {
  type AgentCost,
  type BreakCause,
  type CacheBreakTotal as BreakTotal,
  describeEstimates,
  PURPOSE_LABELS,
} from "@strata/core/views"
import type { LedgerLine, LedgerSummary } from "../display/ledger.ts"
import { shortenList } from "../display/long-list.ts"
import {
  formatCompact,
  formatDollars,
  formatDollarsOrUnknown,
  formatNumber,
  formatPercent,
  pluralize,
} from "../display/numbers.ts"
import {
  cacheMissLines,
  describeCacheUse,
  describeTotalSavings,
  repeatedReadLines,
  savingLines,
} from "../display/savings.ts"
import { table } from "../display/table.ts"
import { wrapText } from "../display/text.ts"
import { escapeToLine } from "../display/visible.ts"

export interface CostPanelState {
  readonly summary: LedgerSummary
  readonly lines: readonly LedgerLine[]
  /** Cost of each sub-agent, which is part of the total. */
  readonly agents?: readonly AgentCost[]
  readonly lostCaches: Iterable<readonly [BreakCause, BreakTotal]>
  readonly repeated: RepeatedReads
}

export function costLines(
  { summary, lines, agents = [], lostCaches, repeated }: CostPanelState,
  columns: number,
): readonly string[] {
  const look = { width: columns }
  const { requests, counts, hitRatio, unpriced, savings } = summary
  const isUnknown = lines.length > 0 && lines.every((line) => line.dollars === undefined)
  return [
    `${isUnknown ? "Unknown cost" : formatDollars(summary.dollars)} for ${pluralize(requests, "request")}`,
    ...wrapText(
      `input: ${formatCompact(inputTokens(counts))} tokens, ${formatPercent(hitRatio, 1)} of them read from cache; output: ${formatCompact(counts.output)}`,
      columns,
    ),
    ...wrapText(describeCacheUse(counts), columns),
    ...(unpriced.length === 0
      ? []
      : wrapText(`The total leaves out ${unpriced.join(", ")}, because no price is known.`, columns)),
    ...describeEstimates(summary.estimated).flatMap((line) => wrapText(line, columns)),
    ...(lines.length > 1 ? section("By model and purpose", lineTable(lines, columns)) : []),
    ...(agents.length > 0 ? section("Agents", agentTable(agents, columns)) : []),
    ...section(`Layers: ${describeTotalSavings(savings)}`, savingLines(savings, look)),
    ...section("Lost caches", cacheMissLines(lostCaches, look)),
    ...section(
      "Files read again",
      repeatedReadLines(repeated, { width: columns - 2 }).map((line) => `  ${line}`),
    ),
  ]
}

/** A titled section, or nothing if it has no lines. */
const section = (title: string, lines: readonly string[]) => (lines.length === 0 ? [] : ["", title, ...lines])

function lineTable(lines: readonly LedgerLine[], width: number): readonly string[] {
  return table({
    width,
    titles: (text) => text,
    columns: [
      { title: "model", gives: "end" },
      { title: "purpose" },
      { title: "requests", align: "right", isMinor: true },
      { title: "input", align: "right" },
      { title: "cached", align: "right", isMinor: true },
      { title: "output", align: "right" },
      { title: "cost", align: "right" },
    ],
    rows: lines.map(({ model, purpose, requests, counts, dollars: amount }) => [
      model,
      PURPOSE_LABELS[purpose],
      formatNumber(requests),
      formatCompact(inputTokens(counts)),
      formatPercent(counts.cacheRead, inputTokens(counts)),
      formatCompact(counts.output),
      formatDollarsOrUnknown(amount),
    ]),
  })
}

const MAX_AGENTS = 20

function agentTable(agents: readonly AgentCost[], width: number): readonly string[] {
  const newest = agents.length > MAX_AGENTS ? agents.toReversed() : agents
  const { shown, rest } = shortenList(newest, { isShort: true, max: MAX_AGENTS, seeAll: "strata agents" })
  const rows = table({
    width,
    titles: (text) => text,
    columns: [
      { title: "agent", gives: "end" },
      { title: "status" },
      { title: "turns", align: "right" },
      { title: "cost", align: "right" },
      { title: "task", gives: "end" },
    ],
    rows: shown.map(({ name, status = "", requests, dollars: amount, description = "" }) => [
      escapeToLine(name),
      status,
      formatNumber(requests),
      formatDollarsOrUnknown(amount),
      escapeToLine(description),
    ]),
  })
  return [...rows, ...rest.map((line) => `  ${line}`)]
}
