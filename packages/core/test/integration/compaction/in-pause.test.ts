/** BEY-4: a compaction that only saves money is prepared in a pause, and interrupts nothing. */
import { describe, expect, test } from "vitest"
import { createClock } from "../../../../sim/src/clock.ts"
import { manualClock } from "../../../src/base/clock.ts"
import { engineOf } from "../../../src/conversation/conversation.ts"
import { isWhole } from "../../size.ts"
import { ask } from "../agent/agents.ts"
import { rounds } from "../layers/conversations.ts"
import { compactingAgent, compactingSimulator, decisionsOf, NOTES_OF, phasesIn } from "./compacting.ts"

const MINUTE = 60_000
const SETTINGS = {
  figures: { "compact-early": 30_000 },
  switches: { "compact-ahead": true, "clear-by-time": false, "clear-by-api": false },
}

/** A conversation of a user who has worked for a while, in a window that is far from full. */
async function worked({ count = 40, settings = {} }: { count?: number; settings?: object } = {}) {
  const clock = manualClock()
  const made = await compactingSimulator(rounds(80, 2_500), {
    clock: createClock(() => clock.now().getTime()),
    ...NOTES_OF("The words are read, one by one."),
  })
  const agent = await compactingAgent(made.sim, { clock, window: 300_000, settings: { ...SETTINGS, ...settings } })
  await ask(agent, "Read the first words.", { maxTurns: 8 })
  await agent.conversation.compact() // a long conversation: preparing a summary is a small risk
  await ask(agent, "Read on.", { maxTurns: count })
  await agent.conversation.whenIdle()
  return { ...made, clock, agent, summaries: () => made.seen.filter(({ about }) => about !== "work").length }
}

describe("BEY-4 in a pause", () => {
  test("notes are written from the warm cache shortly before it expires, and installed once the cache is gone", async () => {
    const { agent, clock, of, sim } = await worked() // interrupted: there is no answer
    clock.advance(4 * MINUTE)
    await agent.conversation.whenIdle()
    expect(of("notes")).toEqual([])
    clock.advance(0.5 * MINUTE)
    await agent.conversation.whenIdle()
    const paid = (await decisionsOf(agent, "spent")).filter(({ purpose }) => purpose === "notes").at(-1)!
    expect(paid.usage.cache_read_input_tokens).toBeGreaterThan(30_000)
    expect(agent.conversation.preparedCompaction).toBe("ready")
    clock.advance(20 * MINUTE)
    const requests = of("work").length
    const { events } = await ask(agent, "And now?", { maxTurns: 1 })
    expect(of("work").length).toBe(requests + 1)
    const compacted = (await decisionsOf(agent, "compacted")).at(-1)!
    expect(compacted).toMatchObject({
      prepared: true,
      planned: expect.stringMatching(/the cache is gone.*\/undo takes it back, and the setting "planner": "off"/),
    })
    expect(phasesIn(events, "preparing")).toEqual([]) // nothing waits
    expect(sim.log.every(({ status }) => status === 200)).toBe(true)
    await agent.conversation.undo()
    expect(engineOf(agent.conversation).views.context.size().tokens).toBeGreaterThan(compacted.tokensAfter)
  })

  test.runIf(isWhole)("nothing is written below the size, or where the planner is off", async () => {
    for (const settings of [{ figures: {} }, { planner: "off" }]) {
      const { agent, clock, summaries } = await worked({ settings })
      const before = summaries()
      clock.advance(4.5 * MINUTE)
      await agent.conversation.whenIdle()
      expect(summaries()).toBe(before)
    }
  })

  test.runIf(isWhole)("nothing is written once the conversation is closed", async () => {
    const { agent, clock, summaries } = await worked()
    const before = summaries()
    await agent.close()
    clock.advance(60 * MINUTE)
    expect(summaries()).toBe(before)
  })

  test.runIf(isWhole)("a prepared summary is not installed in the middle of a task", async () => {
    const { agent, clock } = await worked()
    clock.advance(4.5 * MINUTE)
    await agent.conversation.whenIdle()
    const count = engineOf(agent.conversation).views.compactions.count
    expect(agent.conversation.preparedCompaction).toBe("ready")
    await agent.conversation.prepare() // the newest message is a result: the task continues
    expect(engineOf(agent.conversation).views.compactions.count).toBe(count)
    await ask(agent, "And now?", { maxTurns: 1 })
    expect(engineOf(agent.conversation).views.compactions.count).toBe(count + 1) // a new request begins
  })
})
