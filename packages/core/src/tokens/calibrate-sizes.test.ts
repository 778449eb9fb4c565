import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { calibrateSizes } from "./context-size.ts"

const FRESH = { prompt: { tokens: 5_000, estimate: 5_000, isMeasured: false }, factor: 1 }
const MEASURED = { prompt: { tokens: 6_500, estimate: 5_000, isMeasured: true }, factor: 1 }

describe("TOK-9 the running factor", () => {
  test("the first response measures the prompt, and says nothing about messages", () => {
    expect(calibrateSizes({ ...FRESH, counted: 6_550, messages: 50 })).toEqual({ prompt: 6_500, factor: 1 })
  })

  test("later ones leave the prompt as it is, and the messages take the difference", () => {
    expect(calibrateSizes({ ...MEASURED, counted: 106_500, messages: 80_000 })).toEqual({ prompt: 6_500, factor: 1.25 })
  })

  test("a few messages hardly change the factor", () => {
    const { prompt, factor } = calibrateSizes({ ...MEASURED, counted: 6_600, messages: 50 })
    expect(factor).toBeCloseTo(1.0125)
    expect(prompt + 50 * factor).toBeCloseTo(6_600)
  })

  test("a conversation that comes with many messages is off as a whole", () => {
    expect(calibrateSizes({ ...FRESH, counted: 84_000, messages: 65_000 })).toEqual({ prompt: 6_000, factor: 1.2 })
  })

  test("a count that cannot be right changes nothing", () => {
    expect(calibrateSizes({ ...MEASURED, counted: 1_010, messages: 50_000 })).toEqual({ prompt: 6_500, factor: 1 })
  })

  test("the parts add up to every plausible count, and none is negative", () => {
    const anyCount = fc.record({
      counted: fc.integer({ min: 1, max: 1_000_000 }),
      messages: fc.integer({ min: 0, max: 1_000_000 }),
      factor: fc.double({ min: 0.5, max: 2, noNaN: true }),
      prompt: fc
        .record({ estimate: fc.integer({ min: 1, max: 50_000 }), ratio: fc.double({ min: 0.5, max: 2, noNaN: true }) })
        .chain(({ estimate, ratio }) =>
          fc
            .boolean()
            .map((isMeasured) => ({ estimate, isMeasured, tokens: isMeasured ? estimate * ratio : estimate })),
        ),
    })
    fc.assert(
      fc.property(anyCount, (given) => {
        const { prompt, factor } = calibrateSizes(given)
        expect(prompt).toBeGreaterThan(0)
        expect(factor).toBeGreaterThanOrEqual(0.5)
        expect(factor).toBeLessThanOrEqual(2)
        const isUnchanged = prompt === given.prompt.tokens && factor === given.factor
        const whole = prompt + factor * given.messages
        const isLarge = given.prompt.tokens + given.factor * given.messages >= 4_000
        if (!isUnchanged && isLarge) expect(Math.abs(whole - given.counted)).toBeLessThan(1)
      }),
    )
  })
})
