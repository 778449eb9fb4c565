import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { createEstimator } from "../../tokens/estimate.ts"
import { cutText, largest } from "./cut.ts"

const byCharacter = (text: string) => text.length

describe("text cut to tokens", () => {
  test("stays as it is where it fits, else is cut at the last line end", () => {
    const cut = (limit: number) => cutText({ text: "one\ntwo\nthree", limit, estimate: byCharacter })
    expect([13, 12, 8, 7, 4].map(cut)).toEqual(["one\ntwo\nthree", "one\ntwo", "one\ntwo", "one\ntwo", "one"])
  })

  test("is cut inside a line where there is no line end, but not inside a character", () => {
    expect(cutText({ text: "abcdef", limit: 4, estimate: byCharacter })).toBe("abcd")
    expect(cutText({ text: "ab😀😀", limit: 5, estimate: byCharacter })).toBe("ab😀")
  })

  test("property: a beginning of the text, well-formed, that fits", () => {
    const { text: estimate } = createEstimator("claude-5")
    const texts = fc.string({ unit: fc.constantFrom("a", " ", "\n", "好", "😀", "`", "x1"), maxLength: 400 })
    fc.assert(
      fc.property(texts, fc.nat(60), (text, limit) => {
        const cut = cutText({ text, limit, estimate })
        expect(text.startsWith(cut)).toBe(true)
        expect(cut.isWellFormed()).toBe(true)
        expect(cut === "" || estimate(cut) <= limit).toBe(true)
        if (estimate(text) <= limit) expect(cut).toBe(text)
      }),
    )
  })

  test("the largest number that holds", () => {
    for (const border of [0, 1, 7, 99, 100]) expect(largest(100, (count) => count <= border)).toBe(border)
    expect(largest(0, () => true)).toBe(0)
  })
})
