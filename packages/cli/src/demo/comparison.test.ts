import { findModel } from "@strata/core"
import { describe, expect, it } from "vitest"
import { resolveThresholds } from "../../../core/src/tokens/window.ts"
import { summaryOf } from "../../test/ledger-figures.ts"
import { plainStyle as style } from "../display/terminal.ts"
import { compare, comparisonLines } from "./comparison.ts"
import type { RetainedFacts } from "./retention-check.ts"
import { type DemoRequest, type DemoState, initialState } from "./state.ts"

const MODEL = "claude-opus-5-5" // $4 a million in, $5 to write to the cache, $0.20 to read from it, $20 out
const thresholds = resolveThresholds({
  window: 60_000,
  facts: findModel(MODEL).facts,
  maxOutput: 32_000,
  autoCompact: true,
})

const REQUESTS: readonly DemoRequest[] = [
  { sent: 10_000, everything: 10_000, output: 100 },
  { sent: 20_000, everything: 50_000, output: 100 },
  { sent: 20_000, everything: 90_000, output: 100 },
]

const FACTS: readonly RetainedFacts[] = [
  { kind: "messages", all: 6, inView: 6, recalled: 0, inLastWindow: 2 },
  { kind: "rules", all: 2, inView: 1, recalled: 1, inLastWindow: 1 },
  { kind: "changes", all: 0, inView: 0, recalled: 0, inLastWindow: 0 },
  { kind: "results", all: 178, inView: 9, recalled: 169, inLastWindow: 31 },
]

const stateWith = (requests: readonly DemoRequest[], dollars = 0.25): DemoState => ({
  ...initialState({ model: MODEL, thresholds, planned: 3 }),
  requests,
  spent: summaryOf({
    requests: 3,
    dollars,
    counts: { input: 0, output: 300, cacheRead: 30_000, cacheWrite5m: 20_000, cacheWrite1h: 0 },
  }),
})

describe("with and without Strata", () => {
  it("resends everything without it: the previous request from the cache, the rest written to it", () => {
    const { withStrata, without, fullAt } = compare(stateWith(REQUESTS))
    expect(withStrata).toEqual({ tokens: 50_000, dollars: 0.25, largest: 20_000 })
    expect(without).toMatchObject({ tokens: 150_000, largest: 90_000 })
    expect(without.dollars).toBeCloseTo((90_000 * 5 + 60_000 * 0.2 + 300 * 20) / 1_000_000, 10)
    expect(fullAt).toBe(3)
  })

  it("reads as one table and one sentence", () => {
    expect(
      `\n${comparisonLines(stateWith(REQUESTS), { style, width: 80, facts: FACTS }).join("\n")}\n`,
    ).toMatchInlineSnapshot(`
      "
      The same work, with and without Strata
                                       with Strata    without
        tokens sent                          50.0K       150K
        cost                               $0.2500    $0.4680
        largest request                      20.0K      90.0K
        windows of 60.0K                         1        1.5
        turns that fit                       all 3          2
        your messages                    6 in view     2 of 6
        your rules          1 in view, 1 by recall     1 of 2
        tool results      9 in view, 169 by recall  31 of 178

        Without Strata the window of 60.0K is full at turn 3. Going on without it
        loses 4 of your 6 messages, 1 of your 2 rules and 147 of 178 tool results.
        With Strata all 3 turns fit, and everything is in view or found by recall.
        Strata cost 53% of resending everything in an endless window.
        Without: each request carries all that this run sent or removed, at the same
        prices, with a perfect cache. A full window drops its oldest messages.
        With: the ledger of the first conversation. Recall finds what is out of view.
      "
    `)
  })

  it("says how many are lost with Strata too, should there be any", () => {
    const facts = [{ kind: "messages", all: 6, inView: 2, recalled: 3, inLastWindow: 6 }] as const
    const text = comparisonLines(stateWith(REQUESTS), { style, width: 80, facts }).join(" ").replace(/\s+/g, " ")
    expect(text).toContain("is full at turn 3. With Strata all 3 turns fit, and 1 is lost.")
  })

  it("says so if the run fits the window anyway, and if Strata cost more", () => {
    const text = comparisonLines(stateWith(REQUESTS.slice(0, 2), 0.5), { style, width: 80, facts: [] })
      .join(" ")
      .replace(/\s+/g, " ")
    expect(text).toContain("short enough to fit the window without Strata too")
    expect(text).toMatch(/Strata cost \d+% more than resending everything in an endless window\./)
    expect(text).toMatch(/turns that fit all 2 all 2/)
  })
})
