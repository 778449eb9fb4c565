/** L4-28, L4-35: with default settings no request waits for a summary, unless the window itself is full. */
import { describe, expect, test } from "vitest"
import type { Agent } from "../../../src/agent/agent.ts"
import { manualClock } from "../../../src/base/clock.ts"
import { engineOf } from "../../../src/conversation/conversation.ts"
import { memoryStore } from "../../../src/journal/in-memory/store.ts"
import { isWhole, size } from "../../size.ts"
import { ask, project } from "../agent/agents.ts"
import { rounds } from "../layers/conversations.ts"
import { compactingAgent, compactingSimulator, decisionsOf, entriesOf, NOTES_OF } from "./compacting.ts"

const AHEAD = { switches: { "compact-ahead": true, "clear-by-api": false, "clear-by-size": false } }
const { notes: write } = NOTES_OF("The words were read, and more are to come.")

/** A model that finishes the notes after this many further requests of the conversation. */
async function slowly(turns: number, { count = 45, words = 2_000 } = {}) {
  const waiting: { readonly until: number; readonly resolve: () => void }[] = []
  const asked: number[] = []
  const begun = Promise.withResolvers<void>()
  const work = () => made.of("work").length
  const made = await compactingSimulator(rounds(count, words), {
    async notes(turn) {
      const answer = await write(turn)
      if (typeof answer === "string") return { content: [{ type: "text", text: answer }] }
      const { promise, resolve } = Promise.withResolvers<void>()
      asked.push(work())
      begun.resolve()
      waiting.push({ until: work() + turns, resolve })
      await promise
      return answer!
    },
  })
  /** A `watch` callback: once the notes are written, it waits until they have arrived, however slow the machine is. */
  const releasing = (agent: Agent) => {
    const arrivals: (() => void)[] = []
    agent.conversation.on("entry", ({ entry }) => {
      if (entry.type === "strata" && entry.subtype === "notes-updated") arrivals.shift()?.()
    })
    return async () => {
      for (const each of waiting.filter(({ until }) => work() >= until)) {
        waiting.splice(waiting.indexOf(each), 1)
        const { promise, resolve } = Promise.withResolvers<void>()
        arrivals.push(resolve)
        each.resolve()
        await promise
      }
    }
  }
  const releaseAll = () => {
    for (const { resolve } of waiting) resolve()
  }
  return { ...made, asked, begun: begun.promise, releasing, releaseAll }
}

