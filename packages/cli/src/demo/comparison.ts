/**
 * Compares the same work with and without Strata. The cost with Strata comes from the ledger. The cost without it assumes that every
 * request also resends everything that the layers had removed by then. See `retention-check.ts` for what remains accessible. Pure.
 */
import { findModel, type TokenCounts } from "@strata/core"
import { addCounts, inputTokens, NO_TOKENS } from "@strata/core/base"
import { costOf } from "@strata/core/tokens"
import { formatCompact, formatDollarsOrUnknown, formatNumber, formatPercent } from "../display/numbers.ts"
import { table } from "../display/table.ts"
import type { Style } from "../display/terminal.ts"
import { indent, wrapText } from "../display/text.ts"
import type { FactKind, RetainedFacts } from "./retention-check.ts"
import type { DemoRequest, DemoState } from "./state.ts"

export interface CostSide {
  /** Input tokens of all requests together. */
  readonly tokens: number
  /** `undefined` if the price is unknown. */
  readonly dollars: number | undefined
  /** Input tokens of the largest request. */
  readonly largest: number
}

export interface Comparison {
  readonly withStrata: CostSide
  readonly without: CostSide
  /** First turn whose request would no longer fit the window. */
  readonly fullAt?: number
}

export function compare({ requests, spent, model, thresholds }: DemoState): Comparison {
  const resent = resentRequests(requests)
  const { facts } = findModel(model)
  const costs = resent.map((counts) => costOf(facts, counts))
  const fullAt = requests.findIndex(({ everything }) => everything > thresholds.window)
  return {
    withStrata: {
      tokens: inputTokens(spent?.counts ?? NO_TOKENS),
      dollars: spent === undefined || spent.unpriced.length > 0 ? undefined : spent.dollars,
      largest: Math.max(0, ...requests.map(({ sent }) => sent)),
    },
    without: {
      tokens: inputTokens(resent.reduce(addCounts, NO_TOKENS)),
      dollars: costs.reduce<number | undefined>(
        (sum, cost) => (sum === undefined || !cost.known ? undefined : sum + cost.dollars),
        0,
      ),
      largest: Math.max(0, ...requests.map(({ everything }) => everything)),
    },
    ...(fullAt < 0 ? {} : { fullAt: fullAt + 1 }),
  }
}

/** Requests without Strata, with a perfect prompt cache: each one reads the previous request from it and writes only new tokens. */
function resentRequests(requests: readonly DemoRequest[]): readonly TokenCounts[] {
  return requests.map(({ everything, output }, i) => {
    const cacheRead = Math.min(everything, requests[i - 1]?.everything ?? 0)
    return { ...NO_TOKENS, cacheRead, cacheWrite5m: everything - cacheRead, output }
  })
}

export interface ComparisonOptions {
  readonly style: Style
  readonly width: number
  readonly facts: readonly RetainedFacts[]
}

export function comparisonLines(state: DemoState, { style, width, facts }: ComparisonOptions): readonly string[] {
  const comparison = compare(state)
  const { withStrata, without, fullAt } = comparison
  const { window } = state.thresholds
  const turns = state.requests.length
  const rows = [
    ["tokens sent", formatCompact(withStrata.tokens), formatCompact(without.tokens)],
    ["cost", formatDollarsOrUnknown(withStrata.dollars), formatDollarsOrUnknown(without.dollars)],
    ["largest request", formatCompact(withStrata.largest), formatCompact(without.largest)],
    [`windows of ${formatCompact(window)}`, "1", (without.largest / window).toFixed(1)],
    [
      "turns that fit",
      `all ${formatNumber(turns)}`,
      fullAt === undefined ? `all ${formatNumber(turns)}` : formatNumber(fullAt - 1),
    ],
    ...facts.filter(({ all }) => all > 0).map(factRow),
  ]
  return [
    style.bold("The same work, with and without Strata"),
    ...table({
      width,
      titles: style.dim,
      columns: [
        { title: "" },
        { title: "with Strata", align: "right", gives: "end" },
        { title: "without", align: "right" },
      ],
      rows,
    }),
    "",
    ...indent(wrapText(verdict(comparison, { turns, window, facts }), width - 2), 2).map(style.bold),
    ...[
      "Without: each request carries all that this run sent or removed, at the same prices, with a perfect cache. A full window drops its oldest messages.",
      "With: the ledger of the first conversation. Recall finds what is out of view.",
    ].flatMap((line) => indent(wrapText(line, width - 2), 2).map(style.dim)),
  ]
}

const FACT_LABELS: Readonly<Record<FactKind, string>> = {
  messages: "your messages",
  rules: "your rules",
  changes: "changed files",
  results: "tool results",
}

/** `your messages   5 in view, 1 by recall   1 of 6` */
function factRow({ kind, all, inView, recalled, inLastWindow }: RetainedFacts): readonly string[] {
  const found = [
    inView > 0 || recalled === 0 ? `${formatNumber(inView)} in view` : "",
    recalled > 0 ? `${formatNumber(recalled)} by recall` : "",
  ]
  return [FACT_LABELS[kind], found.filter(Boolean).join(", "), `${formatNumber(inLastWindow)} of ${formatNumber(all)}`]
}

interface Verdict {
  readonly turns: number
  readonly window: number
  readonly facts: readonly RetainedFacts[]
}

function verdict({ withStrata, without, fullAt }: Comparison, { turns, window, facts }: Verdict): string {
  const money = formatSaving(withStrata.dollars, without.dollars)
  if (fullAt === undefined) return `This run was short enough to fit the window without Strata too. ${money}`.trimEnd()
  const lost = facts
    .map(({ kind, all, inLastWindow }) => ({ kind, all, gone: all - inLastWindow }))
    .filter(({ gone }) => gone > 0)
    .map(({ kind, all, gone }) => `${formatNumber(gone)} of ${LOSS_LABELS[kind](formatNumber(all))}`)
  const loss = lost.length === 0 ? "" : ` Going on without it loses ${formatList(lost)}.`
  const missing = facts.reduce((sum, { all, inView, recalled }) => sum + all - inView - recalled, 0)
  const found = facts.some(({ recalled }) => recalled > 0) ? "in view or found by recall" : "in view"
  const kept =
    facts.length === 0
      ? ""
      : missing === 0
        ? `, and everything is ${found}`
        : `, and ${formatNumber(missing)} ${missing === 1 ? "is" : "are"} lost`
  return `Without Strata the window of ${formatCompact(window)} is full at turn ${fullAt}.${loss} With Strata all ${turns} turns fit${kept}. ${money}`.trimEnd()
}

const LOSS_LABELS: Readonly<Record<FactKind, (all: string) => string>> = {
  messages: (all) => `your ${all} messages`,
  rules: (all) => `your ${all} rules`,
  changes: (all) => `${all} changed files`,
  results: (all) => `${all} tool results`,
}

/** `a, b and c` */
const formatList = (parts: readonly string[]): string =>
  parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`

const ENDLESS = "resending everything in an endless window"

function formatSaving(paid: number | undefined, alternative: number | undefined): string {
  if (paid === undefined || alternative === undefined || alternative === 0) return ""
  return paid <= alternative
    ? `Strata cost ${formatPercent(paid, alternative)} of ${ENDLESS}.`
    : `Strata cost ${formatPercent(paid - alternative, alternative)} more than ${ENDLESS}.`
}
