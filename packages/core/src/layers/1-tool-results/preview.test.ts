import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { previewOf } from "./preview.ts"

const shown = (text: string, size: number) => {
  const { head, tail, ...rest } = previewOf(text, size)
  return { head: text.slice(0, head), tail: tail > 0 ? text.slice(-tail) : "", ...rest }
}

describe("L1-2 the preview", () => {
  test("beginning and end, cut at line ends", () => {
    const text = Array.from({ length: 1_000 }, (_, i) => `line ${i}`).join("\n")
    const { head, tail, cut } = shown(text, 200)
    expect(cut).toBe("line-end")
    expect(head.split("\n").at(-1)).toBe("line 25")
    expect(tail).toBe("line 995\nline 996\nline 997\nline 998\nline 999")
  })

  test("a single endless line is cut, and the preview says so", () => {
    const { head, tail, cut } = shown("x".repeat(10_000), 2_000)
    expect({ head: head.length, tail: tail.length, cut }).toEqual({ head: 2_000, tail: 500, cut: "mid-line" })
  })

  test("JSON shows what it is made of", () => {
    const items = Array.from({ length: 1_204 }, (_, id) => ({ id, name: `n${id}`, tags: [] }))
    expect(shown(JSON.stringify({ items, total: 1_204, next: null }), 200).shape).toBe(
      '{"items": [1204 × {"id": number, "name": string, "tags": []}], "total": number, "next": null}',
    )
    expect(shown("{ not json", 200).shape).toBeUndefined()
    expect(shown("plain text", 200).shape).toBeUndefined()
  })

  test("property: never half a character, never more than was asked for, never the same character twice", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 400 }), fc.integer({ min: 4, max: 100 }), (text, size) => {
        const { head, tail } = previewOf(text, size)
        expect(head + tail).toBeLessThanOrEqual(Math.min(text.length, size * 1.25))
        expect(text.slice(0, head).isWellFormed()).toBe(true)
        expect(text.slice(text.length - tail).isWellFormed()).toBe(true)
      }),
    )
  })
})