describe("L4-28, L4-35 nobody waits", () => {
  test.each(size([3], [1, 3, 6]))(
    "for a summary of %i turns at the threshold: requests go out meanwhile",
    async (turns) => {
      const { sim, releasing, of } = await slowly(turns)
      const agent = await compactingAgent(sim, { settings: AHEAD, window: 80_000 })
      const shown: string[] = []
      agent.conversation.on("compaction", ({ phase }) => shown.push(phase))
      const { end } = await ask(agent, "Go.", { watch: releasing(agent) })
      expect(end.reason).toBe("answer")
      const made = await decisionsOf(agent, "compacted")
      expect(made.length).toBeGreaterThan(0)
      expect(made.every(({ prepared }) => prepared)).toBe(true)
      expect(shown).not.toContain("preparing") // shown only to users who wait
      expect(of("summary")).toEqual([])
      expect(sim.log.every(({ status }) => status === 200)).toBe(true)
    },
  )

  test("L3-3, L4-5 by default the notes are the summary, also of the next compaction, and no other one is written", async () => {
    const { sim, of } = await compactingSimulator(
      rounds(size(45, 80), 2_000),
      NOTES_OF("The words are read, one by one."),
    )
    const agent = await compactingAgent(sim, { settings: AHEAD, window: 80_000 })
    await ask(agent, "Go.", { watch: () => agent.conversation.whenIdle() })
    const made = await decisionsOf(agent, "compacted")
    expect(made.length).toBeGreaterThan(1)
    expect(made.map(({ route }) => route)).toEqual(made.map(() => "notes"))
    expect(of("summary")).toEqual([])
    expect(await decisionsOf(agent, "compaction-failed")).toEqual([])
  })

  test.runIf(isWhole)(
    "for a planner's summary of 13 turns: what came meanwhile is preserved word for word",
    async () => {
      const { sim, releasing, asked } = await slowly(13, { count: 40, words: 6_000 })
      const agent = await compactingAgent(sim, { settings: { ...AHEAD, planner: "economy" }, window: 1_000_000 })
      await ask(agent, "Go.", { watch: releasing(agent) })
      const [first] = await decisionsOf(agent, "compacted")
      expect(first).toMatchObject({ prepared: true, planned: expect.stringContaining("need not be sent again") })
      const entries = await entriesOf(agent)
      const boundary = entries.findIndex(({ type }) => type === "system")
      const answers = entries.slice(0, boundary).filter(({ type }) => type === "assistant")
      const since = answers.slice(asked[0]!)
      expect(since.length).toBeGreaterThanOrEqual(12)
      for (const { uuid } of since) expect(first!.kept).toContain(uuid)
    },
  )

  test.runIf(isWhole)(
    "unless nothing more fits: then the request waits for the notes that are being written",
    async () => {
      const { sim, releaseAll, of } = await slowly(1_000)
      const agent = await compactingAgent(sim, { settings: AHEAD, window: 60_000 })
      let requests = 0
      agent.conversation.on("compaction", ({ phase }) => {
        if (phase !== "preparing") return
        requests ||= of("notes").length
        releaseAll()
      })
      const { end } = await ask(agent, "Go.", { maxTurns: 30 })
      expect(end.reason).not.toBe("error")
      expect(requests).toBe(1) // the running one, no second one
      expect((await decisionsOf(agent, "compacted"))[0]).toMatchObject({ route: "notes" })
    },
  )

  test("closed while a summary is written: nothing hangs, nothing is lost, and the same bytes come after a resume", async () => {
    const { sim, begun, of } = await slowly(1_000)
    const place = { ...project(), id: "closed", settings: AHEAD, window: 200_000 }
    const agent = await compactingAgent(sim, { ...place, settings: { ...AHEAD, autoCompactTokens: 20_000 } })
    await ask(agent, "Go.", { maxTurns: 10 })
    await begun
    expect(of("notes")).toHaveLength(1)
    const sent = JSON.stringify(await agent.conversation.prepare())
    await agent.close()
    const resumed = await compactingAgent(sim, { ...place, mustExist: true })
    expect(engineOf(resumed.conversation).views.compactions).toMatchObject({ count: 0, failures: 0 })
    expect(JSON.stringify(await resumed.conversation.prepare())).toBe(sent)
  })

  test("where no notes come, they are not asked for with every request: they rest until the context has grown by a tenth", async () => {
    const { sim, of } = await compactingSimulator(rounds(24, 1_000), { notes: () => "Not now." })
    const agent = await compactingAgent(sim, { settings: AHEAD, window: 60_000 })
    await ask(agent, "Go.", { watch: () => agent.conversation.whenIdle() })
    expect(of("notes").length).toBeGreaterThan(1)
    expect(of("notes").length).toBeLessThan(8)
  })

  test("a conversation that was only opened is not compacted: it says what is due, and your message begins it", async () => {
    const { sim, of } = await compactingSimulator(rounds(14, 2_000))
    const clock = manualClock()
    const place = { ...project(), id: "opened", store: memoryStore(), window: 200_000, clock }
    const first = await compactingAgent(sim, { ...place, settings: { ...AHEAD, disableAutoCompact: true } })
    await ask(first, "Go.", { maxTurns: 12 })
    await first.close()
    clock.advance(2 * 3_600_000)
    const switches = { ...AHEAD.switches, "compact-ahead": false, "clear-by-time": false }
    const settings = { switches, autoCompactTokens: 20_000 }
    const agent = await compactingAgent(sim, { ...place, settings, mustExist: true })
    const messages: string[] = []
    agent.conversation.on("compaction", (step) => step.phase === "message" && messages.push(step.message))
    await agent.conversation.prepare()
    await agent.conversation.prepare()
    expect(of("summary")).toEqual([])
    expect(engineOf(agent.conversation).views.compactions.count).toBe(0)
    expect(messages).toEqual([
      expect.stringMatching(/^This conversation is due for a compaction\. .*compaction starts at 20,000/),
    ])
    await ask(agent, "Go on.", { maxTurns: 1 })
    expect(engineOf(agent.conversation).views.compactions.count).toBe(1)
  })
})
