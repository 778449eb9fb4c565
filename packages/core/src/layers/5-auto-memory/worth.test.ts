import { describe, expect, test } from "vitest"
import { standingRules } from "../../views/record/standing-rules.ts"
import { isWorthExtracting } from "./worth.ts"

const word = (text: string) => ({ uuid: "u", timestamp: "", text, rules: standingRules(text) })

describe("L5-4 what an extraction is worth asking for", () => {
  test.each([
    "Always use tabs.",
    "I am new to Rust.",
    "Ich bin neu im Team.",
    "We decided to drop the old API.",
    "That is wrong, the port is 5433.",
    "The release is on 2026-12-01.",
    "The board is at https://example.com/board.",
    "总是使用制表符",
    "x".repeat(2_000),
  ])("%s", (text) => expect(isWorthExtracting([word(text)], 3)).toBe(true))

  test.each(["Fix the failing test.", "Go on", "ok", "Show the diff", "What does parse() return?"])("not: %s", (text) =>
    expect(isWorthExtracting([word(text)], 3)).toBe(false),
  )

  test("several messages, whatever they say; never without any", () => {
    expect(isWorthExtracting([word("a"), word("b"), word("c")], 3)).toBe(true)
    expect(isWorthExtracting([], 3)).toBe(false)
  })
})
