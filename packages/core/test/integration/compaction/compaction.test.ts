import { describe, expect, test } from "vitest"
import { engineOf } from "../../../src/conversation/conversation.ts"
import { defaultLayers } from "../../../src/conversation/default-layers.ts"
import type { Entry } from "../../../src/journal/entries.ts"
import type { Route } from "../../../src/layers/4-compaction/summarise/route.ts"
import { serialiseRequest } from "../../../src/views/context/request.ts"
import { isWhole } from "../../size.ts"
import { ask, ofType } from "../agent/agents.ts"
import { rounds } from "../layers/conversations.ts"
import {
  compactingAgent,
  compactingSimulator,
  decisionsOf,
  entriesOf,
  MODELS_ONLY,
  NO_NOTES,
  NOTES_OF,
  phasesIn,
  textsOf,
} from "./compacting.ts"

const LONG = rounds(7, 4_000)

describe("by the model", () => {
  test("L4-1, L4-13 at the threshold a fork writes the summary from the cache, and the work continues", async () => {
    const { sim, of } = await compactingSimulator(LONG)
    const agent = await compactingAgent(sim, { settings: NO_NOTES })
    const { events, end } = await ask(agent, "Find out what the words say. Never use tabs.")
    expect(end).toMatchObject({ reason: "answer" })
    expect(sim.log.every(({ status }) => status === 200)).toBe(true)
    const [compacted] = await decisionsOf(agent, "compacted")
    expect(compacted).toMatchObject({
      route: "shared",
      trigger: "auto",
      threshold: agent.conversation.thresholds.autoCompact,
    })
    expect(compacted!.tokensAfter).toBeLessThan(compacted!.tokensBefore / 2)
    expect(ofType(events, "compacted")).toHaveLength(of("summary").length)
  })

  test.runIf(isWhole)(
    "L4-13 the compaction's request has the bytes of the previous one, reads 95% of its input from the cache and writes nothing",
    async () => {
      const { sim, seen } = await compactingSimulator(rounds(40, 2_000))
      const agent = await compactingAgent(sim, {
        settings: { switches: { notes: false, "clear-by-api": false, "clear-by-size": false } },
        window: 100_000,
      })
      await ask(agent, "Find out what the words say.")
      const at = seen.findIndex(({ about }) => about === "summary")
      const { uncached, read, written } = sim.log[at]!.input!
      expect(read / (uncached + read + written)).toBeGreaterThan(0.95)
      expect(written).toBe(0)
      const [before, fork] = [seen[at - 1]!.request, seen[at]!.request]
      expect(fork.tools).toEqual(before.tools)
      expect(JSON.stringify(fork.messages.slice(0, before.messages.length - 1))).toBe(
        JSON.stringify(before.messages.slice(0, -1)),
      )
      expect(fork.max_tokens).toBe(before.max_tokens)
    },
  )

  test.runIf(isWhole)(
    "L4-12, L4-13 an empty answer, an error text, a call instead of text: the direct call takes over",
    async () => {
      for (const wrong of [
        { content: [{ type: "text", text: "API Error: 500 overloaded" }] },
        { content: [{ type: "tool_use", id: "toolu_wrong", name: "Grep", input: { words: 2 } }] },
      ] as const) {
        let asked = 0
        const { sim, of } = await compactingSimulator(LONG, { summary: () => (asked++ === 0 ? wrong : undefined) })
        const agent = await compactingAgent(sim, { settings: NO_NOTES })
        const { end } = await ask(agent, "Go.")
        expect(end.reason).toBe("answer")
        expect((await decisionsOf(agent, "compacted"))[0]).toMatchObject({ route: "direct" })
        const direct = of("summary")[1]!.request
        expect(direct.tools?.every(({ description }) => /cannot be used now/.test(description ?? ""))).not.toBe(false)
        expect(direct.max_tokens).toBe(20_000)
      }
    },
  )

  test.runIf(isWhole)(
    "L4-1 after a fork that the API refuses comes the direct call; the ledger has the cost of both",
    async () => {
      const { sim, seen } = await compactingSimulator(LONG)
      const agent = await compactingAgent(sim, { settings: NO_NOTES })
      agent.conversation.on("compaction", (progress) => {
        if (progress.phase === "summarising" && progress.route === "shared" && progress.characters === undefined)
          sim.faults.add({ fault: { kind: "rate-limit", retryAfterSeconds: null }, times: 1 })
      })
      const { end } = await ask(agent, "Go.")
      expect(end.reason).toBe("answer")
      expect((await decisionsOf(agent, "compacted"))[0]).toMatchObject({ route: "direct" })
      expect(seen.filter(({ about }) => about === "summary").length).toBeGreaterThan(0)
      const spent = await decisionsOf(agent, "spent")
      expect(spent.every(({ purpose }) => purpose === "compaction")).toBe(true)
      expect(engineOf(agent.conversation).views.ledger.lines.size).toBe(2)
    },
  )

  test.runIf(isWhole)(
    "L4-1 if no model can write a summary, the route without a model does; without that, an error says what to do",
    async () => {
      const offline: Route = {
        name: "offline",
        cut: async ({ cut }) => cut,
        summarise: async ({ cut }) => ({
          kind: "summary",
          text: "Summary:\nextracted",
          cut,
          isQuoted: true,
          responses: [],
        }),
      }
      const broken = { summary: () => "" }
      const one = await compactingSimulator(LONG, broken)
      const helped = await compactingAgent(one.sim, {
        settings: NO_NOTES,
        makeLayers: (surroundings) => defaultLayers({ ...surroundings, offline }),
      })
      expect((await ask(helped, "Go.")).end.reason).toBe("answer")
      expect((await decisionsOf(helped, "compacted"))[0]).toMatchObject({ route: "offline" })

      const two = await compactingSimulator(rounds(20, 4_000), broken)
      const nothingElse = { switches: { ...MODELS_ONLY.switches, "clear-by-size": false } }
      const alone = await compactingAgent(two.sim, { settings: nothingElse })
      const { end } = await ask(alone, "Go.")
      expect(end).toMatchObject({ reason: "error", message: expect.stringMatching(/context is full.*Compact/s) })
    },
  )

  test.runIf(isWhole)(
    "L4-3 after three failures in a row automatic compaction stops; manually it still works, and a success restarts it",
    async () => {
      let works = false
      const { sim, of } = await compactingSimulator(rounds(40, 1_000), { summary: () => (works ? undefined : "") })
      const agent = await compactingAgent(sim, { settings: MODELS_ONLY, window: 70_000 })
      const { events } = await ask(agent, "Go.")
      expect(await decisionsOf(agent, "compaction-failed")).toHaveLength(3)
      expect(engineOf(agent.conversation).views.compactions.failures).toBe(3)
      expect(phasesIn(events, "message")).toContainEqual(
        expect.stringMatching(/stopped after 3 consecutive failures.*\/compact/s),
      )
      const tried = of("summary").length
      await ask(agent, undefined)
      expect(of("summary")).toHaveLength(tried)
      works = true
      await agent.conversation.compact()
      expect(engineOf(agent.conversation).views.compactions).toMatchObject({ failures: 0, count: 1 })
    },
  )

  test.runIf(isWhole)(
    "L4-15 too long, and the error says by how much: the oldest rounds are dropped until it fits",
    async () => {
      const { sim, of } = await compactingSimulator(LONG, { models: { "claude-opus-5-5": { window: 30_000 } } })
      const agent = await compactingAgent(sim, { settings: NO_NOTES, window: 70_000 })
      const { end } = await ask(agent, "Go.")
      expect(end.reason).toBe("answer")
      expect(of("summary").length).toBeGreaterThan(0)
      expect((await decisionsOf(agent, "compacted"))[0]).toMatchObject({ route: "direct" })
    },
  )

  test("L4-2 neither a summary nor notes trigger a compaction of their own, however large they are", async () => {
    const { sim, of } = await compactingSimulator(LONG)
    const agent = await compactingAgent(sim)
    await ask(agent, "Go.")
    await agent.conversation.whenIdle()
    const made = await decisionsOf(agent, "compacted")
    expect(made.length).toBeGreaterThan(0)
    expect(of("summary").length).toBe(made.filter(({ route }) => route === "shared").length)
  })

  test.runIf(isWhole)(
    "L4-4 a second compaction knows the first: which it was, and how many answers came in between",
    async () => {
      const { sim } = await compactingSimulator(rounds(15, 4_000))
      const agent = await compactingAgent(sim, { settings: NO_NOTES })
      await ask(agent, "Go.")
      const [first, second] = await decisionsOf(agent, "compacted")
      expect(first!.previous).toBeUndefined()
      expect(second!.previous).toEqual({ boundary: first!.boundary, responses: expect.any(Number) })
      const between = (await entriesOf(agent)).slice(
        (await entriesOf(agent)).findIndex(({ uuid }) => uuid === first!.boundary),
        (await entriesOf(agent)).findIndex(({ uuid }) => uuid === second!.boundary),
      )
      expect(second!.previous!.responses).toBe(between.filter(({ type }) => type === "assistant").length)
    },
  )
})

