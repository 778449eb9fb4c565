import { expect, test } from "vitest"
import { listParts } from "./context-chart.ts"

const NONE = { prompt: 0, person: 0, answers: 0, thinking: 0, calls: 0, results: 0, summary: 0 }

test("TOK-8 the parts of a turn are whole tokens that add up to its size", () => {
  const classes = { ...NONE, prompt: 1_000.4, person: 0.3, results: 1_500.4 }
  const parts = listParts({ turn: 1, context: 2_502, classes, rest: 0.9 })
  expect(parts).toEqual([
    { words: "system prompt and tools", tokens: 1_000 },
    { words: "tool results", tokens: 1_501 },
    { words: "not broken down", tokens: 1 },
  ])
})
