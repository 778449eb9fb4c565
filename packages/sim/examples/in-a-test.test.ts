/** The examples of the README with what they promise; `readme.test.ts` runs them as they stand there. */
import Anthropic from "@anthropic-ai/sdk"
import { frozenClock, PromptCache, scriptedBrain, startSimulator } from "@strata/sim"
import { expect, test } from "vitest"

test("BEY-8 the simulator in a test", async () => {
  const sim = await startSimulator({
    brain: scriptedBrain(["Hello!", "Still here."]),
    clock: frozenClock(),
    faults: [{ fault: { kind: "overloaded" }, nth: 2 }],
  })
  const client = new Anthropic({ baseURL: sim.url, apiKey: "anything", maxRetries: 0 })
  const ask = () =>
    client.messages.create({ model: "claude-opus-5", max_tokens: 100, messages: [{ role: "user", content: "Hi" }] })

  expect((await ask()).content).toMatchObject([{ text: "Hello!" }])
  await expect(ask()).rejects.toMatchObject({ status: 529 })
  sim.clock.advance(60 * 60_000)
  expect((await ask()).content).toMatchObject([{ text: "Still here." }])
  expect(sim.stats()).toMatchObject({ total: { requests: 2 }, errors: { overloaded_error: 1 } })
  await sim.close()
})

test("BEY-8 the cache alone", () => {
  const cache = new PromptCache()
  const items = [
    { hash: "system", tokens: 2000, breakpoint: "5m" as const },
    { hash: "question", tokens: 10 },
  ]
  const outcome = cache.lookUp({ items, scope: "work/claude-opus-5", minimum: 512, now: 0 })
  cache.commit(outcome)
  expect(outcome).toMatchObject({ read: 0, write5m: 2000, write1h: 0, uncached: 10 })
  expect(cache.lookUp({ items, scope: "work/claude-opus-5", minimum: 512, now: 1000 })).toMatchObject({ read: 2000 })
})
