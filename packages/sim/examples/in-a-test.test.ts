import Anthropic from "@anthropic-ai/sdk"
import { frozenClock, scriptedResponder, startSimulator } from "@strata/sim"
import { expect, test } from "vitest"

test("the client can go on after an overload", async () => {
  const sim = await startSimulator({
    responder: scriptedResponder(["Hello!", "Still here."]),
    clock: frozenClock(),
    faults: [{ fault: { kind: "overloaded" }, nth: 2 }],
  })
  const client = new Anthropic({ baseURL: sim.url, apiKey: "anything", maxRetries: 0 })
  const ask = () =>
    client.messages.create({ model: "claude-opus-5", max_tokens: 100, messages: [{ role: "user", content: "Hi" }] })

  expect((await ask()).content).toMatchObject([{ text: "Hello!" }])
  await expect(ask()).rejects.toMatchObject({ status: 529 })
  sim.clock.advance(60 * 60_000) // an hour passes: every cache entry expires
  expect((await ask()).content).toMatchObject([{ text: "Still here." }])
  expect(sim.stats()).toMatchObject({ total: { requests: 2 }, errors: { overloaded_error: 1 } })
  await sim.close()
})
