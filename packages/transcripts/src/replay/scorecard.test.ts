import { describe, expect, test } from "vitest"
import { isWhole } from "../../../core/test/size.ts"
import { workload } from "../../../core/test/workloads.ts"
import { claudeStyle } from "./policies/all.ts"
import { none } from "./policies/none.ts"
import { strata } from "./policies/strata.ts"
import { type Replay, type ReplayInput, replay } from "./replay.ts"
import { scorecard } from "./scorecard.ts"

const WINDOW = 40_000
const ROUNDS = Array.from({ length: 24 }, () => ({ tool: "Read", result: 8_000 }))
const POLICIES = [none, claudeStyle, strata]

const replayed = (input: ReplayInput = {}, model = "claude-opus-4-6"): Promise<Replay> =>
  replay({ entries: workload(ROUNDS, { model }), model }, { window: WINDOW, policies: POLICIES, ...input })

const ran: string[] = []
const PRICED = replayed({
  around: (policy, run) => {
    ran.push(policy.name)
    return run()
  },
})
const without = (found: Replay, name: string) => ({
  ...found,
  reports: found.reports.filter(({ policy }) => policy !== name),
})

describe("BEY-7 the scorecard", () => {
  test.runIf(isWhole)(
    "adds up what policies cost over several recordings, and divides it by the references",
    async () => {
      const one = await PRICED
      expect(ran).toEqual(["none", "claude-style", "strata"]) // each policy runs once
      const { unit, conversations, scores } = scorecard([{ replay: one }, { replay: one }])
      expect([unit, conversations]).toEqual(["dollars", 2])
      expect(scores.map(({ policy }) => policy)).toEqual(["none", "claude-style", "strata"])
      scores.forEach((score, i) => {
        const { totals } = one.reports[i]!
        expect(score.cost).toBeCloseTo(2 * totals.dollars!, 9)
        expect(score.relative.none).toBeCloseTo(totals.dollars! / one.reports[0]!.totals.dollars!, 9)
        expect(score.relative["claude-style"]).toBeCloseTo(totals.dollars! / one.reports[1]!.totals.dollars!, 9)
        expect(score.relative).not.toHaveProperty("optimum")
        expect(score).toMatchObject({
          peak: totals.peak,
          compactions: 2 * totals.compactions,
          invalid: 2 * totals.invalid,
        })
        expect(score.hitRatio).toBeCloseTo(totals.hitRatio, 9)
      })
      expect(scores[0]).toMatchObject({ relative: { none: 1 }, compactions: 0, trailRecall: { count: 0, of: 0 } })
      expect(scores[0]!.invalid).toBeGreaterThan(0)
    },
  )

  test("compares in weighed tokens where one price is unknown", async () => {
    const [priced, unpriced] = [await PRICED, await replayed({ policies: [none] }, "some-model")]
    const { unit, scores } = scorecard([{ replay: priced }, { replay: unpriced }])
    expect(unit).toBe("tokens")
    expect(scores[0]!.cost).toBe(priced.reports[0]!.totals.weighed + unpriced.reports[0]!.totals.weighed)
  })

  test("leaves out a policy that one replay does not have, and times that were not measured", async () => {
    const [all, some] = [await PRICED, without(await PRICED, "claude-style")]
    const times = { none: 1, strata: 2 }
    const { scores } = scorecard([{ replay: all, processingMs: times }, { replay: some }])
    expect(scores.map(({ policy }) => policy)).toEqual(["none", "strata"])
    expect(scores[1]).not.toHaveProperty("processingMs")
    const measured = scorecard([
      { replay: all, processingMs: times },
      { replay: some, processingMs: times },
    ])
    expect(measured.scores.map(({ processingMs }) => processingMs)).toEqual([2, 4])
  })

  test("counts names in view and within a search, and knows no share of nothing", async () => {
    const found = await PRICED
    const report = found.reports[2]!
    const counted = (usedAgain: Partial<typeof report.usedAgain>) => ({
      replay: { ...found, reports: [{ ...report, usedAgain: { ...report.usedAgain, ...usedAgain } }] },
    })
    const names = [counted({ names: 10, inView: 6, found: 3 }), counted({ names: 10, inView: 8, found: 2 })]
    expect(scorecard(names).scores[0]).toMatchObject({
      namesInView: { count: 14, of: 20, share: 0.7 },
      namesWithinSearch: { count: 19, of: 20, share: 0.95 },
    })
    expect(scorecard([counted({ names: 0, inView: 0 })]).scores[0]!.namesInView).toEqual({ count: 0, of: 0 })
    expect(scorecard([]).scores).toEqual([])
  })
})
