/** The cache lifetime that the setting or the planner chooses, over HTTP: requested and billed. */
import { describe, expect, test } from "vitest"
import { createClock } from "../../../../sim/src/clock.ts"
import { scriptedResponder } from "../../../../sim/src/responders/scripted.ts"
import { client, scripted, simulator } from "../../../../sim/test/simulator.ts"
import { bashTool } from "../../../src/agent/tools/shell/bash.ts"
import { ShellSession } from "../../../src/agent/tools/shell/shell-session.ts"
import { manualClock } from "../../../src/base/clock.ts"
import { type Conversation, engineOf } from "../../../src/conversation/conversation.ts"
import { internalsOf } from "../../../src/conversation/internals.ts"
import { openConversation } from "../../../src/conversation/open.ts"
import type { DecisionOf } from "../../../src/journal/entries.ts"
import { newestFirst } from "../../../src/journal/newest-first.ts"
import type { ModelRequest } from "../../../src/messages/request.ts"
import { findModel } from "../../../src/tokens/models.ts"
import { isWhole } from "../../size.ts"
import { agentFor, ask, MODEL, project } from "../agent/agents.ts"
import { decisionsOf } from "../compaction/compacting.ts"

const system = "You are thorough. ".repeat(600)

test.each(["5m", "1h", "prompt-1h"] as const)(
  "CACHE-8 cacheLifetime %s: the ledger bills each write at its price",
  async (cacheLifetime) => {
    const sim = await simulator({ responder: scripted("One.", "Two.") })
    const agent = await agentFor(sim, project(), {
      system,
      tools: [bashTool(new ShellSession())],
      settings: { cacheLifetime, memory: "off", switches: { notes: false } },
    })
    await ask(agent, "Hello. ".repeat(1_000))
    sim.clock.advance(10 * 60_000)
    await ask(agent, "And now?")
    const [first, second] = engineOf(agent.conversation).views.cacheHistory.responses.map(({ counts }) => counts)
    const { facts } = findModel(engineOf(agent.conversation).views.cacheHistory.responses[0]!.model)
    expect({ m5: first!.cacheWrite5m > 0, h1: first!.cacheWrite1h > 0 }).toEqual({
      m5: cacheLifetime !== "1h",
      h1: cacheLifetime !== "5m",
    })
    // after ten minutes only prefixes written for an hour are read
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

describe("CACHE-8 BEY-4 the planner chooses the lifetime in batch work", () => {
  const PAUSE = 20 * 60_000
  const LONG_SYSTEM = "You are thorough. ".repeat(900)
  const FIRST = `Keep this in mind: ${"some words ".repeat(12_000)}`
  const QUIET = { memory: "off", switches: { notes: false }, disableAutoCompact: true } as const

  /** An own loop, and a simulator on the same clock. */
  async function ownLoop() {
    const clock = manualClock("2026-11-15T12:00:00.000Z")
    const responder = scriptedResponder(["Done."], { afterLast: "repeat" })
    const sim = await simulator({ responder, clock: createClock(() => clock.now().getTime()) })
    const { cwd, dir } = project()
    const sdk = client(sim)
    const where = { model: MODEL, client: sdk, system: LONG_SYSTEM, settings: QUIET, cwd, dir, clock, env: {} }
    const open = (id?: string) => openConversation({ ...where, ...(id === undefined ? {} : { id, mustExist: true }) })
    const turn = async (chat: Conversation, text: string): Promise<ModelRequest> => {
      await chat.add(text)
      const request = await chat.prepare()
      await chat.record(await sdk.messages.stream(request).finalMessage())
      return request
    }
    return { clock, open, turn }
  }

  const breakpointLifetimes = (request: ModelRequest) =>
    [...JSON.stringify(request).matchAll(/"cache_control":(\{[^}]*\})/g)].map(([, mark]) =>
      mark!.includes("1h") ? "1h" : "5m",
    )
  const lastUsage = (chat: Conversation) => engineOf(chat).views.cacheHistory.responses.at(-1)!.counts

  test("an hour for the prompt and then for everything, once pauses show that it pays; journaled, explained, resumed", async () => {
    const { clock, open, turn } = await ownLoop()
    const chat = await open()
    const lifetimes: string[] = []
    const reads: boolean[] = []
    for (let round = 0; round < 9; round++) {
      lifetimes.push(breakpointLifetimes(await turn(chat, round === 0 ? FIRST : "And now?")).join(" "))
      const { cacheRead, cacheWrite5m, cacheWrite1h } = lastUsage(chat)
      reads.push(cacheRead > cacheWrite5m + cacheWrite1h)
      clock.advance(PAUSE)
    }
    const phases = lifetimes.filter((mark, at) => mark !== lifetimes[at - 1])
    expect(phases).toEqual(["5m 5m", "5m 5m 5m", "1h 5m 5m", "1h 1h 1h"]) // an hour never comes after five minutes
    expect(reads.at(1)).toBe(false)
    expect(reads.at(-1)).toBe(true)

    const decisions = await lifetimesIn(chat)
    expect(decisions).toMatchObject([
      {
        forPrompt: "1h",
        forMessages: "5m",
        why: expect.stringMatching(/^Tools and system prompt are cached for an hour/),
      },
      {
        forPrompt: "1h",
        forMessages: "1h",
        why: expect.stringMatching(
          /^Everything is cached for an hour: with \d pauses of 5 to 60 minutes so far, that would have saved \$\d\.\d\d\.$/,
        ),
      },
    ])
    expect(internalsOf(chat).planner().lifetimes).toMatchObject({
      forPrompt: "1h",
      forMessages: "1h",
      why: decisions[1]!.why,
    })

    await chat.add("Once more.")
    const live = JSON.stringify(await chat.prepare())
    const { id } = chat
    await chat.close()
    const again = await open(id)
    expect(JSON.stringify(await again.prepare())).toBe(live)
    expect(await lifetimesIn(again)).toHaveLength(2)
    await again.close()
  })

  test.runIf(isWhole)(
    "five minutes again where the hour no longer pays, and never an hour where nothing pauses",
    async () => {
      const { clock, open, turn } = await ownLoop()
      const chat = await open()
      for (let round = 0; round < 8; round++) {
        await turn(chat, round === 0 ? FIRST : "And now?")
        clock.advance(PAUSE)
      }
      expect(internalsOf(chat).planner().lifetimes?.forMessages).toBe("1h")
      for (let round = 0; round < 12; round++) await turn(chat, FIRST) // much is written, and no pause pays for it
      expect((await lifetimesIn(chat)).at(-1)).toMatchObject({ forPrompt: "1h", forMessages: "5m" })
      await chat.close()

      const busy = await open()
      for (let round = 0; round < 4; round++) await turn(busy, FIRST)
      expect(await lifetimesIn(busy)).toEqual([])
      await busy.close()
    },
  )

  test.runIf(isWhole)(
    "an agent asks for what the planner chose, and one that keeps the cache warm stays at five minutes",
    async () => {
      const clock = manualClock("2026-11-15T12:00:00.000Z")
      const sim = await simulator({
        responder: scriptedResponder(["Done."], { afterLast: "repeat" }),
        clock: createClock(() => clock.now().getTime()),
      })
      for (const keepWarm of [false, true]) {
        const agent = await agentFor(sim, project(), {
          clock,
          keepWarm,
          system: LONG_SYSTEM,
          tools: [],
          settings: QUIET,
        })
        for (let round = 0; round < 4; round++) {
          await ask(agent, round === 0 ? FIRST : "And now?")
          clock.advance(PAUSE)
          await agent.conversation.whenIdle()
        }
        await ask(agent, "And now?")
        const written = engineOf(agent.conversation).views.cacheHistory.pauses.requests.cacheWrite1h
        expect(written > 0).toBe(!keepWarm)
        expect((await decisionsOf(agent, "cache-lifetime")).length > 0).toBe(!keepWarm)
      }
    },
  )
})

async function lifetimesIn(chat: Conversation): Promise<readonly DecisionOf<"cache-lifetime">[]> {
  const found: DecisionOf<"cache-lifetime">[] = []
  for await (const entry of newestFirst(engineOf(chat).record.journal))
    if (entry.type === "strata" && entry.subtype === "cache-lifetime") found.unshift(entry)
  return found
}
