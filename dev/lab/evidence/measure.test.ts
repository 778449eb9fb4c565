import { expect, test } from "vitest"
import { roundOf } from "../recall-reach/measure.ts"
import { evidenceReport, measureEvidence } from "./measure.ts"

test("BEY-1 names that left the view are found by the words next to them", async () => {
  const fact = (at: number) =>
    `The ${["harbour", "meadow", "tower"][at]} gateway of the new office listens on port ${7_000 + at * 111}.`
  const messages = Array.from({ length: 12 }, (_, at) => roundOf(at)).flat()
  const planted = [0, 1, 2].flatMap((at) => [
    { role: "assistant" as const, content: [{ type: "tool_use" as const, id: `p${at}`, name: "Read", input: {} }] },
    { role: "user" as const, content: [{ type: "tool_result" as const, tool_use_id: `p${at}`, content: fact(at) }] },
  ])
  const content = [{ type: "text" as const, text: "Please begin." }]
  const range = {
    name: "made up",
    tokens: 40_000,
    messages: [{ role: "user" as const, content }, ...planted, ...messages],
  }
  const figures = await measureEvidence(range)
  const [inView, inReach] = figures.found
  expect(inReach!.counts.result).toBe(figures.needles.result)
  expect(inView!.counts.result).toBeLessThanOrEqual(inReach!.counts.result)
  expect(figures.needles.result).toBeGreaterThanOrEqual(3)
  expect(evidenceReport([figures])).toContain("100.0%")
})
