/** BEY-4: the cache is kept warm in pauses, with the real SDK against the simulator's cache. Tests move the clock and never wait. */
import { setImmediate } from "node:timers/promises"
import { describe, expect, test } from "vitest"
import { createClock } from "../../../../sim/src/clock.ts"
import type { ScriptedTurn } from "../../../../sim/src/responders/scripted.ts"
import { scriptedResponder } from "../../../../sim/src/responders/scripted.ts"
import type { SimulatorOptions } from "../../../../sim/src/start.ts"
import { KEY, simulator } from "../../../../sim/test/simulator.ts"
import type { Agent } from "../../../src/agent/agent.ts"
import { openAgentWith, settingsFor } from "../../../src/agent/open-agent.ts"
import type { SingleAgentOptions } from "../../../src/agent/options.ts"
import { manualClock } from "../../../src/base/clock.ts"
import { localUser } from "../../../src/base/owner.ts"
import { storePauses } from "../../../src/conversation/pauses.ts"
import { fileStore } from "../../../src/journal/file/file-store.ts"
import { anthropicModel } from "../../../src/model/anthropic/anthropic.ts"
import { CostBudget } from "../../../src/model/spending/budget.ts"
import { defineTool } from "../../../src/tools/define-tool.ts"
import { isWhole } from "../../size.ts"
import { decisionsOf } from "../compaction/compacting.ts"
import { cachedAfter, usagesOf } from "../layers/conversations.ts"
import { agentFor, ask, calls, MODEL, project } from "./agents.ts"

const MINUTE = 60_000
const LONG = `Keep this in mind: ${"some words ".repeat(15_000)}`
const QUIET = { switches: { notes: false, "auto-memory": false } } as const
const FIVE_MINUTES = { ...QUIET, cacheLifetime: "5m" } as const
const pauses = (count: number) => ({ count, tokens: count * 50_000 })
/** Earlier conversations of a user who came back after most pauses. */
const COMES_BACK = { conversations: 5, withinHour: pauses(5), beyondHour: pauses(0), grown: 250_000 }

/** A simulator and agents on one clock, for a user who usually comes back. */
async function scene(turns: readonly ScriptedTurn[], options: Partial<SimulatorOptions> = {}) {
  const clock = manualClock("2026-11-15T12:00:00.000Z")
  const simClock = createClock(() => clock.now().getTime())
  const sim = await simulator({
    responder: scriptedResponder(turns, { afterLast: "repeat" }),
    clock: simClock,
    ...options,
  })
  const open = async (more: Partial<SingleAgentOptions> = {}, earlier: object = COMES_BACK) => {
    const where = project()
    const store = fileStore({ root: where.dir })
    await storePauses({ store, files: store.memories({ shared: true }) }, localUser, () => earlier)
    return agentFor(sim, where, { clock, settings: QUIET, keepWarm: true, ...more })
  }
  /** Moves the clock and runs what became due. */
  const pass = async (agent: Agent, minutes: number) => {
    clock.advance(minutes * MINUTE)
    await agent.conversation.whenIdle()
    await setImmediate()
  }
  return { sim, clock, open, pass }
}

const pingsOf = async (agent: Agent) =>
  (await decisionsOf(agent, "spent")).filter(({ purpose }) => purpose === "keep-warm")

