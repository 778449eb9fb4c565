import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { cutMiddle } from "./cut.ts"

describe("L4-25 a text that is too long loses its middle", () => {
  const lines = Array.from({ length: 1_000 }, (_, i) => `line ${i}`).join("\n")

  test("head and tail stay, cut at line ends, and a line says how much is missing", () => {
    const cut = cutMiddle(lines, 1_000)
    const [, head, missing, tail] = /^([\s\S]*)\n\[… ([\d,]+) characters left out here …\]\n([\s\S]*)$/.exec(cut)!
    expect(lines.startsWith(`${head}\n`)).toBe(true)
    expect(lines.endsWith(`\n${tail}`)).toBe(true)
    expect(Number(missing!.replaceAll(",", ""))).toBe(lines.length - head!.length - tail!.length)
    expect(tail!.length).toBeGreaterThan(200)
  })

  test("what fits stays as it is", () => {
    expect(cutMiddle(lines, lines.length)).toBe(lines)
    expect(cutMiddle("short", 1)).toBe("short")
  })

  test("no character is halved, wherever the cut falls", () => {
    for (let limit = 200; limit < 212; limit++) {
      expect(cutMiddle("😀".repeat(1_000), limit).isWellFormed()).toBe(true)
      expect(cutMiddle(`x${"😀".repeat(1_000)}`, limit).isWellFormed()).toBe(true)
    }
  })

  test("property: never longer than asked, and both ends are the text's own", () => {
    const piece = fc.constantFrom("a line\n", "\n", "😀😀😀", "x".repeat(70), "日本語", " ")
    const text = fc.array(piece, { maxLength: 80 }).map((pieces) => pieces.join(""))
    fc.assert(
      fc.property(text, fc.integer({ min: 100, max: 600 }), (given, limit) => {
        const cut = cutMiddle(given, limit)
        expect(cut.length).toBeLessThanOrEqual(Math.max(limit, 100))
        if (given.length <= limit) {
          expect(cut).toBe(given)
          return
        }
        const [head = "", tail = ""] = cut.split(/\n\[… [\d,]+ characters left out here …\]\n/)
        expect(given.startsWith(head) && given.endsWith(tail)).toBe(true)
        expect(head.length).toBeGreaterThan(0)
        expect(tail.length).toBeGreaterThan(0)
      }),
    )
  })
})
