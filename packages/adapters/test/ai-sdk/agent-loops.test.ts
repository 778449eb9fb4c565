/** Agents of the AI SDK in its own loop, working over several windows. */
import { describe, expect, test } from "vitest"
import { everyNth, isWhole, size } from "../../../core/test/size.ts"
import { closeStrata } from "../../src/ai-sdk.ts"
import { AT_ONCE, journalsIn, type Message, newMessages, program, seen, VERSIONS, type Version } from "./program.ts"

const STEPS = 40 // three windows
const HOWS = ["generateText", "streamText"] as const

describe.each<Version>(size([7], [7, 6]))("BEY-11 an agent of AI SDK %i", (version) => {
  const { ai } = VERSIONS[version]
  const limit = { stopWhen: ai.stepCountIs(100), maxRetries: 0 }

  test.each(everyNth(HOWS, 2))(
    "%s: while nothing is compacted, the program sees what it would see without Strata",
    async (how) => {
      const { model, direct, tools, sim, lines } = await program(version, { result: "short " })
      const run = async (given: typeof direct) => {
        const ask = { tools, ...limit, prompt: "Task A: 7 steps", model: given }
        const answer = how === "generateText" ? await ai.generateText(ask) : ai.streamText(ask)
        const steps = (await answer.steps).map(({ finishReason, toolCalls, text }) => [
          text,
          finishReason,
          toolCalls.length,
        ])
        return { steps, messages: seen(await newMessages(answer)) }
      }
      const without = await run(direct)
      expect(await run(model())).toEqual(without)
      expect(JSON.stringify(without)).toContain("Task A is done after 7 steps, as you asked.")
      expect(sim.stats().errors).toEqual({})
      expect(lines).toEqual([])
    },
  )

  test.runIf(isWhole).each(HOWS)("%s continues over three windows, for a fraction of the bill", async (how) => {
    const { model, direct, tools, sim, responder, lines } = await program(version)
    const ask = { tools, ...limit, system: "You work in steps.", prompt: `Task A: ${STEPS} steps` }
    const answer =
      how === "generateText"
        ? await ai.generateText({ ...ask, model: model({ settings: AT_ONCE }) })
        : ai.streamText({ ...ask, model: model({ settings: AT_ONCE }) })
    expect(await answer.text).toBe(`Task A is done after ${STEPS} steps, as you asked.`)
    expect(sim.stats().errors).toEqual({})
    expect(lines.filter((line) => !line.includes("compaction"))).toEqual([])
    expect(responder.summaries).toBeGreaterThan(1)
    const { dollars } = sim.stats().total
    const wide = await program(version, { models: {} })
    await ai.generateText({ ...ask, tools: wide.tools, model: wide.direct })
    expect(dollars / wide.sim.stats().total.dollars).toBeLessThan(0.2)
    await expect(ai.generateText({ ...ask, model: direct })).rejects.toThrow(/too long/)
  })

  test.runIf(isWhole)("structured output, with tools and without", async () => {
    const { model, tools, sim, lines } = await program(version, { result: "short " })
    const output = ai.Output.object({
      schema: ai.jsonSchema<{ steps: number }>({
        type: "object",
        properties: { steps: { type: "number" } },
        required: ["steps"],
        additionalProperties: false,
      }),
    })
    const plain = await ai.generateText({ model: model(), output, prompt: "How many? C: step 4 of 9" })
    expect(plain.output).toEqual({ steps: 4 })
    const streamed = ai.streamText({ model: model(), output, tools, ...limit, prompt: "How many? C: step 5 of 9" })
    expect(await streamed.output).toEqual({ steps: 5 })
    expect(sim.stats().errors).toEqual({})
    expect(lines).toEqual([])
  })

  test.runIf(isWhole)("two conversations at once keep apart, and go on after a restart", async () => {
    const { model, tools, sim, responder, lines, dir } = await program(version)
    const run = async (messages: Message[], task: string) => {
      messages.push({ role: "user", content: `Task ${task}: 9 steps` })
      const answer = await ai.generateText({ model: model(), tools, ...limit, messages })
      messages.push(...(await newMessages(answer)))
      return answer.text
    }
    const [one, two]: [Message[], Message[]] = [[], []]
    expect(await Promise.all([run(one, "A"), run(two, "B")])).toEqual([
      "Task A is done after 9 steps, as you asked.",
      "Task B is done after 9 steps, as you asked.",
    ])
    await closeStrata()
    expect(await Promise.all([run(one, "C"), run(two, "D")])).toEqual([
      "Task C is done after 9 steps, as you asked.",
      "Task D is done after 9 steps, as you asked.",
    ])
    expect(sim.stats().errors).toEqual({})
    expect(lines.filter((line) => !line.includes("compaction"))).toEqual([])
    expect(responder.summaries).toBeGreaterThan(0)
    expect(journalsIn(dir)).toHaveLength(2)
    const mixed = responder.asked
      .map((messages) => JSON.stringify(messages))
      .filter((text) => /Task A/.test(text) && /Task B/.test(text))
    expect(mixed).toEqual([])
  })

  test.runIf(isWhole)("a program that keeps only the final text of each turn is followed", async () => {
    const { model, tools, sim, responder, dir } = await program(version)
    const messages: Message[] = []
    for (const task of ["A", "B", "C", "D"]) {
      messages.push({ role: "user", content: `Task ${task}: 5 steps` })
      const { text } = await ai.generateText({ model: model(), tools, ...limit, messages })
      expect(text).toBe(`Task ${task} is done after 5 steps, as you asked.`)
      messages.push({ role: "assistant", content: text })
    }
    expect(sim.stats().errors).toEqual({})
    expect(journalsIn(dir)).toHaveLength(1)
    expect(responder.summaries).toBeGreaterThan(0)
  })

  test.runIf(isWhole)(
    "a conversation and an owner can be named with a call, and no provider learns of it",
    async () => {
      const { model, tools, responder, dir, lines } = await program(version, { result: "short " })
      const ask = { model: model(), tools, ...limit, prompt: "Task A: 2 steps" }
      const named = (strata: Record<string, string>) => ({ providerOptions: { strata, anthropic: {} } })
      for (const conversation of ["first", "second", "first"])
        await ai.generateText({ ...ask, ...named({ conversation }) })
      expect(journalsIn(dir)).toHaveLength(2)
      for (const owner of ["anna", "bert", "anna"])
        await ai.generateText({ ...ask, ...named({ conversation: "own", owner }) })
      expect(journalsIn(dir)).toHaveLength(4)
      expect(JSON.stringify(responder.asked)).not.toContain("strata")
      expect(lines).toEqual([])
      await ai.generateText({ ...ask, ...named({ conversation: "first", owner: "anna" }) })
      const unchanged = expect.stringMatching(/^A request was sent unchanged: /)
      expect(lines).toEqual([unchanged, unchanged, unchanged])
    },
  )
})
