/** The lifetime of the cache, as the setting chooses it, over HTTP: what is asked for, what is billed. */
import { expect, test } from "vitest"
import { scripted, simulator } from "../../../../sim/test/simulator.ts"
import { findModel } from "../../../src/tokens/models.ts"
import { bashTool } from "../../../src/tools/shell/bash.ts"
import { ShellSession } from "../../../src/tools/shell/shell-session.ts"
import { agentFor, ask, project } from "../agent/agents.ts"

const system = "You are thorough. ".repeat(600)

test.each(["5m", "1h", "prompt-1h"] as const)(
  "CACHE-8 cacheLifetime %s: the ledger bills each write at its price",
  async (cacheLifetime) => {
    const sim = await simulator({ brain: scripted("One.", "Two.") })
    const agent = await agentFor(sim, project(), {
      system,
      tools: [bashTool(new ShellSession())],
      settings: { cacheLifetime, memory: "off", switches: { notes: false } },
    })
    await ask(agent, "Hello. ".repeat(1_000))
    sim.clock.advance(10 * 60_000)
    await ask(agent, "And now?")
    const [first, second] = agent.conversation.views.cacheHistory.responses.map(({ counts }) => counts)
    const { facts } = findModel(agent.conversation.views.cacheHistory.responses[0]!.model)
    expect({ m5: first!.cacheWrite5m > 0, h1: first!.cacheWrite1h > 0 }).toEqual({
      m5: cacheLifetime !== "1h",
      h1: cacheLifetime !== "5m",
    })
    // after ten minutes only what was written for an hour is read
    expect(second!.cacheRead).toBe(first!.cacheWrite1h)
    expect(second!.cacheRead > 0).toBe(cacheLifetime !== "5m")
    const price = facts.price!
    expect(price.cacheWrite1h).toBe(2 * price.input)
    const dollars = [first!, second!].reduce(
      (sum, { input, output, cacheRead, cacheWrite5m, cacheWrite1h }) =>
        sum +
        input * price.input +
        output * price.output +
        cacheRead * price.cacheRead +
        cacheWrite5m * price.cacheWrite5m +
        cacheWrite1h * price.cacheWrite1h,
      0,
    )
    expect(agent.conversation.ledger().dollars).toBeCloseTo(dollars / 1_000_000, 9)
  },
)
