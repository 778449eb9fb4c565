import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { createEstimator } from "../../../tokens/estimate.ts"
import type { FileRead } from "../../../tools/tool.ts"
import { pageOf, sizeOf } from "./files.ts"

const { text: estimate } = createEstimator("claude-5")
const now = new Date("2026-02-02T00:00:00.000Z")
const page = (text: string, limit: number, range?: FileRead["range"]) => {
  const read: FileRead = { content: "old", modifiedMs: 1, at: "2026-01-01T00:00:00.000Z", ...(range && { range }) }
  return pageOf({ candidate: { path: "/a", read }, file: { text, modifiedMs: 2 }, limit, estimate, now })
}
const contentOf = ({ attachment }: ReturnType<typeof page>) => (attachment.type === "file" ? attachment.content : "")
const numbered = (count: number) => Array.from({ length: count }, (_, i) => `the line ${i + 1}`).join("\n")

describe("L4-20 a file shown again", () => {
  test("whole, with numbered lines, and counts as read whole as it is now", () => {
    expect(page("one\r\ntwo\n", 1_000)).toMatchObject({
      attachment: { type: "file", path: "/a", content: "     1\tone\n     2\ttwo" },
      read: ["/a", { content: "one\r\ntwo\n", modifiedMs: 2, at: now.toISOString() }],
    })
    expect(page("one", 1_000).read?.[1]).not.toHaveProperty("range")
    expect(contentOf(page("", 1_000))).toBe("[The file is empty.]")
  })

  test("over the limit it is cut at a line end, says how to go on, and counts as read in part", () => {
    const shown = page(numbered(1_000), 300)
    const lines = contentOf(shown).split("\n")
    const count = lines.length - 1
    expect(count).toBeGreaterThan(10)
    expect(lines[count - 1]).toBe(`${String(count).padStart(6)}\tthe line ${count}`)
    expect(lines[count]).toBe(`[Lines 1-${count} of 1000. The file goes on: Read it with offset ${count + 1}.]`)
    expect(shown.read?.[1].range).toEqual({ offset: 1, limit: count })
    expect(shown.read?.[1].content).toBe(numbered(1_000))
  })

  test("a file of which a later part was read is shown from there on", () => {
    const lines = contentOf(page(numbered(1_000), 300, { offset: 500, limit: 20 })).split("\n")
    expect(lines[0]).toBe("[Lines 1-499 come before and are not shown here.]")
    expect(lines[1]).toBe("   500\tthe line 500")
    expect(page(numbered(1_000), 300, { offset: 500, limit: 20 }).read?.[1].range).toEqual({
      offset: 500,
      limit: lines.length - 2,
    })
    expect(contentOf(page(numbered(10), 300, { offset: 5, limit: 2 }))).toContain("     1\tthe line 1") // complete, since it fits
    expect(contentOf(page(numbered(1_000), 300, { offset: 5_000, limit: 2 }))).toContain("     1\tthe line 1") // it shrank
  })

  test("a huge file costs no more than what is shown of it, an endless line is cut", () => {
    let measured = 0
    const counting = (text: string) => {
      measured += text.length
      return estimate(text)
    }
    const read: FileRead = { content: "", modifiedMs: 1, at: "" }
    const file = { text: numbered(500_000), modifiedMs: 1 }
    const shown = pageOf({ candidate: { path: "/a", read }, file, limit: 1_000, estimate: counting, now })
    expect(shown.tokens).toBeLessThanOrEqual(1_000)
    expect(shown.tokens).toBeGreaterThan(950)
    expect(measured).toBeLessThan(300_000)
    const minified = contentOf(page(`${"x".repeat(1_000_000)}\nend`, 5_000))
    expect(minified).toContain("[line cut: 2000 of 1000000 characters shown]")
    expect(minified).toMatch(/\n {5}2\tend$/)
  })

  test("where not even a line fits, the file is only named and does not count as read", () => {
    const shown = page("word ".repeat(300), 80)
    expect(shown.attachment).toEqual({ type: "compact_file_reference", path: "/a" })
    expect(shown.read).toBeUndefined()
  })

  test("property: never over the limit unless only named, and what counts as read is what is shown", () => {
    const lines = fc.array(fc.string({ unit: fc.constantFrom("a", " ", "好", "😀", "`", "{"), maxLength: 60 }), {
      maxLength: 80,
    })
    const ranges = fc.option(fc.record({ offset: fc.integer({ min: 1, max: 90 }), limit: fc.nat(20) }), {
      nil: undefined,
    })
    fc.assert(
      fc.property(lines, fc.nat(600), ranges, (given, limit, range) => {
        const shown = page(given.join("\n"), limit, range)
        expect(shown.tokens).toBe(sizeOf(shown.attachment, estimate))
        if (shown.read === undefined) return
        expect(shown.tokens).toBeLessThanOrEqual(limit)
        const numbers = [...contentOf(shown).matchAll(/^ *(\d+)\t/gm)].map(([, number]) => Number(number))
        const { range: known } = shown.read[1]
        if (known) expect([numbers[0], numbers.length]).toEqual([known.offset, known.limit])
        else expect(contentOf(shown)).not.toContain("The file goes on")
      }),
    )
  })
})
