import fc from "fast-check"
import { describe, expect, test } from "vitest"
import type { ResponderRequest } from "../../../../sim/src/responder.ts"
import { scriptedResponder } from "../../../../sim/src/responders/scripted.ts"
import type { Simulator, SimulatorOptions } from "../../../../sim/src/start.ts"
import { simulator } from "../../../../sim/test/simulator.ts"
import type { Agent } from "../../../src/agent/agent.ts"
import { engineOf } from "../../../src/conversation/conversation.ts"
import { summarise } from "../../../src/views/ledger/ledger.ts"
import { fuzz, RUNS } from "../../runs.ts"
import { isWhole, size } from "../../size.ts"
import { ask, calls, ofType, project } from "../agent/agents.ts"
import { cleared, MINUTE, resultsIn, rounds, saying, thriftyAgent } from "./conversations.ts"

/** A simulator that plays these turns and records its requests. */
async function watched(turns: Parameters<typeof scriptedResponder>[0], options: Partial<SimulatorOptions> = {}) {
  const requests: ResponderRequest[] = []
  const responder = scriptedResponder(turns)
  const sim = await simulator({
    bindThinking: "error",
    ...options,
    responder: {
      ...responder,
      answer(turn) {
        requests.push(turn.request)
        return responder.answer(turn)
      },
    },
  })
  return { sim, requests }
}

const decisionsOf = async (agent: Agent, subtype: string) => {
  const found: object[] = []
  for await (const entry of agent.conversation.entries())
    if (entry.type === "strata" && entry.subtype === subtype) found.push(entry)
  return found
}

/** Pretends that the model supports cache editing, which no public model does. */
const EDITING = { models: { "claude-opus-5-5": { accepts: { cacheEditing: true } } } }

