import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { SAMPLE_TEXTS } from "../../test/sample-texts.ts"
import { createCalibration, createEstimator, type EstimateParts, measureText } from "./estimate.ts"

const claude = () => createCalibration({ family: "claude-4" })

/** Windows of varying size in which the actual size of prose is 0.8 and of code 1.3 times the estimate. */
function teach(calibration: ReturnType<typeof claude>, windows: number): void {
  for (let index = 0; index < windows; index++) {
    const parts = { prose: 200 + (index % 7) * 150, code: (index % 3) * 400 }
    calibration.learn(parts, parts.prose * 0.8 + parts.code * 1.3)
  }
}

describe("TOK-5: calibration", () => {
  test("learns a correction for each class", () => {
    const calibration = claude()
    teach(calibration, 60)
    expect(calibration.state().parts.prose?.correction).toBeCloseTo(0.8, 1)
    expect(calibration.state().parts.code?.correction).toBeCloseTo(1.3, 1)
  })

  test("a class that was not observed keeps its default", () => {
    const calibration = claude()
    teach(calibration, 40)
    expect(calibration.predict({ script: 500 })).toBe(500)
    expect(calibration.state().parts.script).toBeUndefined()
  })

  test("three windows are enough to come closer", () => {
    const calibration = claude()
    teach(calibration, 3)
    expect(calibration.predict({ prose: 1_000 })).toBeLessThan(965)
  })

  test.each([
    ["nothing of it was counted", 1],
    ["unseen content was included", 60_000],
  ])("one bad observation does no harm: %s", (_, actual) => {
    const calibration = claude()
    teach(calibration, 20)
    const before = calibration.predict({ prose: 1_000, code: 1_000 })
    calibration.learn({ prose: 1_000, code: 1_000 }, actual)
    expect(calibration.predict({ prose: 1_000, code: 1_000 })).toBe(before)
  })

  test("another tokenizer under the same name is learnt", () => {
    const calibration = claude()
    teach(calibration, 20)
    for (let index = 0; index < 200; index++) calibration.learn({ prose: 800 }, 800 * 1.4)
    expect(calibration.predict({ prose: 1_000 })).toBeGreaterThan(1_250)
  })

  test("what tells nothing is passed over", () => {
    const calibration = claude()
    for (const actual of [0, -500, Number.NaN, Number.POSITIVE_INFINITY]) calibration.learn({ prose: 100 }, actual)
    calibration.learn({}, 100)
    expect(calibration.state().observations).toBe(0)
  })

  test("no observations lead a correction out of half to double", () => {
    const anyParts = fc.dictionary(
      fc.constantFrom("prose", "code", "json", "framing"),
      fc.integer({ min: 0, max: 100_000 }),
    )
    fc.assert(
      fc.property(fc.array(fc.tuple(anyParts, fc.integer({ min: -10, max: 1_000_000 }))), (windows) => {
        const calibration = claude()
        for (const [parts, actual] of windows) calibration.learn(parts, actual)
        for (const { correction } of Object.values(calibration.state().parts)) {
          expect(correction).toBeGreaterThanOrEqual(0.5)
          expect(correction).toBeLessThanOrEqual(2)
        }
      }),
    )
  })

  test("goes on from its stored state as if it had never stopped", () => {
    const [whole, first] = [claude(), claude()]
    const window: EstimateParts = { prose: 700, code: 90 }
    teach(whole, 10)
    teach(first, 10)
    const resumed = createCalibration({ family: "claude-4", state: JSON.parse(JSON.stringify(first.state())) })
    for (const calibration of [whole, resumed]) calibration.learn(window, 900)
    expect(resumed.state()).toEqual(whole.state())
    expect(resumed.predict(window)).toBe(whole.predict(window))
  })

  test("the state of another family is not taken over", () => {
    const calibration = claude()
    teach(calibration, 10)
    const other = createCalibration({ family: "gpt-5", state: calibration.state() })
    expect(other.predict({ prose: 1_000 })).toBe(1_000)
  })

  test("the estimator of an unknown model keeps TOK-3 until it has learnt otherwise", () => {
    const estimator = createEstimator("unknown")
    const measure = measureText(SAMPLE_TEXTS.prose)
    const plain = (Buffer.byteLength(SAMPLE_TEXTS.prose) / 4) * (4 / 3)
    expect(estimator.tokens(measure)).toBeCloseTo(plain, 6)
    for (let index = 0; index < 30; index++) estimator.learn({ measure, actual: plain * 0.7 })
    expect(estimator.tokens(measure) / plain).toBeCloseTo(0.7, 1)
    const resumed = createEstimator("unknown", estimator.state())
    expect(resumed.tokens(measure)).toBe(estimator.tokens(measure))
  })
})
