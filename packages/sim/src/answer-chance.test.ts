/** The input that a responder gets besides the request: random numbers, ids, and whether to write a summary. */
import { describe, expect, test } from "vitest"
import { hello, type Json, postJson, simulator } from "../test/simulator.ts"
import type { Responder, ResponderTurn } from "./responder.ts"
import { extractiveResponder, workerResponder } from "./responders/index.ts"

const words = (text: string) => ({ role: "user", content: text })

/** Answers with its random numbers and ids. */
const gambler: Responder = {
  name: "gambler",
  answer: ({ random, nextToolUseId }: ResponderTurn) => ({
    content: [0, 1].map(() => ({ type: "tool_use", id: nextToolUseId(), name: "bet", input: { on: random() } })),
  }),
}

describe("BEY-8 the random number of a turn", () => {
  const asking = (text: string) => hello({ messages: [words(text)] })
  const contentsOf = async (bodies: readonly object[], seed = 1) => {
    const sim = await simulator({ responder: gambler, seed })
    const contents = new Map<object, unknown>()
    for (const body of bodies) contents.set(body, (await postJson(sim, body)).content)
    return contents
  }

  test("does not depend on the order of requests", async () => {
    const [one, two, three] = [asking("One"), asking("Two"), asking("Three")]
    const forwards = await contentsOf([one, two, three])
    const backwards = await contentsOf([three, two, one])
    for (const body of [one, two, three]) expect(backwards.get(body)).toEqual(forwards.get(body))
    expect(new Set([...forwards.values()].map((content) => JSON.stringify(content))).size).toBe(3)
  })

  test("depends on the seed", async () => {
    const body = asking("One")
    expect((await contentsOf([body], 1)).get(body)).not.toEqual((await contentsOf([body], 2)).get(body))
  })

  test.each([
    ["in another directory", "/tmp/a/src", "/tmp/bcd/src"],
    ["with another handle", "9e9e77e019", "8a64bfe77f"],
    ["with another reminder", "<system-reminder>one</system-reminder>", "<system-reminder>two</system-reminder>"],
  ])("is the same %s, while ids change with every byte", async (_how, ...differing) => {
    const sim = await simulator({ responder: gambler })
    const [here, there] = await Promise.all(differing.map((words) => postJson(sim, asking(`Read ${words} now`))))
    const bets = ({ content }: Json) => content.map(({ input }: Json) => input)
    const ids = [here, there].flatMap(({ content }: Json) => content.map(({ id }: Json) => id))
    expect(bets(here)).toEqual(bets(there))
    expect(new Set(ids).size).toBe(4)
  })
})

describe("BEY-8 the turn says when a summary is wanted", () => {
  const compact = { betas: ["compact-2026-09-04"] }
  const messages = [
    words("Rename the parser to reader. Never touch the lexer."),
    { role: "assistant", content: "Renamed." },
    words("Thank you."),
  ]

  test.each([
    ["without instructions", undefined],
    ["with instructions that do not name it", "Keep the names of files."],
    ["with instructions that look like a client's notice", "<house-rules>short</house-rules>"],
  ])("%s", async (_how, instructions) => {
    for (const responder of [extractiveResponder(), workerResponder()]) {
      const sim = await simulator({ responder })
      const compaction = { type: "summarize", ...(instructions && { instructions }) }
      const { content, stop_reason } = await postJson(sim, hello({ messages, compaction, max_tokens: 4000 }), compact)
      expect(stop_reason).toBe("compaction")
      expect(content[0].content).toContain("Never touch the lexer.")
      expect(content[0].content).toContain("Thank you.")
      if (instructions) expect(content[0].content).not.toContain(instructions)
    }
  })
})
