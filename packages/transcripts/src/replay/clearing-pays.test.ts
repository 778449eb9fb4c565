/**
 * L2-10 as a property: layers 1 and 2 never increase the cost. It holds for work that continues for at least 20 requests after the last
 * clearing, in a context below the compaction threshold. Both runs get the same responses. Sizes of results and thinking, tools, pauses and
 * the server's help vary.
 * Beyond the threshold it does not hold: a clearing that replaces a compaction counts as free, and a replay compacts nothing.
 */
import type { ModelOverride } from "@strata/core/tokens"
import fc from "fast-check"
import { expect, test } from "vitest"
import { everyNth, isWhole, size } from "../../../core/test/size.ts"
import { type WorkRound, workload } from "../../../core/test/workloads.ts"
import { AS_RECORDED, STRATA } from "./policies/clearing-only.ts"
import { type ReplayReport, replay } from "./replay.ts"
import type { PolicyAction } from "./replayed-actions.ts"

const HORIZON = 20 // `expected-turns`
const RUNS = Number(process.env.FUZZ_RUNS ?? size(3, 6))
const SEED = process.env.FUZZ_SEED === undefined ? 1 : Number(process.env.FUZZ_SEED)
const WINDOW = 200_000
const THRESHOLD = WINDOW - 32_000 - 13_000 // less the output reserve of a model that must fit its response, and the buffer

const PRICE = { input: 4, output: 20, cacheWrite5m: 5, cacheWrite1h: 8, cacheRead: 0.4 }
const MODELS: Readonly<Record<string, ModelOverride>> = {
  helped: { window: WINDOW, price: PRICE, accepts: { contextManagement: true } },
  alone: { window: WINDOW, price: PRICE, accepts: { contextManagement: false } },
  bound: { window: WINDOW, price: PRICE, accepts: { contextManagement: false, boundThinking: true } },
  cheap: { window: WINDOW, price: { ...PRICE, cacheRead: 0.1 }, accepts: { contextManagement: false } },
}

const round: fc.Arbitrary<WorkRound> = fc.record({
  tool: fc.constantFrom("Read", "Bash", "Grep", "Edit", "mcp__tracker__list"),
  result: fc.oneof(
    { weight: 4, arbitrary: fc.integer({ min: 0, max: 4_000 }) },
    { weight: 5, arbitrary: fc.integer({ min: 4_000, max: 40_000 }) },
    { weight: 1, arbitrary: fc.integer({ min: 40_000, max: 120_000 }) },
  ),
  thinking: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 3_000 })),
  pauseMinutes: fc.oneof(
    { weight: 12, arbitrary: fc.constant(0) },
    { weight: 2, arbitrary: fc.integer({ min: 1, max: 4 }) },
    { weight: 1, arbitrary: fc.integer({ min: 6, max: 200 }) },
  ),
})
const small: WorkRound = { tool: "Bash", result: 200 }
const work = fc.record({
  model: fc.constantFrom(...Object.keys(MODELS)),
  rounds: fc.array(round, { minLength: 5, maxLength: 60, size: "max" }),
})

/** Context size before an action. */
const sizeBefore = ({ turn, tokens }: PolicyAction, { requests }: ReplayReport) =>
  (requests[turn - 1]?.context ?? 0) + tokens

test.runIf(isWhole)(
  "L2-10 clearing pays: work that goes on for 20 requests after the last clearing never costs more than sending everything",
  async () => {
    let acted = 0
    await fc.assert(
      fc.asyncProperty(work, async ({ model, rounds }) => {
        const goesOn = Array.from({ length: HORIZON + 1 }, () => small)
        const entries = workload([...rounds, ...goesOn], { model })
        const { reports } = await replay({ entries, model }, { policies: [AS_RECORDED, STRATA], models: MODELS })
        const [nothing, ours] = [reports[0]!, reports[1]!]
        fc.pre(ours.totals.peak < THRESHOLD && ours.actions.every((action) => sizeBefore(action, ours) < THRESHOLD))
        fc.pre(ours.requests.length - (ours.actions.at(-1)?.turn ?? 0) >= HORIZON)
        if (ours.actions.length > 0) acted++
        expect(ours.failures).toEqual([])
        expect(ours.totals.dollars).toBeLessThanOrEqual(nothing.totals.dollars! * (1 + Number.EPSILON * 1_000))
      }),
      { numRuns: RUNS, seed: SEED, endOnFailure: true },
    )
    expect(acted).toBeGreaterThan(RUNS / 4) // the property was really tested
  },
)

const PARTS = [
  ["three quarters", 30_000, 10_000],
  ["half", 20_000, 20_000],
] as const

test.each(everyNth(PARTS, PARTS.length))(
  "L2-5, L2-10 in a large window, where %s of the results can be cleared, the server clears in batches that pay",
  async (_part, clearable, other) => {
    const rounds = Array.from({ length: 60 }, (): WorkRound[] => [
      { tool: "mcp__tracker__list", result: other },
      { tool: "Bash", result: clearable },
    ]).flat()
    const models = { roomy: { window: 1_000_000, price: PRICE, accepts: { contextManagement: true } } }
    const entries = workload(rounds, { model: "roomy" })
    const { reports } = await replay({ entries, model: "roomy" }, { policies: [AS_RECORDED, STRATA], models })
    const [nothing, ours] = [reports[0]!, reports[1]!]
    expect(ours.actions.length).toBeGreaterThan(1)
    expect(ours.actions.length).toBeLessThan(8)
    expect(ours.totals.dollars).toBeLessThan(0.9 * nothing.totals.dollars!)
  },
)
