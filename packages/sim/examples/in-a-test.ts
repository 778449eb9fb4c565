import Anthropic from "@anthropic-ai/sdk"
import { frozenClock, scriptedBrain, startSimulator } from "@strata/sim"

const sim = await startSimulator({
  brain: scriptedBrain(["Hello!", "Still here."]),
  clock: frozenClock(),
  faults: [{ fault: { kind: "overloaded" }, nth: 2 }],
})
const client = new Anthropic({ baseURL: sim.url, apiKey: "anything", maxRetries: 0 })

await client.messages.create({ model: "claude-opus-5", max_tokens: 100, messages: [{ role: "user", content: "Hi" }] })
sim.clock.advance(60 * 60_000) // an hour later: every cache entry is gone
sim.stats() // requests, tokens, cache reads and writes, dollars
await sim.close()
