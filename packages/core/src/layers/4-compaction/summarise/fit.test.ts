import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { conversation } from "../../../../test/builders.ts"
import { isWhole } from "../../../../test/size.ts"
import { randomConversation } from "../../../../test/summary-conversations.ts"
import type { FlatMessage } from "../../../messages/flatten.ts"
import type { ModelRequest } from "../../../messages/request.ts"
import { rounds } from "../../../messages/rounds.ts"
import { validateRequest } from "../../../messages/validate/validator.ts"
import { createEstimator } from "../../../tokens/estimate.ts"
import { findModel } from "../../../tokens/models.ts"
import { chunksOf, fitToBudget, groupsOf, INPUT_LIMITS, limitsIn, roundSize, sizeOf } from "./fit.ts"
import { conversationSubject, partsSubject } from "./shared.ts"

const estimator = createEstimator("claude-5")
const { facts } = findModel("claude-opus-5-5")
const WORDS = "several plain words in a row, and then some more of them\n"

const valid = (messages: readonly FlatMessage[]) =>
  validateRequest({
    request: {
      model: facts.id,
      max_tokens: 10,
      messages: [...messages, { role: "user", content: [{ type: "text", text: "Write a summary." }] }],
    } as unknown as ModelRequest,
    model: facts,
  })

const work = (count: number, words = 20) => {
  const builder = conversation().user("start")
  for (let i = 0; i < count; i++) builder.call("Read", { file_path: `/f${i}` }).result(WORDS.repeat(words))
  return builder.messages
}

describe("L4-25 what does not fit is divided", () => {
  test("what fits is one chunk", () => {
    expect(chunksOf(work(10), { tokens: 50_000, estimator })).toHaveLength(1)
  })

  test("what does not is several, of about equal size, each within the room", () => {
    const room = { tokens: 5_000, estimator }
    const chunks = chunksOf(work(60), room)
    expect(chunks.length).toBeGreaterThan(2)
    const sizes = chunks.map((chunk) => sizeOf(conversationSubject(chunk, room).messages, estimator))
    expect(Math.max(...sizes)).toBeLessThanOrEqual(room.tokens)
    expect(Math.min(...sizes)).toBeGreaterThan(Math.max(...sizes) / 3)
  })

  test("little more than fits is two halves, not one that is full and a rest", () => {
    const messages = work(30)
    const whole = sizeOf(fitToBudget(messages, { tokens: 1_000_000, estimator }), estimator)
    for (const part of [0.9, 0.7, 0.55]) {
      const room = { tokens: Math.floor(whole * part), estimator }
      const sizes = chunksOf(messages, room).map((chunk) =>
        sizeOf(conversationSubject(chunk, room).messages, estimator),
      )
      expect(sizes).toHaveLength(2)
      expect(Math.min(...sizes) / Math.max(...sizes)).toBeGreaterThan(0.8)
    }
  })

  test("rounds add up to what the whole takes", () => {
    const room = { tokens: 50_000, estimator }
    const messages = work(10)
    const sum = rounds(messages).reduce((total, round) => total + roundSize(round, room), 0)
    expect(sum).toBeCloseTo(sizeOf(fitToBudget(messages, room), estimator), 5)
  })

  test("in a small room each result keeps less, in a large one as much as ever", () => {
    expect(limitsIn({ tokens: 2_000, estimator }).result).toBeLessThan(1_000)
    expect(limitsIn({ tokens: 900_000, estimator })).toEqual(INPUT_LIMITS)
  })

  test.runIf(isWhole)("property: no round is lost, split or moved; each chunk fits the room and is valid", () => {
    fc.assert(
      fc.property(randomConversation, fc.integer({ min: 400, max: 20_000 }), (messages, budget) => {
        const room = { tokens: budget, estimator }
        const chunks = chunksOf(messages, room)
        expect(chunks.flat()).toEqual(rounds(messages))
        for (const chunk of chunks) {
          const { messages: input } = conversationSubject(chunk, room)
          if (input.length === 0) continue
          expect(sizeOf(input, estimator)).toBeLessThanOrEqual(budget)
          expect(valid(input)).toEqual([])
        }
      }),
      { numRuns: 200 },
    )
  })
})

describe("L4-25 a single round that is larger than the window", () => {
  test("is cut harder until it fits, and keeps its calls", () => {
    const input = fitToBudget(work(1, 2_000), { tokens: 700, estimator })
    expect(sizeOf(input, estimator)).toBeLessThanOrEqual(700)
    expect(JSON.stringify(input)).toMatch(/"tool_use".*left out here/)
  })

  test.runIf(isWhole)("with more calls than fit it becomes one text", () => {
    const builder = conversation().user("start")
    for (let i = 0; i < 300; i++) builder.call("Read", { file_path: `/f${i}` }, { id: "msg_one" })
    for (let i = 0; i < 300; i++) builder.result(`result ${i}`)
    const input = fitToBudget(builder.messages, { tokens: 800, estimator })
    expect(sizeOf(input, estimator)).toBeLessThanOrEqual(800)
    expect(valid(input)).toEqual([])
    expect(JSON.stringify(input)).toMatch(/\/f0.*left out here.*result 299/)
  })

  test("L4-15 refused all the same, it is cut further rather than given up", () => {
    const [preamble, round] = rounds(work(1, 500))
    let subject = conversationSubject([preamble!, round!], { tokens: 20_000, estimator })
    const sizes: number[] = []
    for (let i = 0; i < 4; i++) {
      sizes.push(sizeOf(subject.messages, estimator))
      subject = subject.smaller(undefined)!
    }
    expect(sizes).toEqual(sizes.toSorted((a, b) => b - a))
    expect(new Set(sizes).size).toBe(4)
    expect(conversationSubject([round!], { tokens: 200, estimator }).smaller(10_000)).toBeUndefined()
  })
})

describe("L4-25 summaries of parts", () => {
  test.each<[number[], number[][]]>([
    [[10, 10, 10], [[0, 1, 2]]],
    [
      [50, 40, 60, 30, 20],
      [[0, 1], [2, 3], [4]],
    ],
    [
      [500, 500, 500],
      [[0, 1], [2]],
    ],
    [[7], [[0]]],
  ])("%j are joined in groups %j", (sizes, groups) => expect(groupsOf(sizes, 100)).toEqual(groups))

  test("property: groups keep the order, and there are fewer of them than parts", () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(200), { minLength: 2, maxLength: 30 }),
        fc.integer({ min: 1, max: 300 }),
        (sizes, room) => {
          const groups = groupsOf(sizes, room)
          expect(groups.flat()).toEqual(sizes.map((_, index) => index))
          expect(groups.length).toBeLessThan(sizes.length)
        },
      ),
    )
  })

  test("two that do not fit together are cut, both", () => {
    const part = (name: string) => `Summary:\n1. ${name} begins\n${WORDS.repeat(300)}9. ${name} ends`
    const { messages } = partsSubject([part("first"), part("second")], { tokens: 2_000, estimator })
    expect(sizeOf(messages, estimator)).toBeLessThanOrEqual(2_000)
    expect(JSON.stringify(messages)).toMatch(/first begins.*left out.*first ends.*second begins.*left out.*second ends/)
  })
})
