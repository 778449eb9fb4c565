import fc from "fast-check"
import { describe, expect, test } from "vitest"
import type { Agent } from "../../../core/src/loop/agent.ts"
import { summarise } from "../../../core/src/views/ledger.ts"
import type { BrainRequest } from "../../src/brain.ts"
import { scriptedBrain } from "../../src/brains/scripted.ts"
import { ask, calls, ofType, project } from "../loop/agents.ts"
import { simulator } from "../simulator.ts"
import { cleared, layeredAgent, MINUTE, resultsIn, rounds, saying } from "./conversations.ts"

/** A simulator that plays these turns and keeps the requests it got. */
async function watched(turns: Parameters<typeof scriptedBrain>[0]) {
  const requests: BrainRequest[] = []
  const brain = scriptedBrain(turns)
  const sim = await simulator({
    bindThinking: "error",
    brain: {
      ...brain,
      answer(turn) {
        requests.push(turn.request)
        return brain.answer(turn)
      },
    },
  })
  return { sim, requests }
}

const decisionsOf = async (agent: Agent, subtype: string) => {
  const found: object[] = []
  for await (const entry of agent.chat.entries())
    if (entry.type === "strata" && entry.subtype === subtype) found.push(entry)
  return found
}

describe("layer 2 from end to end", () => {
  test("L2-1, L2-8 after an idle hour seven of twelve results are cleared, with one quiet line", async () => {
    const { sim, requests } = await watched([...rounds(12, 1_000), "Back again."])
    const agent = await layeredAgent(sim)
    await ask(agent, "go")
    sim.clock.advance(61 * MINUTE)
    const { events, end } = await ask(agent, "and now?")
    expect(end.reason).toBe("answer")
    expect(cleared(resultsIn(requests.at(-1)!))).toBe(7)
    expect(ofType(events, "notice")).toEqual([
      {
        type: "notice",
        quiet: true,
        message: expect.stringMatching(/^7 old tool results were cleared: [\d,]+ tokens/),
      },
    ])
    expect(sim.log.every(({ status }) => status === 200)).toBe(true)
  })

  test("L2-1, L2-12 while the cache is warm, or the pause is short, nothing is cleared and everything is read", async () => {
    const { sim, requests } = await watched([...rounds(12, 1_000), "Back again."])
    const agent = await layeredAgent(sim)
    await ask(agent, "go")
    sim.clock.advance(4 * MINUTE)
    await ask(agent, "and now?")
    expect(cleared(resultsIn(requests.at(-1)!))).toBe(0)
    const [before, last] = sim.log.slice(-2).map(({ input }) => input!)
    expect(last!.read).toBe(before!.read + before!.written)
    expect(await decisionsOf(agent, "tool-results-cleared")).toEqual([])
  })

  test("L2-7 a file whose Read was cleared can be read again", async () => {
    const { sim } = await watched([
      calls(["Read", { file_path: "notes.txt" }]),
      ...rounds(6, 1_000),
      calls(["Read", { file_path: "notes.txt" }]),
      "Read again.",
    ])
    const where = project({ "notes.txt": "what was noted, and a few words more than a marker has\n".repeat(20) })
    const agent = await layeredAgent(sim, where)
    await ask(agent, "go")
    sim.clock.advance(61 * MINUTE)
    const { events } = await ask(agent, "again")
    const [again] = ofType(events, "tool-result")
    expect(String(again!.result.content)).toContain("what was noted")
  })

  test.each(["claude-opus-5", "claude-opus-5-5"])(
    "L2-5 at 180,000 tokens the server clears for %s, and what it reports is recorded",
    async (name) => {
      const { sim, requests } = await watched(rounds(30, 8_000))
      const agent = await layeredAgent(sim, { name })
      const { end } = await ask(agent, "go")
      expect(end.reason).toBe("answer")
      expect(cleared(resultsIn(requests.at(-1)!))).toBe(0) // our copy stays whole
      const applied = await decisionsOf(agent, "server-edited")
      expect(applied[0]).toMatchObject({ edits: [{ type: "clear_tool_uses_20250919" }] })
      const inputs = sim.log.map(({ input }) => input!.read + input!.written + input!.uncached)
      expect(Math.max(...inputs)).toBeLessThan(200_000)
    },
  )

  test("L2-6, L2-10 without the server's help, by size: where it cannot pay, only once the cache is cold", async () => {
    const settings = {
      switches: { "clear-by-api": false },
      figures: { "expected-turns": 0 },
      autoCompactTokens: 150_000,
    }
    const { sim, requests } = await watched([...rounds(16, 8_000), "Later."])
    const agent = await layeredAgent(sim, { name: "claude-opus-5", settings })
    await ask(agent, "go")
    expect(agent.chat.fill().state).toBe("warning")
    expect(cleared(resultsIn(requests.at(-1)!))).toBe(0)
    sim.clock.advance(6 * MINUTE)
    await ask(agent, "and now?")
    expect(cleared(resultsIn(requests.at(-1)!))).toBeGreaterThan(0)
    expect(await decisionsOf(agent, "tool-results-cleared")).toMatchObject([{ why: "size" }])
  })

  test("L2-10 over a long warm stretch, clearing by size costs less than doing nothing", async () => {
    const spent = async (bySize: boolean) => {
      const settings = { switches: { "clear-by-api": false, "clear-by-size": bySize }, autoCompactTokens: 150_000 }
      const { sim } = await watched(rounds(45, 8_000))
      const agent = await layeredAgent(sim, { name: "claude-opus-5", settings })
      expect((await ask(agent, "go")).end.reason).toBe("answer")
      return summarise(agent.chat.views.ledger).dollars
    }
    expect(await spent(true)).toBeLessThan(0.8 * (await spent(false)))
  })

  test("L2-11, CACHE-6 property: where thinking is bound, no clearing ever gets a 400", async () => {
    const step = fc.oneof(
      fc.record({ rounds: fc.integer({ min: 1, max: 5 }), words: fc.integer({ min: 20, max: 2_000 }) }),
      fc.record({ minutes: fc.integer({ min: 1, max: 130 }) }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 8 }), async (steps) => {
        const turns = steps.flatMap((each) => ("rounds" in each ? rounds(each.rounds, each.words) : []))
        const { sim } = await watched([...turns, saying(100), "The end."])
        const agent = await layeredAgent(sim)
        for (const each of steps) {
          if ("minutes" in each) sim.clock.advance(each.minutes * MINUTE)
          else expect((await ask(agent, "go on")).end.reason).toBe("answer")
        }
        expect((await ask(agent, "finish")).end.reason).toBe("answer")
        expect(sim.log.map(({ status }) => status).filter((status) => status !== 200)).toEqual([])
      }),
      { numRuns: 15 },
    )
  }, 60_000)
})
