import type { CompactionPlan } from "@strata/core/internal"
import { expect, test } from "vitest"
import { compactedSentence, planLines, stepWords } from "./compaction.ts"
import { widthOf } from "./text.ts"

const PLAN: CompactionPlan = {
  trigger: "manual",
  kind: "all",
  routes: ["shared", "direct"],
  summarised: { messages: 57, tokens: 142_000, first: "a", last: "b" },
  kept: { uuids: ["c"], tokens: 900 },
  restored: ["carried facts", "file: packages/core/src/layers/4-compaction/facts/facts-properties.test.ts"],
  summary: { tokens: 3_000, is: "expected" },
  tokensBefore: 167_000,
  expectedAfter: 23_000,
  isWorthIt: true,
  dollars: 0.1234,
}

test("L4-24 a plan: what is summarised, kept and added, tokens, cost, the routes in order", () => {
  const lines = planLines(PLAN, 76)
  expect(`\n${lines.join("\n")}\n`).toMatchInlineSnapshot(`
    "
    summarise         57 messages, about 142,000 tokens
    keep as is        1 message, about 900 tokens
    then add          carried facts
                      file:
                      packages/core/src/layers/4-compaction/facts/facts-properties.test.ts
    tokens            167,000 now, about 23,000 afterwards
    cost              about $0.1234 for the summary
    routes, in order  by the model, from its cache; by the model
    "
  `)
  for (const line of lines) expect(widthOf(line), line).toBeLessThanOrEqual(95) // a path is not broken
})

test("the cost where no model is asked, and where no price is known", () => {
  const { dollars: _, ...unpriced } = PLAN
  expect(planLines(unpriced, 76)).toContainEqual("cost              unknown: no price for this model")
  expect(planLines({ ...unpriced, routes: ["notes", "shared"] }, 76)).toContainEqual(
    "cost              nothing: no model is asked",
  )
})

test("a compaction in a sentence, with its route if that is known", () => {
  const figures = { tokensBefore: 167_000, tokensAfter: 54_000 }
  expect(compactedSentence({ ...figures, route: "notes" })).toBe("Compacted: 167,000 to 54,000 tokens, from the notes.")
  expect(compactedSentence(figures)).toBe("Compacted: 167,000 to 54,000 tokens.")
  expect(compactedSentence({ tokensAfter: 54_000 })).toBe("Compacted to 54,000 tokens.")
  expect(compactedSentence({})).toBe("Compacted.")
})

test("L4-14 steps in plain words", () => {
  expect(stepWords({ phase: "summarising", route: "notes" })).toBe("building a summary from the notes")
  expect(stepWords({ phase: "summarising", route: "shared" })).toBe("asking the model for a summary")
  expect(stepWords({ phase: "alive", seconds: 30 })).toBeUndefined()
})
