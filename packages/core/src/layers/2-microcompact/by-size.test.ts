import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { size } from "../../../test/size.ts"
import { findModel } from "../../tokens/models.ts"
import {
  addResult,
  addThinking,
  type CachePrices,
  type ClearableContent,
  type ClearableResult,
  type ClearingSize,
  cachePrices,
  paybackTurns,
  type SentThinking,
} from "./clearable-content.ts"
import { planBySize, type SizeFigures, type SizeInput } from "./clearing.ts"

const FIGURES: SizeFigures = { keep: 40_000, min: 20_000, protect: 3 }
const PRICES = { write: 1.25, read: 0.1 }
const COLD = { state: "cold", reason: "idle" } as const

/** Additional cost of a clearing after the given number of later turns, in tokens of plain input. Negative once it has paid off. */
function extraCost({ removed, after }: ClearingSize, { write, read }: CachePrices, turns: number): number {
  return after * (write - read) - removed * read * (turns + 1) // the request that clears saves its first read
}

/** A conversation of results of these sizes, each followed by the given amount of other content. */
function surveyOf(sizes: readonly number[], { between = 0, thinking = 0 } = {}): ClearableContent {
  const results: ClearableResult[] = []
  const thoughts: SentThinking[] = []
  let before = 0
  for (const [i, tokens] of sizes.entries()) {
    if (thinking > 0) addThinking(thoughts, { tokens: thinking, before })
    before += thinking
    addResult(results, { toolUseId: `r${i}`, tokens, saving: tokens - 30, before })
    before += tokens + between
  }
  return { results, thinking: thoughts, memories: [], deleted: [], withUserText: [], tokens: before, scale: 1 }
}

const plan = (survey: ClearableContent, more: Partial<SizeInput> = {}) =>
  planBySize({
    survey,
    figures: FIGURES,
    cache: { state: "warm" },
    prices: PRICES,
    compacts: true,
    horizon: () => 20,
    boundThinking: false,
    ...more,
  })

describe("L2-10 payback", () => {
  test("the formula of the requirement: 11.5·S/D − 1 at usual prices", () => {
    expect(paybackTurns({ removed: 20_000, after: 20_000 }, PRICES)).toBeCloseTo(10.5)
    expect(paybackTurns({ removed: 20_000, after: 40_000 }, PRICES)).toBeCloseTo(22)
  })

  test("prices are the model's own; usual ones where none is known", () => {
    const short = { tokens: 1, lifetime: "5m" } as const
    expect(cachePrices(findModel("claude-opus-5-5").facts, short)).toEqual({ write: 1.25, read: 0.05 })
    expect(cachePrices(findModel("nobody-knows").facts, short)).toEqual(PRICES)
    const free = { input: 0, output: 0, cacheWrite5m: 0, cacheWrite1h: 0, cacheRead: 0 } // a model on one's own machine
    expect(cachePrices({ ...findModel("nobody-knows").facts, price: free }, short)).toEqual(PRICES)
    expect(cachePrices(findModel("claude-haiku-5-5").facts, { ...short, tokens: 200_000 })).toEqual({
      write: 1.25,
      read: 0.1,
    })
    for (const model of ["claude-opus-4-6", "nobody-knows"])
      expect(cachePrices(findModel(model).facts, { ...short, lifetime: "1h" })).toEqual({ write: 2, read: 0.1 })
  })

  test("it has paid exactly when the extra cost is gone", () => {
    const clearing = { removed: 30_000, after: 45_000 }
    const turns = paybackTurns(clearing, PRICES)
    expect(extraCost(clearing, PRICES, turns)).toBeCloseTo(0)
    expect(extraCost(clearing, PRICES, turns + 1)).toBeLessThan(0)
  })
})