describe("BEY-4 in a pause", () => {
  test("the conversation goes once more without output, and the next request reads it after 50 minutes", async () => {
    const { sim, open, pass } = await scene(["One.", "Two."])
    const agent = await open()
    await ask(agent, LONG)
    const before = cachedAfter(usagesOf(agent).at(-1)!)
    await pass(agent, 4.5)
    await pass(agent, 45.5)
    const [ping, ...more] = await pingsOf(agent)
    expect(more).toEqual([])
    expect(ping).toMatchObject({ lifetime: "1h", usage: { cache_read_input_tokens: before, output_tokens: 0 } })
    // only the answer is new, and it is written for an hour
    const { cache_creation_input_tokens: written, cache_creation } = ping!.usage
    expect(written).toBeLessThan(20)
    expect(cache_creation).toEqual({ ephemeral_1h_input_tokens: written, ephemeral_5m_input_tokens: 0 })
    const reports: object[] = []
    agent.conversation.on("cache", (report) => reports.push(report))
    await ask(agent, "And now?")
    const kept = cachedAfter(ping!.usage)
    expect(usagesOf(agent).at(-1)!.cache_read_input_tokens).toBe(kept)
    expect(reports).toMatchObject([{ predicted: { read: kept }, verdict: { kind: "as-predicted" } }])
    expect(agent.conversation.cacheHistory().breaks).toEqual([])
    expect(sim.log.filter(({ output }) => output === 0)).toHaveLength(1)
    const byPurpose = agent.conversation.ledger().byPurpose.map(({ purpose, requests }) => [purpose, requests])
    expect(byPurpose).toContainEqual(["keep-warm", 1])
  })

  test("with five minutes set, the last request goes as it was, and the next one reads the cache after 12 minutes", async () => {
    const { open, pass } = await scene(["One.", "Two."])
    const agent = await open({ settings: FIVE_MINUTES })
    await ask(agent, LONG)
    const before = cachedAfter(usagesOf(agent).at(-1)!)
    await pass(agent, 4.5)
    await pass(agent, 4.5)
    const pings = await pingsOf(agent)
    expect(pings).toHaveLength(2)
    for (const { usage, lifetime } of pings) {
      expect(lifetime).toBe("5m")
      expect(usage).toMatchObject({
        cache_read_input_tokens: before,
        cache_creation_input_tokens: 0,
        output_tokens: 0,
      })
    }
    await pass(agent, 3)
    await ask(agent, "And now?")
    expect(usagesOf(agent).at(-1)!.cache_read_input_tokens).toBe(before)
  })

  test.runIf(isWhole)("it is let go after an hour, or after as many times as usually pay", async () => {
    const { open, pass } = await scene(["One."])
    const hour = await open()
    await ask(hour, LONG)
    await pass(hour, 4.5)
    for (let ping = 0; ping < 3; ping++) await pass(hour, 54)
    expect(await pingsOf(hour)).toHaveLength(1)

    const short = await open({ settings: FIVE_MINUTES })
    await ask(short, LONG)
    for (let ping = 0; ping < 6; ping++) await pass(short, 4.5)
    expect(await pingsOf(short)).toHaveLength(3)
  })

  test.runIf(isWhole)(
    "someone who always comes back too late pays for a fifth of a new write, not in every pause",
    async () => {
      const { open, pass } = await scene(["One."])
      const agent = await open()
      for (let day = 0; day < 8; day++) {
        await ask(agent, day === 0 ? LONG : "And now?")
        await pass(agent, 4.5)
        for (let hours = 0; hours < 4; hours++) await pass(agent, 54)
        await pass(agent, 16 * 60)
      }
      expect(await pingsOf(agent)).toHaveLength(4) // each costs a twentieth of the input price; a new write costs 1.25 of it
    },
  )

  test("nothing is sent where the machine slept and the timer fires too late", async () => {
    const { open, pass, sim, clock } = await scene(["One."])
    const timers: (() => void)[] = []
    const after = (ms: number, call: () => void) => {
      if (ms === 4.5 * MINUTE) timers.push(call)
      return () => undefined
    }
    const agent = await open({ clock: { now: clock.now, after } })
    await ask(agent, LONG)
    await pass(agent, 90)
    expect(timers).toHaveLength(1)
    timers[0]!()
    await pass(agent, 0)
    expect(sim.log).toHaveLength(1)
  })

  test("a tool that runs for long keeps it warm too", async () => {
    const { open, pass } = await scene([calls(["Slow", {}]), "Done."])
    const opened: { agent?: Agent } = {}
    const slow = defineTool({
      name: "Slow",
      description: "takes long",
      inputSchema: { type: "object", properties: {} },
      readOnly: true,
      execute: async () => {
        await pass(opened.agent!, 4.5)
        await pass(opened.agent!, 2)
        return "done"
      },
    })
    opened.agent = await open({ tools: [slow], mode: "bypass" })
    await ask(opened.agent, LONG)
    const [ping, ...more] = await pingsOf(opened.agent)
    expect(more).toEqual([])
    expect(usagesOf(opened.agent)[1]!.cache_read_input_tokens).toBe(cachedAfter(ping!.usage))
  })

  test("a failing ping ends it for this pause, is reported once, and the conversation continues", async () => {
    const { open, pass, sim } = await scene(["One.", "Two."], {
      faults: [{ fault: { kind: "overloaded" }, nth: 2 }],
    })
    const agent = await open()
    const failures: string[] = []
    agent.conversation.on("layerFailed", ({ layer, reason }) => failures.push(`${layer}: ${reason}`))
    await ask(agent, LONG)
    for (let minutes = 0; minutes < 3; minutes++) await pass(agent, 4.5)
    expect(sim.log).toHaveLength(2)
    expect(failures).toEqual([expect.stringMatching(/^keep-warm: /)])
    expect(failures[0]).not.toContain(KEY)
    expect((await ask(agent, "And now?")).end).toMatchObject({ reason: "answer", text: "Two." })
    await pass(agent, 4.5)
    expect(await pingsOf(agent)).toHaveLength(1)
  })

  test("nothing is sent after a manual compaction, at the cost limit, after an abort, or after the agent closed", async () => {
    const { open, pass, sim, clock } = await scene(["One."])
    const compacted = await open()
    await ask(compacted, LONG)
    await compacted.conversation.compact({ routes: ["offline"] })
    await pass(compacted, 4.5)
    expect(await pingsOf(compacted)).toEqual([])

    const limited = await open()
    await ask(limited, LONG, { costLimit: 0.000_001 })
    await pass(limited, 4.5)
    expect(await pingsOf(limited)).toEqual([])

    const aborted = await open()
    const stop = new AbortController()
    await ask(aborted, LONG, { signal: stop.signal, watch: ({ type }) => type === "response" && stop.abort() })
    await pass(aborted, 4.5)
    expect(await pingsOf(aborted)).toEqual([])

    const closed = await open()
    await ask(closed, LONG)
    const sent = sim.log.length
    await closed.close()
    clock.advance(4.5 * MINUTE)
    await setImmediate()
    expect(sim.log).toHaveLength(sent)
  })

  test.each([
    ["in a library that does not ask for it", { keepWarm: false }],
    ["in batch work", { autonomous: true }],
    ["with the planner off", { settings: { ...QUIET, planner: "off" } }],
    ["where messages are cached for an hour", { settings: { ...QUIET, cacheLifetime: "1h" } }],
  ] as const)("nothing is sent %s", async (_, options) => {
    const { open, pass, sim } = await scene(["One."])
    const agent = await open({
      ...options,
      model: anthropicModel({ model: MODEL, apiKey: KEY, baseURL: sim.url }),
    })
    await ask(agent, LONG)
    await pass(agent, 4.5)
    expect(sim.log).toHaveLength(1)
  })

  test("nothing is sent in a short conversation of someone who seldom came back so far", async () => {
    const { open, pass, sim } = await scene(["One."])
    const agent = await open({}, { ...COMES_BACK, withinHour: pauses(1) })
    await ask(agent, LONG)
    await pass(agent, 4.5)
    expect(sim.log).toHaveLength(1)
  })

  test("nothing is sent for a sub-agent", async () => {
    const { pass, sim, clock } = await scene(["One."])
    const where = project()
    const options: SingleAgentOptions = {
      ...{ ...where, clock, settings: QUIET, keepWarm: true, env: {} },
      model: anthropicModel({ model: MODEL, apiKey: KEY, baseURL: sim.url }),
    }
    const { settings } = await settingsFor(options)
    const sub = {
      ...{ id: "helper", name: "helper", type: "helper", prompt: "You help.", mayRecall: false },
      ...{ namespace: "project", leadId: "lead", leadLocation: where.dir },
      budget: new CostBudget(),
      leadPolicy: () => ({
        mode: "bypass" as const,
        allow: [],
        ask: [],
        deny: [],
        project: where.cwd,
        protectedDirectories: [],
      }),
      daily: undefined,
      duringCommand: <T>(run: () => Promise<T>) => run(),
    }
    await using agent = await openAgentWith(options, settings, { sub })
    await ask(agent, LONG)
    await pass(agent, 4.5)
    expect(sim.log).toHaveLength(1)
  })
})
