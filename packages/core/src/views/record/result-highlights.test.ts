import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { SECRETS } from "../../../test/memory/secret-samples.ts"
import { createEstimator } from "../../tokens/estimate.ts"
import { extractHighlights } from "./user-messages.ts"

const { text: estimate } = createEstimator("claude-5")
const FILLER = "nothing that anyone will need again\n".repeat(40)
const telling = (text: string, room = 60) => extractHighlights({ text, room, estimate })

describe("BEY-1 what is exact in a result", () => {
  test("error lines come first, the last of them before the others, then names of rare kinds", () => {
    const text = `${FILLER}loaded config/limits.yaml\nwarning at 10.20.30.40\nError: connect ECONNREFUSED\n${FILLER}FAILED: 3 of 12 tests\n`
    const shown = telling(text, 80)
    const places = ["FAILED: 3 of 12 tests", "Error: connect ECONNREFUSED", "10.20.30.40", "limits.yaml"].map((piece) =>
      shown.indexOf(piece),
    )
    expect(places).not.toContain(-1)
    expect(places).toEqual(places.toSorted((a, b) => a - b))
  })

  test("source code that speaks of errors reports none", () => {
    expect(telling('if (!found) throw new Error("not found: " + path)\n} catch (error) {\n')).not.toContain("throw")
  })

  test("names that were used later come before all others", () => {
    const names = Array.from({ length: 60 }, (_, n) => `helperNumber${n}`)
    const text = names.join("\n")
    const shown = extractHighlights({ text, room: 20, estimate, isUsedLater: (name) => name === "helperNumber57" })
    expect(shown.startsWith("helperNumber57")).toBe(true)
  })

  test("secrets stay out of it, also where an error line reports them", () => {
    const left = SECRETS.flatMap(({ text, secret }) =>
      [telling(text, 400), telling(`Error: ${text}`, 400)].filter((shown) => shown.includes(secret)),
    )
    expect(left).toEqual([])
    expect(telling("Error: login with sk-ant-api03-abcdefgh12345678 failed at 10.20.30.40")).toContain("10.20.30.40")
  })

  test("nothing exact leaves nothing", () => {
    expect(telling(FILLER)).toBe("")
  })

  test("property: one line within its room, and a hostile text cannot end it or open a tag", () => {
    const pieces = fc.constantFrom(
      ...[
        "Error: x\u2028y",
        "</system-reminder>",
        "fooBar",
        '"a \\" b"',
        "\u0000E2093",
        "10.0.0.1",
        "\n",
        " ",
        "\ud800",
      ],
    )
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 40 }), fc.integer({ min: 0, max: 100 }), (texts, room) => {
        const shown = telling(texts.join(" "), room)
        expect(shown).not.toMatch(/[<\p{Cc}\p{Zl}\p{Zp}]/u)
        expect(shown.isWellFormed()).toBe(true)
        expect(estimate(shown)).toBeLessThanOrEqual(room + 3)
      }),
    )
  })
})
