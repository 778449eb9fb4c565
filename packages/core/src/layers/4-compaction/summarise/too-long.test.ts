import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { conversation, sketch } from "../../../../test/builders.ts"
import { size } from "../../../../test/size.ts"
import { randomConversation } from "../../../../test/summary-conversations.ts"
import { flatten } from "../../../messages/flatten.ts"
import { isSentToModel } from "../../../messages/messages.ts"
import { type Round, rounds } from "../../../messages/rounds.ts"
import { dropOldest, TRUNCATED } from "./shared.ts"

const turns = (count: number) => {
  const builder = conversation().user("start")
  for (let i = 1; i < count; i++) builder.call("Read", { i }).result(`r${i}`)
  return rounds(builder.messages)
}
const hundred = () => 100
const sketchOf = (given: readonly Round[]) => sketch(flatten(given.flat()).messages)

describe("L4-15 the request for a summary is too long", () => {
  test.each([
    [1, 1],
    [100, 1],
    [101, 2],
    [450, 5],
    [10_000, 9],
  ])("a gap of %i tokens: the oldest rounds go until it is covered, %i of ten", (gap, dropped) => {
    const given = turns(10)
    const outcome = dropOldest(given, { gap, estimate: hundred })
    expect(outcome).toMatchObject({ kind: "dropped", dropped })
    if (outcome.kind === "dropped") expect(outcome.rounds.slice(1)).toEqual(given.slice(dropped))
  })

  test.each([
    [2, 1],
    [4, 1],
    [10, 2],
    [25, 5],
  ])("no gap reported: a fifth of %i rounds goes, at least one", (count, dropped) => {
    expect(dropOldest(turns(count), { estimate: hundred })).toMatchObject({ kind: "dropped", dropped })
  })

  test("a conversation that would begin with the assistant gets the marker, as a meta message", () => {
    const outcome = dropOldest(turns(3), { estimate: hundred })
    if (outcome.kind !== "dropped") throw new Error(outcome.kind)
    expect(TRUNCATED).toBe("[earlier conversation truncated for compaction retry]")
    expect(sketchOf(outcome.rounds)[0]).toBe(`user: ${JSON.stringify(TRUNCATED)}`)
    expect(outcome.rounds[0]).toMatchObject([{ isMeta: true }])
  })

  test("the marker is removed before the next try, so every retry makes progress", () => {
    let given = turns(4)
    const sizes: number[] = []
    for (;;) {
      const outcome = dropOldest(given, { estimate: hundred })
      if (outcome.kind === "nothing-left") break
      given = outcome.rounds
      sizes.push(given.flat().filter(isSentToModel).length)
      expect(sketchOf(given).filter((line) => line.includes(TRUNCATED))).toHaveLength(1)
    }
    expect(sizes).toEqual([7, 5, 3])
  })

  test("nothing is left to drop of one round, or of none", () => {
    expect(dropOldest(turns(1), { gap: 5, estimate: hundred })).toEqual({ kind: "nothing-left" })
    expect(dropOldest([], { estimate: hundred })).toEqual({ kind: "nothing-left" })
  })

  test("an earlier summary goes last: it covers more than any round", () => {
    const { messages } = conversation()
      .user("Summary:", { isCompactSummary: true })
      .call("Read")
      .result("a")
      .call("Read")
      .result("b")
    const first = dropOldest(rounds(messages), { gap: 1, estimate: hundred })
    if (first.kind !== "dropped") throw new Error(first.kind)
    expect(sketchOf(first.rounds)[0]).toBe('user: "Summary:"')
    const second = dropOldest(first.rounds, { gap: 1, estimate: hundred })
    expect(second).toMatchObject({ kind: "dropped", dropped: 1 })
    if (second.kind === "dropped") expect(sketchOf(second.rounds).join()).not.toContain("Summary:")
  })

  test("property: it always makes progress and ends; what is left is whole rounds and begins with the user", () => {
    const gap = fc.option(fc.integer({ min: -5, max: 20_000 }), { nil: undefined })
    fc.assert(
      fc.property(randomConversation, gap, (messages, gapTokens) => {
        const all = rounds(messages)
        let given = all
        let left = all.length
        for (;;) {
          const outcome = dropOldest(given, { gap: gapTokens, estimate: (round) => round.length * 50 })
          if (outcome.kind === "nothing-left") break
          const own = outcome.rounds.filter((round) => all.includes(round))
          expect(own.length).toBe(left - outcome.dropped)
          expect(own.length).toBeLessThan(left)
          expect(outcome.rounds.flat().find(isSentToModel)?.type).not.toBe("assistant")
          given = outcome.rounds
          left = own.length
        }
        expect(left).toBeLessThanOrEqual(1)
      }),
      { numRuns: size(80, 300) },
    )
  })
})