describe("from the notes", () => {
  test.runIf(isWhole)(
    "L4-5, L4-6 notes serve as the summary without a model call, and messages they do not cover are kept",
    async () => {
      const { sim, of } = await compactingSimulator(
        rounds(10, 4_000),
        NOTES_OF("the words were read one after the other"),
      )
      const figures = { "tail-min": 4_000, "tail-max": 9_000, "background-share": 100 } // the cost of notes has its own tests
      const agent = await compactingAgent(sim, { settings: { figures } })
      const { end } = await ask(agent, "Go.", { watch: () => agent.conversation.whenIdle() })
      expect(end.reason).toBe("answer")
      const [compacted] = await decisionsOf(agent, "compacted")
      expect(compacted).toMatchObject({ route: "notes" })
      expect(compacted!.kept.length).toBeGreaterThan(0)
      expect(of("summary")).toEqual([])
      const last = textsOf(of("work").at(-1)!.request).join("\n")
      expect(last).toContain("the words were read one after the other")
      expect(sim.log.every(({ status }) => status === 200)).toBe(true)
    },
  )

  test.runIf(isWhole)("L4-5 an unfilled template is not a summary: the model writes one", async () => {
    const { sim, of } = await compactingSimulator(LONG, { notes: () => "Nothing new to note." })
    const agent = await compactingAgent(sim)
    await ask(agent, "Go.", { watch: () => agent.conversation.whenIdle() })
    expect((await decisionsOf(agent, "compacted"))[0]).toMatchObject({ route: "shared" })
    expect(of("notes").length).toBeGreaterThan(0)
  })

  test.runIf(isWhole)(
    "L4-9 notes that would leave the context at the threshold are refused, and the model writes a summary",
    async () => {
      const { sim } = await compactingSimulator(rounds(10, 4_000), NOTES_OF("short"))
      const agent = await compactingAgent(sim, {
        settings: { figures: { "tail-min": 200_000, "tail-max": 400_000 } },
      })
      await ask(agent, "Go.", { watch: () => agent.conversation.whenIdle() })
      expect((await decisionsOf(agent, "compacted")).map(({ route }) => route)).toContain("shared")
    },
  )

  test.runIf(isWhole)(
    "L4-7, CACHE-6 on a model that binds thinking, kept rounds are sent without it and nothing is refused",
    async () => {
      const thinking = rounds(10, 4_000).map((turn) =>
        typeof turn === "function"
          ? async (given: Parameters<typeof turn>[0]) => {
              const answer = await turn(given)
              if (typeof answer === "string") return answer
              return { content: [{ type: "thinking" as const, thinking: "Let me see." }, ...answer.content] }
            }
          : turn,
      )
      const { sim } = await compactingSimulator(thinking, NOTES_OF("what was thought"))
      const agent = await compactingAgent(sim, { settings: { figures: { "tail-min": 4_000, "tail-max": 9_000 } } })
      const { end } = await ask(agent, "Go.", { watch: () => agent.conversation.whenIdle() })
      expect(end.reason).toBe("answer")
      expect((await decisionsOf(agent, "compacted"))[0]!.kept.length).toBeGreaterThan(0)
      expect(await decisionsOf(agent, "thinking-dropped")).not.toEqual([])
      expect(sim.log.filter(({ status }) => status !== 200)).toEqual([])
    },
  )
})

describe("giving up", () => {
  test.runIf(isWhole)(
    "L4-14 at any moment of a compaction, the conversation stays byte for byte as it was",
    async () => {
      for (const phase of ["preparing", "summarising", "restoring"] as const) {
        const { sim } = await compactingSimulator(LONG)
        const agent = await compactingAgent(sim, { settings: NO_NOTES, window: 200_000 })
        await ask(agent, "Go.")
        const sent = serialiseRequest(await agent.conversation.prepare())
        const before = JSON.stringify(await entriesOf(agent))
        const stopping = new AbortController()
        agent.conversation.on("compaction", (progress) => progress.phase === phase && stopping.abort())
        await expect(agent.conversation.compact({}, { signal: stopping.signal })).rejects.toThrow()
        const after = await entriesOf(agent)
        const isCost = (entry: Entry) => entry.type === "strata" && entry.subtype === "spent" // paid amounts are recorded
        expect(JSON.stringify(after.filter((entry) => !isCost(entry)))).toBe(before)
        expect(after.filter(isCost)).toHaveLength(phase === "restoring" ? 1 : 0)
        expect(serialiseRequest(await agent.conversation.prepare())).toBe(sent)
      }
    },
  )
})
