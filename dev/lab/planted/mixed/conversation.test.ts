import { expect, test } from "vitest"
import { messagesOf, mixedConversation } from "./conversation.ts"
import { findFacts } from "./find-facts.ts"

const SEEDS = [1, 2, 3, 47]

test.each(SEEDS)("BEY-1 the 30 mixed facts are in the conversation before anything is compacted: seed %i", (seed) => {
  const { facts, ranges } = mixedConversation(seed, 2)
  expect(facts).toHaveLength(30)
  const [first = [], second = []] = ranges
  expect(findFacts(facts, first.flatMap(messagesOf), 1)).toMatchObject({ inView: 30, missing: [] })
  const both = findFacts(facts, [...first, ...second].flatMap(messagesOf), 2)
  expect(both).toMatchObject({ inView: 30, missing: [] })
  expect(both.stale).toHaveLength(5) // each replaced value is also in its original statement
})

test.each(SEEDS)("BEY-1 no fact is in view by chance: seed %i", (seed) => {
  const { facts, ranges } = mixedConversation(seed, 5)
  const filler = ranges.slice(2).flat()
  expect(findFacts(facts, filler.flatMap(messagesOf), 5)).toMatchObject({ inView: 0, stale: [] })
})

test("BEY-1 a replaced value counts as stale unless its line has the newest one", () => {
  const fact = { kind: "changed amount", from: "user", needles: ["$956"], was: "$201" } as const
  const stale = (content: string) => findFacts([fact], [{ content }], 1).stale.length
  expect(stale("The cap is $201.\nThe cap is $956.")).toBe(1)
  expect(stale("The cap is $956 (was $201).")).toBe(0)
  expect(stale("The cap is $956.")).toBe(0)
})
