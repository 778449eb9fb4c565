/** BEY-4: the planner compacts early, live, with the real SDK against the simulator over HTTP. */
import { describe, expect, test } from "vitest"
import { engineOf } from "../../../src/conversation/conversation.ts"
import { internalsOf } from "../../../src/conversation/internals.ts"
import { memoryStore } from "../../../src/journal/in-memory/store.ts"
import { isWhole } from "../../size.ts"
import { ask, ofType, project } from "../agent/agents.ts"
import { rounds } from "../layers/conversations.ts"
import {
  compactingAgent,
  compactingSimulator,
  decisionsOf,
  entriesOf,
  MODELS_ONLY,
  NO_NOTES,
  NOTES_OF,
} from "./compacting.ts"

const WINDOW = 1_000_000 // far from full
const ROUNDS = 18

const WORDS = 8_500 // just below the offloading limit

async function worked(planner: "off" | "economy" | "balanced") {
  const { sim, of } = await compactingSimulator(rounds(ROUNDS, WORDS))
  const place = { ...project(), id: "planned", store: memoryStore() }
  const options = { ...place, window: WINDOW, settings: { ...NO_NOTES, planner, contextWindow: WINDOW } }
  const agent = await compactingAgent(sim, options)
  const { events, end } = await ask(agent, "Read the words.")
  return { sim, of, agent, events, end, options }
}

const AHEAD = { planner: "economy" as const, switches: { "compact-ahead": true } }
const NOTES = NOTES_OF("The words are read, one by one.")

