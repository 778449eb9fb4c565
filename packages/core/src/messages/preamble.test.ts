import { describe, expect, test } from "vitest"
import { renderPreamble } from "./preamble.ts"

const estimate = (text: string) => text.length / 4
const preamble = (texts: Record<string, string>, limit = 40_000) => renderPreamble({ texts, estimate, limit })

describe("MSG-8 the context preamble", () => {
  test("is one reminder with titled texts that may or may not be relevant", () => {
    const text = preamble({ "Project instructions": "Use tabs.", Memory: "- likes short answers" })
    expect(text).toMatch(/^<system-reminder>\n.*may or may not be relevant/)
    expect(text).toContain("# Project instructions\nUse tabs.\n\n# Memory\n- likes short answers\n</system-reminder>")
  })

  test("an empty map, or empty texts, add nothing", () => {
    expect(preamble({})).toBe("")
    expect(preamble({ Memory: "  \n" })).toBe("")
  })

  test("texts together over the limit are cut at a line end, with a notice that says so", () => {
    const text = preamble({ First: "short", Long: "line of text\n".repeat(100), Last: "never" }, 100)
    const kept = text.match(/# Long\n([\s\S]*?)\n\[cut here: (\d+) of 1300 characters/)!
    expect(kept[1]!.endsWith("line of text")).toBe(true)
    expect(kept[1]!.length + Number(kept[2])).toBe(1300)
    expect(text).toContain("# Last\n\n[cut here: 5 of 5 characters")
  })

  test("a cut never splits a character", () => {
    expect(preamble({ Emoji: "👩".repeat(50) }, 7)).not.toMatch(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])/)
  })
})
