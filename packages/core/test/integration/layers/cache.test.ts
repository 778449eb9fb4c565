/** CACHE-4, CACHE-7, L2-4 end to end: every request is predicted, every difference explained, over HTTP with the real SDK. */
import { describe, expect, test } from "vitest"
import { type ScriptedTurn, scriptedResponder } from "../../../../sim/src/responders/scripted.ts"
import type { Simulator } from "../../../../sim/src/start.ts"
import { simulator } from "../../../../sim/test/simulator.ts"
import type { Agent } from "../../../src/agent/agent.ts"
import type { SingleAgentOptions } from "../../../src/agent/options.ts"
import { engineOf } from "../../../src/conversation/conversation.ts"
import type { CacheEvent } from "../../../src/model/cache/forecast.ts"
import { isWhole } from "../../size.ts"
import { ask, ofType, project } from "../agent/agents.ts"
import { layeredAgent, MINUTE, rounds } from "./conversations.ts"

type Options = Partial<SingleAgentOptions> & { name?: string }

/** Switches that leave the conversation as the only sender of requests. */
const ALONE = { notes: false, "auto-memory": false, dreaming: false }

/** An agent whose cache reports are recorded. */
async function watched(sim: Simulator, options: Options = {}): Promise<{ agent: Agent; reports: CacheEvent[] }> {
  const agent = await layeredAgent(sim, { settings: { switches: ALONE }, ...options })
  const reports: CacheEvent[] = []
  agent.conversation.on("cache", (report) => reports.push(report))
  return { agent, reports }
}

const playing = (...turns: readonly ScriptedTurn[]) => simulator({ responder: scriptedResponder(turns) })
const verdicts = (reports: readonly CacheEvent[]) => reports.map(({ verdict }) => verdict.kind)
const noticesIn = ({ events }: Awaited<ReturnType<typeof ask>>) =>
  ofType(events, "notice").flatMap(({ message, quiet }) => (quiet ? [] : message))

