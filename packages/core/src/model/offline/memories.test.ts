import { expect, test } from "vitest"
import type { Demand } from "./demand.ts"
import type { Facts } from "./facts.ts"
import { keepMemories } from "./memories.ts"

/** How many steps it takes to look for memories in so many messages of the person. */
function stepsFor(messages: number): number {
  const userMessages = Array.from({ length: messages }, (_, at) => `What about file-${at}.ts?`)
  const facts = { userMessages, earlier: [] } as unknown as Facts
  const demand = { prompt: "", calls: [] } as unknown as Demand
  const steps = keepMemories({ request: { messages: [], tools: [] }, demand, facts })
  let count = 0
  while (!steps.next().done) count++
  return count
}

test("BEY-6 memories are looked for message by message, so a turn can come between", () => {
  expect(stepsFor(200)).toBeGreaterThanOrEqual(200)
})