describe("L2-6 clearing by size", () => {
  test("oldest first, until the rest is small enough, never the newest three", () => {
    expect(plan(surveyOf(Array(10).fill(20_000)))).toMatchObject({
      clears: true,
      selection: { toolUseIds: ["r0", "r1", "r2", "r3", "r4", "r5", "r6"] },
    })
    expect(plan(surveyOf([50_000, 5_000, 30_000, 1_000, 1_000, 1_000]))).toMatchObject({
      selection: { toolUseIds: ["r0"] },
    })
  })

  test("L4-38 what later work has overtaken goes first, and more of the old results stay", () => {
    const survey = surveyOf(Array(10).fill(20_000))
    const overtaken = new Set(["r3", "r5", "r8"]) // r8 is one of the newest three
    expect(plan(survey, { overtaken, figures: { ...FIGURES, keep: 120_000 } })).toMatchObject({
      selection: { toolUseIds: ["r0", "r1", "r3", "r5"] },
    })
    expect(plan(survey, { overtaken, figures: { ...FIGURES, keep: 170_000 }, cache: COLD })).toMatchObject({
      selection: { toolUseIds: ["r3", "r5"] },
    })
    expect(plan(survey, { overtaken })).toEqual(plan(survey)) // all that may go is needed
  })

  test("not where there is little to clear or little to save", () => {
    expect(plan(surveyOf([20_000, 10_000, 5_000, 5_000]))).toEqual({ clears: false, reason: "little to clear" })
    expect(plan(surveyOf([19_000, 20_000, 20_000, 20_000]))).toEqual({ clears: false, reason: "little to save" })
  })

  test("L2-10 from a warm cache only where it pays; from a cold one, or one about to be lost, always", () => {
    const costly = surveyOf([30_000, 20_000, 10_000, 10_000], { between: 40_000 })
    expect(plan(costly)).toMatchObject({ clears: false, reason: "does not pay" })
    expect(plan(costly, { cache: { state: "cold", reason: "idle" } })).toMatchObject({ clears: true, payback: 0 })
    expect(plan(costly, { cache: { state: "leaving", excess: 0 } })).toMatchObject({ clears: true, payback: 0 })
  })

  test("L2-10 not in place of a compaction that comes all the same", () => {
    const survey = surveyOf(Array(8).fill(20_000))
    const removed = 5 * 19_970
    const full = (excess: number) => plan(survey, { cache: { state: "leaving", excess } })
    expect(full(removed - 1)).toMatchObject({ clears: true })
    expect(full(removed)).toEqual({ clears: false, reason: "compacted all the same" })
    expect(plan(survey, { cache: { state: "leaving", excess: removed }, compacts: false })).toMatchObject({
      clears: true,
    })
    expect(plan({ ...survey, scale: 0.9 }, { cache: { state: "leaving", excess: removed - 1 } })).toMatchObject({
      reason: "compacted all the same",
    })
  })

  test("L2-10 the turns that remain are those until the window is full again", () => {
    const survey = surveyOf(Array(10).fill(20_000))
    const asked: number[] = []
    const within = (turns: number) =>
      plan(survey, {
        horizon: (removed) => {
          asked.push(removed)
          return turns
        },
      })
    expect(within(5)).toMatchObject({ clears: true })
    expect(within(3)).toMatchObject({ clears: false, reason: "does not pay" })
    expect(asked).toEqual([7 * 19_970, 7 * 19_970])
  })

  test("L2-7 memories before the newest result are cleared too; one that is smaller than its marker stays", () => {
    const survey = surveyOf(Array(8).fill(20_000))
    const memory = (uuid: string, before: number, saving: number) => ({ uuid, before, saving })
    const memories = [memory("old", 5, 500), memory("small", 6, -2), memory("new", survey.tokens, 500)]
    const found = plan({ ...survey, memories })
    expect(found).toMatchObject({ selection: { memories: ["old"] }, change: { removed: 5 * 19_970 + 500 } })
  })

  test("L2-3 what was deleted in the cache is cleared along, and the cache breaks there", () => {
    const survey = surveyOf(Array(8).fill(20_000))
    const deleted = [{ toolUseId: "gone", before: 0 }]
    const results: ClearableResult[] = []
    for (const result of survey.results) addResult(results, { ...result, before: result.before + 9_000 })
    const found = plan({ ...survey, results, deleted, tokens: survey.tokens + 9_000 })
    expect(found).toMatchObject({
      selection: { toolUseIds: ["gone", "r0", "r1", "r2", "r3", "r4"] },
      change: { removed: 5 * 19_970, after: survey.tokens + 9_000 - 5 * 19_970 },
    })
  })

  test("L2-6 a batch that does not pay is found without a look at every result", () => {
    const looks = (count: number) => {
      const survey = surveyOf(Array(count).fill(100), { thinking: 10 })
      let reads = 0
      const counted = <T extends object>(list: T): T =>
        new Proxy(list, {
          get: (target, key) => {
            reads++
            return Reflect.get(target, key)
          },
        })
      const given = { ...survey, results: counted(survey.results), thinking: counted(survey.thinking) }
      expect(plan(given, { horizon: () => 0, boundThinking: true })).toMatchObject({ reason: "does not pay" })
      return reads
    }
    expect(looks(10_000)).toBeLessThan(looks(1_000) + 10) // one more halving for each doubling
  })

  test("sizes count as calibration has them", () => {
    const survey = surveyOf(Array(10).fill(5_000))
    expect(plan(survey)).toEqual({ clears: false, reason: "little to save" })
    expect(plan({ ...survey, scale: 4 })).toMatchObject({ clears: true })
  })

  test("L2-11 bound thinking is cleared too: its first place is where the cache breaks", () => {
    const change = (boundThinking: boolean) => {
      const found = plan(surveyOf(Array(8).fill(20_000), { thinking: 1_000 }), { boundThinking })
      return found.clears ? found.change : undefined
    }
    const results = 5 * 19_970
    expect(change(false)).toEqual({ removed: results, after: 8 * 21_000 - 1_000 - results, dropsThinking: false })
    expect(change(true)).toEqual({
      removed: results + 8_000,
      after: 8 * 21_000 - results - 8_000,
      dropsThinking: true,
    })
  })

  const workload = fc.record({
    sizes: fc.array(fc.integer({ min: 1, max: 60_000 }), { maxLength: 30 }),
    between: fc.nat(20_000),
    thinking: fc.nat(2_000),
    boundThinking: fc.boolean(),
    horizon: fc.nat(60),
    overtaken: fc.option(
      fc.nat(29).chain((nth) => fc.constant(new Set([`r${nth}`, `r${nth + 2}`]))),
      { nil: undefined },
    ),
    read: fc.double({ min: 0.01, max: 0.5, noNaN: true }),
  })

  test("L2-10 property: no clearing from a warm cache whose payback exceeds the horizon, and none that costs more than doing nothing", () => {
    fc.assert(
      fc.property(workload, ({ sizes, between, thinking, boundThinking, horizon, overtaken, read }) => {
        const prices = { write: 1.25, read }
        const survey = surveyOf(sizes, { between, thinking })
        const found = plan(survey, {
          horizon: () => horizon,
          prices,
          boundThinking,
          ...(overtaken ? { overtaken } : {}),
        })
        if (!found.clears) return
        expect(paybackTurns(found.change, prices)).toBeLessThanOrEqual(horizon)
        expect(extraCost(found.change, prices, horizon)).toBeLessThanOrEqual(1e-6)
        const newest = survey.results.slice(-FIGURES.protect).map(({ toolUseId }) => toolUseId)
        expect(found.selection.toolUseIds.some((id) => newest.includes(id))).toBe(false)
        expect(found.change.after).toBeGreaterThanOrEqual(0)
      }),
      { numRuns: size(50, 1_000) },
    )
  })
})
