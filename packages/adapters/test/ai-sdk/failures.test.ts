/** Failures: an abort, an error in the middle of a response, a refusal. */
import { describe, expect, test } from "vitest"
import { isWhole, size } from "../../../core/test/size.ts"
import { type Message, MODEL, newMessages, program, SETTINGS, VERSIONS, type Version } from "./program.ts"

describe.each<Version>(size([7], [7, 6]))("BEY-11 failures of AI SDK %i", (version) => {
  const { ai } = VERSIONS[version]
  const limit = { stopWhen: ai.stepCountIs(100), maxRetries: 0 }

  test("an abort in the middle reaches the server, and the conversation continues", async () => {
    const slow = { fault: { kind: "slow-stream" as const, delayMs: 1000 }, times: 1 }
    const { model, tools, sim, lines } = await program(version, { result: "short ", faults: [slow] })
    const tick = setInterval(() => sim.clock.advance(1000), 1)
    const stop = new AbortController()
    const ask = { tools, ...limit, prompt: "Task A: 3 steps", model: model() }
    const answer = ai.streamText({ ...ask, abortSignal: stop.signal, onError: () => undefined })
    const types: string[] = []
    for await (const part of answer.fullStream) {
      types.push(part.type)
      if (part.type === "reasoning-delta") stop.abort()
    }
    clearInterval(tick)
    expect(types.at(-1)).toBe("abort")
    await expect(ai.generateText({ ...ask, abortSignal: AbortSignal.abort() })).rejects.toThrow(/abort/i)
    expect((await ai.generateText(ask)).text).toBe("Task A is done after 3 steps, as you asked.")
    expect(lines).toEqual([])
  })

  test.runIf(isWhole)("an error in the middle is the program's to see, and it can ask again", async () => {
    const faults = [{ fault: { kind: "stream-error" as const, afterEvents: 6 }, times: 1 }]
    const { model, tools, lines } = await program(version, { result: "short ", faults })
    const ask = { tools, ...limit, prompt: "Task A: 3 steps", model: model() }
    const errors: unknown[] = []
    const broken = ai.streamText({ ...ask, onError: ({ error }) => void errors.push(error) })
    for await (const _ of broken.fullStream);
    expect(errors).toHaveLength(1)
    expect(await ai.streamText(ask).text).toBe("Task A is done after 3 steps, as you asked.")
    expect(lines).toEqual([])
  })

  test.runIf(isWhole)("the SDK's own retries work as before", async () => {
    const faults = [{ fault: { kind: "rate-limit" as const, retryAfterSeconds: 0 }, times: 1 }]
    const { model, tools, lines } = await program(version, { result: "short ", faults })
    const ask = { tools, ...limit, maxRetries: 1, prompt: "Task A: 3 steps", model: model() }
    expect((await ai.generateText(ask)).text).toBe("Task A is done after 3 steps, as you asked.")
    expect(lines).toEqual([])
  })

  test.runIf(isWhole)("a request that is too long for the server is compacted and sent again", async () => {
    const { model, tools, responder, sim } = await program(version)
    const settings = { ...SETTINGS, models: { [MODEL]: { window: 150_000 } } }
    const ask = { tools, ...limit, prompt: "Task A: 20 steps", model: model({ settings }) }
    expect(await ai.streamText(ask).text).toBe("Task A is done after 20 steps, as you asked.")
    expect(responder.summaries).toBeGreaterThan(0)
    expect(Object.keys(sim.stats().errors)).toEqual(["invalid_request_error"])
  })

  test("thinking that the server refuses after another prompt is left out", async () => {
    const { model, direct, tools, lines } = await program(version, { result: "short " })
    const turn = async (given: typeof direct) => {
      const messages: Message[] = [{ role: "user", content: "Task A: 2 steps" }]
      const ask = { tools, ...limit, model: given }
      messages.push(...(await newMessages(await ai.generateText({ ...ask, system: "Be kind.", messages }))))
      messages.push({ role: "user", content: "Task B: 2 steps" })
      return (await ai.generateText({ ...ask, system: "Be strict.", messages })).text
    }
    await expect(turn(direct)).rejects.toThrow(/signature/)
    expect(await turn(model())).toBe("Task B is done after 2 steps, as you asked.")
    expect(lines).toEqual([])
  })
})