describe("L2-2 to L2-4 by cache edit, from end to end", () => {
  type Raw = { type: string; edits?: { cache_reference: string }[] }

  /** An agent on a simulator with cache editing, and the positions at which each request asked for deletions. */
  async function editingAgent(
    turns: Parameters<typeof scriptedResponder>[0],
    more: Parameters<typeof thriftyAgent>[1] = {},
  ) {
    const { sim, requests } = await watched(turns, { cacheEdits: true })
    const agent = await thriftyAgent(sim, { settings: EDITING, ...more })
    const asked: { at: string; count: number }[][] = []
    agent.conversation.on("prepared", ({ request }) => {
      asked.push(
        request.messages.flatMap(({ content }, message) =>
          (content as unknown as Raw[]).flatMap(({ type, edits = [] }, block) =>
            type === "cache_edits" ? [{ at: `${message}.${block}`, count: edits.length }] : [],
          ),
        ),
      )
    })
    return { sim, requests, agent, asked }
  }

  const deletedIn = (request: ResponderRequest) =>
    resultsIn(request).filter((text) => text === "[tool result cleared by context management]").length

  test("of twelve active results seven are deleted, the prefix is still read, later requests ask at the same position", async () => {
    const { sim, requests, agent, asked } = await editingAgent([...rounds(15, 1_000), "Again."])
    const { events, end } = await ask(agent, "go")
    expect(end.reason).toBe("answer")
    expect(asked.findIndex((places) => places.length > 0)).toBe(12)
    expect(asked.slice(12)).toEqual(Array(4).fill([{ at: "24.1", count: 7 }]))
    expect(deletedIn(requests.at(-1)!)).toBe(7)
    expect(ofType(events, "notice")).toEqual([
      {
        type: "notice",
        quiet: true,
        message: expect.stringMatching(/^7 old tool results were deleted in the server's cache: [\d,]+ tokens saved/),
      },
    ])
    const inputs = sim.log.map(({ input }) => input!)
    const [before, first] = inputs.slice(11)
    expect(first!.read).toBeLessThan(before!.read + before!.written)
    expect(first!.read).toBeGreaterThan(0.4 * before!.read)
    expect(first!.written).toBeLessThan(3_000) // only the new result
    for (let n = 13; n < inputs.length; n++) expect(inputs[n]!.read).toBe(inputs[n - 1]!.read + inputs[n - 1]!.written)
    expect(sim.log.every(({ status }) => status === 200)).toBe(true)
    expect(await decisionsOf(agent, "thinking-dropped")).toEqual([])
  })

  test.runIf(isWhole)(
    "L2-3 after a resume deletions are requested at the same position, and the cache is read",
    async () => {
      const where = project()
      const { sim, agent, asked } = await editingAgent([...rounds(13, 1_000), "Again."], { ...where, id: "same" })
      await ask(agent, "go")
      expect(asked.at(-1)).toEqual([{ at: "24.1", count: 7 }])
      await agent.close()
      const again = await thriftyAgent(sim, { ...where, id: "same", settings: EDITING })
      await ask(again, "and?")
      expect((await decisionsOf(again, "cache-edits-dropped")).length).toBe(0)
      const [before, last] = sim.log.slice(-2).map(({ input }) => input!)
      expect(last!.read).toBe(before!.read + before!.written)
    },
  )

  const losses: readonly [string, (sim: Simulator) => void, number][] = [
    ["it is lost early", (sim) => sim.forgetCache(), 1],
    ["its five minutes are over", (sim) => void sim.clock.advance(6 * MINUTE), 0],
  ]
  test.each(losses.slice(0, size(1, losses.length)))(
    "L2-3 when the cache is gone because %s, results are cleared here and do not come back",
    async (_name, lose, late) => {
      const { sim, requests, agent, asked } = await editingAgent([...rounds(13, 1_000), ...rounds(2, 1_000), "End."])
      await ask(agent, "go")
      lose(sim)
      expect((await ask(agent, "on")).end.reason).toBe("answer")
      expect((await ask(agent, "end")).end.reason).toBe("answer")
      expect(asked.slice(14).map((places) => places.length)).toEqual([late, 0, 0, 0]) // noticed with the next response
      for (const request of requests.slice(13)) expect(deletedIn(request) + cleared(resultsIn(request))).toBe(7)
      expect(await decisionsOf(agent, "cache-edits-dropped")).toHaveLength(1)
      expect(sim.log.map(({ status }) => status).filter((status) => status !== 200)).toEqual([])
    },
  )
})

describe("layer 2 from end to end", () => {
  test("L2-1, L2-8 after an idle hour seven of twelve results are cleared, with one quiet line", async () => {
    const { sim, requests } = await watched([...rounds(12, 1_000), "Back again."])
    const agent = await thriftyAgent(sim)
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

  test.runIf(isWhole)(
    "L2-1, L2-12 while the cache is warm, or the pause is short, nothing is cleared and everything is read",
    async () => {
      const { sim, requests } = await watched([...rounds(12, 1_000), "Back again."])
      const agent = await thriftyAgent(sim)
      await ask(agent, "go")
      sim.clock.advance(4 * MINUTE)
      await ask(agent, "and now?")
      expect(cleared(resultsIn(requests.at(-1)!))).toBe(0)
      const [before, last] = sim.log.slice(-2).map(({ input }) => input!)
      expect(last!.read).toBe(before!.read + before!.written)
      expect(await decisionsOf(agent, "tool-results-cleared")).toEqual([])
    },
  )

  test("L2-7 a file whose Read was cleared can be read again", async () => {
    const { sim } = await watched([
      calls(["Read", { file_path: "notes.txt" }]),
      ...rounds(6, 1_000),
      calls(["Read", { file_path: "notes.txt" }]),
      "Read again.",
    ])
    const where = project({ "notes.txt": "what was noted, and a few words more than a marker has\n".repeat(20) })
    const agent = await thriftyAgent(sim, where)
    await ask(agent, "go")
    sim.clock.advance(61 * MINUTE)
    const { events } = await ask(agent, "again")
    const [again] = ofType(events, "tool-result")
    expect(String(again!.result.content)).toContain("what was noted")
  })

  test.runIf(isWhole).each(["claude-opus-5-5", "claude-opus-5"])(
    "L2-5 at 180,000 tokens the server clears for %s, and what it reports is recorded",
    async (name) => {
      const { sim, requests } = await watched(rounds(45, 8_000))
      const agent = await thriftyAgent(sim, { name })
      const { end } = await ask(agent, "go")
      expect(end.reason).toBe("answer")
      expect(cleared(resultsIn(requests.at(-1)!))).toBe(0) // the local copy stays complete
      const applied = await decisionsOf(agent, "server-edited")
      expect(applied[0]).toMatchObject({ edits: [{ type: "clear_tool_uses_20250919" }] })
      const inputs = sim.log.map(({ input }) => input!.read + input!.written + input!.uncached)
      expect(Math.max(...inputs)).toBeLessThan(200_000)
    },
  )

  test.runIf(isWhole)(
    "L2-5 what the server cleared stays cleared and nothing more is: its cache breaks once, not with every call",
    async () => {
      const { sim, requests } = await watched(rounds(36, 8_000))
      const agent = await thriftyAgent(sim)
      await ask(agent, "go")
      const applied = await decisionsOf(agent, "server-edited")
      expect(applied.length).toBeGreaterThan(5)
      const amounts = applied.map((decision) => JSON.stringify((decision as { edits: unknown }).edits))
      const inputs = sim.log.map(({ input }) => input!)
      const misses = inputs.filter(({ read }, i) => i > 0 && read < inputs[i - 1]!.read)
      expect(misses).toHaveLength(new Set(amounts).size)
      expect(misses.length).toBeLessThanOrEqual(2)
      expect(requests.length).toBe(37)
    },
  )

  test.runIf(isWhole)(
    "L2-6, L2-10 without the server's help, by size: if clearing cannot pay off, only once the cache is cold",
    async () => {
      const settings = {
        planner: "off", // it clears as soon as the cache is cold, by time
        switches: { "clear-by-api": false },
        figures: { "expected-turns": 0 },
        autoCompactTokens: 150_000,
      } as const
      const { sim, requests } = await watched([...rounds(16, 8_000), "Later."])
      const agent = await thriftyAgent(sim, { name: "claude-opus-5", settings })
      await ask(agent, "go")
      expect(agent.conversation.windowUsage().state).toBe("warning")
      expect(cleared(resultsIn(requests.at(-1)!))).toBe(0)
      sim.clock.advance(6 * MINUTE)
      await ask(agent, "and now?")
      expect(cleared(resultsIn(requests.at(-1)!))).toBeGreaterThan(0)
      expect(await decisionsOf(agent, "tool-results-cleared")).toMatchObject([{ why: "size" }])
    },
  )

  test.runIf(isWhole)("L2-10 over a long warm stretch, clearing by size costs less than doing nothing", async () => {
    const spent = async (bySize: boolean) => {
      const settings = { switches: { "clear-by-api": false, "clear-by-size": bySize }, autoCompactTokens: 150_000 }
      const { sim } = await watched(rounds(size(36, 45), 8_000))
      const agent = await thriftyAgent(sim, { name: "claude-opus-5", settings })
      expect((await ask(agent, "go")).end.reason).toBe("answer")
      return summarise(engineOf(agent.conversation).views.ledger).dollars
    }
    expect(await spent(true)).toBeLessThan(0.8 * (await spent(false)))
  })

  test("L2-3, L2-11, CACHE-6 property: with bound thinking, no clearing ever gets a 400", async () => {
    const step = fc.oneof(
      fc.record({ rounds: fc.integer({ min: 1, max: 8 }), words: fc.integer({ min: 20, max: 2_000 }) }),
      fc.record({ minutes: fc.integer({ min: 1, max: 130 }) }),
      fc.record({ memory: fc.integer({ min: 1, max: 200 }) }),
      fc.constant({ forget: true }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 8 }), fc.boolean(), async (steps, cacheEdits) => {
        const turns = steps.flatMap((each) => ("rounds" in each ? rounds(each.rounds, each.words) : []))
        const { sim } = await watched([...turns, saying(100), "The end."], { cacheEdits })
        const agent = await thriftyAgent(sim, cacheEdits ? { settings: EDITING } : {})
        for (const each of steps) {
          if ("minutes" in each) sim.clock.advance(each.minutes * MINUTE)
          else if ("forget" in each) sim.forgetCache()
          else if ("memory" in each)
            await agent.conversation.attach({
              type: "memory",
              path: "memory/a.md",
              content: "noted ".repeat(each.memory),
            })
          else expect((await ask(agent, "go on")).end.reason).toBe("answer")
        }
        expect((await ask(agent, "finish")).end.reason).toBe("answer")
        expect(sim.log.map(({ status }) => status).filter((status) => status !== 200)).toEqual([])
      }),
      { ...fuzz, numRuns: Math.ceil(RUNS / 6) }, // each plays several queries over HTTP
    )
  })
})