describe("BEY-4 the planner", () => {
  test("compacts once sending the old part again has cost as much as a compaction, and says so", async () => {
    const { sim, agent, events, end, options } = await worked("economy")
    expect(end.reason).toBe("answer")
    const [compacted, ...more] = await decisionsOf(agent, "compacted")
    expect(more.length).toBeLessThanOrEqual(1)
    const pattern =
      /^About [\d,]+ old tokens need not be sent again: sending them again has cost \$\d+\.\d\d since the last boundary, and a compaction costs \$(\d+\.\d\d)\. \/undo takes it back, and the setting "planner": "off" keeps it from happening again\.$/
    expect(compacted!.planned).toMatch(pattern)
    expect(compacted!.tokensBefore).toBeLessThan(WINDOW / 4)
    expect(compacted!.tokensAfter).toBeLessThan(compacted!.tokensBefore - 20_000)
    expect(ofType(events, "compacted")[0]).toMatchObject({ planned: compacted!.planned })
    const live = JSON.stringify(await agent.conversation.prepare())
    await agent.close()
    const resumed = await compactingAgent(sim, { ...options, mustExist: true })
    expect(JSON.stringify(await resumed.conversation.prepare())).toBe(live)
  })

  test.runIf(isWhole)(
    "CACHE-3 system prompt and project instructions are still read from the cache right after it",
    async () => {
      const { sim } = await compactingSimulator(rounds(ROUNDS, WORDS))
      const instructions = "Always write the tests first. ".repeat(1_500)
      const where = project({ "AGENTS.md": instructions })
      const agent = await compactingAgent(sim, {
        ...where,
        window: WINDOW,
        settings: { ...NO_NOTES, planner: "economy" },
      })
      await ask(agent, "Read the words.")
      const entries = await entriesOf(agent)
      const boundary = entries.findIndex((entry) => entry.type === "system" && entry.subtype === "compact_boundary")
      const first = entries.slice(boundary).find((entry) => entry.type === "assistant")
      const { estimator } = engineOf(agent.conversation).views
      expect(first!.message.usage!.cache_read_input_tokens).toBeGreaterThan(0.8 * estimator.text(instructions))
    },
  )

  test.runIf(isWhole)("never compacts in the middle of a task where it is balanced", async () => {
    const { agent, of } = await worked("balanced")
    expect(await decisionsOf(agent, "compacted")).toEqual([])
    expect(of("summary").length).toBeLessThanOrEqual(1) // for the next request
  })

  test.runIf(isWhole)("counts in a copy of a conversation only what the copy itself has cost", async () => {
    const { sim, agent, options } = await worked("off")
    const { conversation } = agent
    await conversation.branch(engineOf(conversation).views.context.lastResponse!.uuid, "copy")
    await agent.close()
    const goesOn = async (id: string) => {
      const again = await compactingAgent(sim, { ...options, id, settings: { ...NO_NOTES, planner: "economy" } })
      await ask(again, "And now?")
      return (await decisionsOf(again, "compacted")).length
    }
    expect(await goesOn("copy")).toBe(0)
    expect(await goesOn("planned")).toBe(1)
  })

  test.runIf(isWhole)("compacts nothing where it is off", async () => {
    const { agent, of } = await worked("off")
    expect(await decisionsOf(agent, "compacted")).toEqual([])
    expect(of("summary")).toEqual([])
  })

  test.runIf(isWhole)("has the notes written shortly before it compacts, so that no one waits for them", async () => {
    const { sim, of } = await compactingSimulator(rounds(2 * ROUNDS, WORDS), NOTES)
    const agent = await compactingAgent(sim, { window: WINDOW, settings: AHEAD })
    await ask(agent, "Read the words.", { watch: () => agent.conversation.whenIdle() })
    const [first] = await decisionsOf(agent, "compacted")
    expect(first).toMatchObject({ route: "notes", planned: expect.stringContaining("need not be sent again") })
    expect(of("summary")).toEqual([])
  })

  test.runIf(isWhole)("has none written where no price is known, because it does not compact there", async () => {
    const { sim, of } = await compactingSimulator(rounds(ROUNDS, WORDS), NOTES)
    const agent = await compactingAgent(sim, { window: WINDOW, name: "claude-fable-5-2", settings: AHEAD })
    await ask(agent, "Read the words.", { watch: () => agent.conversation.whenIdle() })
    expect(await decisionsOf(agent, "compacted")).toEqual([])
    expect(of("notes")).toEqual([])
  })

  test.runIf(isWhole)("tries once, and leaves the next attempt to the threshold", async () => {
    const { sim } = await compactingSimulator(rounds(ROUNDS, WORDS), { summary: () => ({ content: [] }) })
    const agent = await compactingAgent(sim, { window: WINDOW, settings: { ...MODELS_ONLY, planner: "economy" } })
    await ask(agent, "Read the words.")
    expect(await decisionsOf(agent, "compaction-failed")).toHaveLength(1)
    expect(engineOf(agent.conversation).views.compactions).toMatchObject({ count: 0, failures: 1 })
  })

  test("reports what it waits for", async () => {
    const { sim } = await compactingSimulator(rounds(3, 6_000))
    const settings = { ...NO_NOTES, planner: "economy" as const }
    const agent = await compactingAgent(sim, { window: WINDOW, settings })
    await ask(agent, "Read the words.")
    const { mode, compaction, cache } = internalsOf(agent.conversation).planner()
    expect(mode).toBe("economy")
    expect(compaction).toEqual({
      where: "anywhere",
      spent: expect.stringMatching(/^\$0\.\d\d$/),
      due: expect.stringMatching(/^\$0\.\d\d$/),
      at: expect.any(Number),
    })
    expect(cache).toEqual({ state: "warm", until: new Date(sim.clock.now() + 5 * 60_000) })
  })

  test("says where it would compact", async () => {
    const { sim } = await compactingSimulator(rounds(3, 6_000))
    const from = async (window: number) => {
      const agent = await compactingAgent(sim, { window, settings: NO_NOTES })
      return [internalsOf(agent.conversation).planner().compaction, agent.conversation.thresholds.autoCompact] as const
    }
    expect((await from(WINDOW))[0]).toEqual({ where: "between-requests", from: 115_000 })
    const [planned, threshold] = await from(100_000)
    expect(planned).toEqual({ where: "between-requests", from: 0.42 * threshold })
  })
})
