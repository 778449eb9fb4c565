/**
 * The same work with and without Strata. Both sides are computed from the run: "with" is the bill in the ledger; "without" resends, in
 * every request, what was sent plus everything the layers had removed by then. Pure.
 */
import type { TokenCounts } from "@strata/core/internal"
import { addCounts, inputTokens, NO_TOKENS } from "@strata/core/internal/base/token-counts"
import { findModel } from "@strata/core/internal/tokens/models"
import { costOf } from "@strata/core/internal/tokens/price"
import { dollarsOrUnknown, grouped, percent, short } from "../display/numbers.ts"
import { table } from "../display/table.ts"
import type { Style } from "../display/terminal.ts"
import { indented, wrapped } from "../display/text.ts"
import type { DemoRequest, DemoState } from "./state.ts"

export interface Side {
  /** Input tokens of all requests together. */
  readonly tokens: number
  /** `undefined` if the price is unknown. */
  readonly dollars: number | undefined
  /** Input tokens of the largest request. */
  readonly largest: number
}

export interface Comparison {
  readonly withStrata: Side
  readonly without: Side
  /** The first turn whose request would no longer fit the window. */
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

/** With a perfect prompt cache: each request reads the previous one from it and writes only what is new. */
function resentRequests(requests: readonly DemoRequest[]): readonly TokenCounts[] {
  return requests.map(({ everything, output }, i) => {
    const cacheRead = Math.min(everything, requests[i - 1]?.everything ?? 0)
    return { ...NO_TOKENS, cacheRead, cacheWrite5m: everything - cacheRead, output }
  })
}

export function comparisonLines(
  state: DemoState,
  { style, width }: { readonly style: Style; readonly width: number },
): readonly string[] {
  const comparison = compare(state)
  const { withStrata, without, fullAt } = comparison
  const { window } = state.thresholds
  const turns = state.requests.length
  const rows = [
    ["tokens sent", short(withStrata.tokens), short(without.tokens)],
    ["cost", dollarsOrUnknown(withStrata.dollars), dollarsOrUnknown(without.dollars)],
    ["largest request", short(withStrata.largest), short(without.largest)],
    [`windows of ${short(window)}`, "1", (without.largest / window).toFixed(1)],
    ["turns that fit", `all ${grouped(turns)}`, fullAt === undefined ? `all ${grouped(turns)}` : grouped(fullAt - 1)],
  ]
  return [
    style.bold("The same work, with and without Strata"),
    ...table({
      width,
      titles: style.dim,
      columns: [{ title: "" }, { title: "with Strata", align: "right" }, { title: "without", align: "right" }],
      rows,
    }),
    "",
    ...indented(wrapped(verdict(comparison, { turns, window }), width - 2), 2).map(style.bold),
    ...[
      "With: the ledger of the first conversation, including notes, summaries and memories.",
      "Without: each request carries what this run sent plus all that the layers had removed by then, at the same prices and with a perfect prompt cache.",
    ].flatMap((line) => indented(wrapped(line, width - 2), 2).map(style.dim)),
  ]
}

function verdict(
  { withStrata, without, fullAt }: Comparison,
  { turns, window }: { readonly turns: number; readonly window: number },
): string {
  const failed =
    fullAt === undefined
      ? "This run was short enough to fit the window without Strata too."
      : `Without Strata the window of ${short(window)} is full at turn ${fullAt}. With Strata all ${turns} turns fit.`
  return `${failed} ${moneyWords(withStrata.dollars, without.dollars)}`.trimEnd()
}

function moneyWords(paid: number | undefined, alternative: number | undefined): string {
  if (paid === undefined || alternative === undefined || alternative === 0) return ""
  return paid <= alternative
    ? `Strata cost ${percent(paid, alternative)} of what resending everything would cost.`
    : `Strata cost ${percent(paid - alternative, alternative)} more than resending everything would.`
}
