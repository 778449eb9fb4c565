import type { Calibration } from "@strata/transcripts/replay"
import { expect, test } from "vitest"
import { summarised } from "./summary.ts"

const calibration = (more: Partial<Calibration>): Calibration => ({
  unit: "dollars",
  requests: 10,
  incidents: 0,
  bill: 10,
  expected: 10,
  modelled: 10,
  ratios: { expected: 1, modelled: 1 },
  isWithin5Percent: { expected: true, modelled: true },
  unexplained: 0,
  parts: [],
  ...more,
})

test("BEY-7 the calibrations of a set: how many are close, and what each cause adds to a bill on average", () => {
  const lost = calibration({
    incidents: 1,
    expected: 8,
    isWithin5Percent: { expected: false, modelled: true },
    parts: [{ cause: "all-lost", about: "", requests: 1, tokens: 90_000, amount: 2 }],
  })
  const all = [calibration({}), lost].map((each, i) => ({ recording: `${i}`, model: "m", calibration: each }))
  expect(summarised(all)).toMatchObject({
    recordings: 2,
    requests: 20,
    incidents: 1,
    within5Percent: { expected: 1, modelled: 2 },
    causes: [{ cause: "all-lost", recordings: 1, requests: 1, tokens: 90_000, ofBill: 0.1 }],
  })
})