describe("the cache from end to end", () => {
  test.runIf(isWhole)("CACHE-7 a healthy conversation is predicted exactly on every request, and resumed", async () => {
    const sim = await playing(...rounds(6, 1_000), "Well.", ...rounds(2, 500))
    const where = project()
    const { agent, reports } = await watched(sim, where)
    const notices = [...noticesIn(await ask(agent, "go")), ...noticesIn(await ask(agent, "and?"))]
    const id = agent.conversation.id
    await agent.close()
    const again = await watched(sim, { ...where, id })
    notices.push(...noticesIn(await ask(again.agent, "once more")))
    const all = [...reports, ...again.reports]
    expect(verdicts(all)).toEqual(["first", ...Array.from({ length: 10 }, () => "as-predicted")])
    for (const { predicted, actual } of all) expect(predicted).toMatchObject({ ...actual, counted: true })
    const logged = sim.log.map(({ input }) => ({ read: input!.read, written: input!.written }))
    expect(all.map(({ actual }) => actual)).toEqual(logged)
    expect(notices).toEqual([])
  })

  test("CACHE-4 after six idle minutes: the entry expired, as predicted, reported in one line with its price", async () => {
    const sim = await playing(...rounds(4, 2_000), "Back.")
    const { agent, reports } = await watched(sim)
    await ask(agent, "go")
    sim.clock.advance(6 * MINUTE)
    const asked = await ask(agent, "and now?")
    const { predicted, actual, verdict } = reports.at(-1)!
    expect(predicted).toMatchObject({ ...actual, read: 0 })
    expect(verdict).toMatchObject({
      kind: "break",
      foreseen: true,
      cause: { kind: "time-to-live", idleMs: 6 * MINUTE, lifetime: "5m" },
    })
    expect(noticesIn(asked)).toEqual([
      expect.stringMatching(
        /^The cache was lost: [\d,]+ tokens had to be sent again for \$0\.\d\d more, because 6 minutes had passed/,
      ),
    ])
    expect([...engineOf(agent.conversation).views.cacheHistory.totals.keys()]).toEqual(["five-minutes-over"])
  })

  test("CACHE-4 a cache lost early: the provider is the cause, and the next request is predicted again", async () => {
    const sim = await playing(...rounds(4, 2_000), "Back.", "Again.")
    const { agent, reports } = await watched(sim)
    await ask(agent, "go")
    sim.forgetCache()
    const asked = await ask(agent, "and now?")
    expect(reports.at(-1)!.verdict).toMatchObject({ kind: "break", foreseen: false, cause: { kind: "provider" } })
    expect(noticesIn(asked)).toEqual([expect.stringContaining("nothing had changed here")])
    expect(noticesIn(await ask(agent, "more"))).toEqual([])
    expect(reports.at(-1)!.verdict).toEqual({ kind: "as-predicted" })
  })

  test("CACHE-4 a changed system prompt: the cause and the position", async () => {
    const sim = await playing(...rounds(4, 2_000), "Back.")
    const { agent, reports } = await watched(sim, { name: "claude-opus-5", system: "You help." })
    await ask(agent, "go")
    await agent.conversation.usePrompt({ system: "You hurry." })
    const asked = await ask(agent, "and now?")
    expect(reports.at(-1)!.verdict).toMatchObject({
      kind: "break",
      cause: { kind: "changed", part: "system", block: 0 },
    })
    expect(noticesIn(asked)).toEqual([expect.stringContaining("the system prompt changed")])
    expect([...engineOf(agent.conversation).views.cacheHistory.totals.keys()]).toEqual(["prompt-changed"])
  })

  test("CACHE-4 the first image changes a setting of the prompt", async () => {
    const sim = await playing(...rounds(4, 2_000), "Seen.")
    const { agent, reports } = await watched(sim)
    await ask(agent, "go")
    const data = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    const query = agent.query([
      { type: "text", text: "Look" },
      { type: "image", source: { type: "base64", media_type: "image/png", data } },
    ])
    for await (const _ of query);
    expect(reports.at(-1)!.verdict).toMatchObject({
      kind: "break",
      cause: { kind: "changed", part: "settings", setting: "images" },
    })
  })

  test("CACHE-4 clearing by time is expected: no break, and no line except the layer's own", async () => {
    const sim = await playing(...rounds(6, 2_000), "Back.", "Again.")
    const { agent, reports } = await watched(sim)
    await ask(agent, "go")
    sim.clock.advance(61 * MINUTE)
    expect(noticesIn(await ask(agent, "and now?"))).toEqual([])
    expect(reports.at(-1)!.verdict).toMatchObject({ kind: "expected", why: ["clearing"] })
    await ask(agent, "more")
    expect(reports.at(-1)!.verdict).toEqual({ kind: "as-predicted" })
    expect([...engineOf(agent.conversation).views.cacheHistory.totals.keys()]).toEqual(["clearing"])
  })

  test.runIf(isWhole)("CACHE-4 what the server clears on request is expected", async () => {
    const sim = await playing(...rounds(7, 6_000))
    const figures = { "api-clear-trigger": 20_000, "api-clear-keep": 8_000 }
    const { agent, reports } = await watched(sim, { name: "claude-opus-5", settings: { switches: ALONE, figures } })
    expect(noticesIn(await ask(agent, "go"))).toEqual([])
    expect(new Set(verdicts(reports))).toEqual(new Set(["first", "as-predicted", "expected"]))
    expect([...engineOf(agent.conversation).views.cacheHistory.totals.keys()]).toEqual(["clearing"])
  })

  test("CACHE-4 a rewind to an earlier message is expected, and what was written there is read", async () => {
    const sim = await playing(...rounds(8, 1_000), "Else.")
    const { agent, reports } = await watched(sim)
    const uuids: string[] = []
    agent.conversation.on("entry", ({ entry }) => {
      if (entry.type === "user") uuids.push(entry.uuid)
    })
    await ask(agent, "go")
    await agent.conversation.rewind(uuids[4]!)
    await ask(agent, "another way")
    const { predicted, actual, verdict } = reports.at(-1)!
    expect(verdict).toMatchObject({ kind: "expected", why: ["rewinding"] })
    expect(actual.read).toBeGreaterThan(0)
    expect(predicted).toMatchObject(actual)
  })

  test("CACHE-7 with everything switched off it is still predicted", async () => {
    const sim = await playing(...rounds(3, 1_000))
    const { agent, reports } = await watched(sim, { settings: { off: true } })
    await ask(agent, "go")
    expect(verdicts(reports)).toEqual(["first", "as-predicted", "as-predicted", "as-predicted"])
  })
})
