/** The cost of a resume, and what the model knows of mode and date after a compaction. */
import { describe, expect, test } from "vitest"
import { frozenClock } from "../../../../sim/src/clock.ts"
import { scriptedResponder } from "../../../../sim/src/responders/scripted.ts"
import { simulator } from "../../../../sim/test/simulator.ts"
import type { PermissionMode } from "../../../src/base/enums.ts"
import { compactingAgent, compactingSimulator, textsOf } from "../compaction/compacting.ts"
import { cachedAfter, rounds, usagesOf } from "../layers/conversations.ts"
import { agentFor, ask, project } from "./agents.ts"

const MINUTE = 60_000

describe("CACHE-9 a resume", () => {
  test.each([
    ["on the same day", "2026-11-15T12:00:00Z"],
    ["after midnight", "2026-11-15T23:58:00Z"],
  ])("%s reads all that was cached before", async (_, start) => {
    const clock = frozenClock(Date.parse(start))
    const sim = await simulator({ responder: scriptedResponder(["One.", "Two.", "Three."]), clock })
    const where = project({ "AGENTS.md": "Use tabs. ".repeat(2_000) })
    const options = { id: "kept", clock: { now: () => new Date(clock.now()) } }
    const first = await agentFor(sim, where, options)
    await ask(first, "one")
    await ask(first, "two")
    const before = usagesOf(first).at(-1)!
    await first.close()
    await clock.advance(4 * MINUTE)
    const second = await agentFor(sim, where, options)
    await ask(second, "three")
    expect(usagesOf(second).at(-1)!.cache_read_input_tokens).toBe(cachedAfter(before))
    expect(second.conversation.cacheHistory().breaks).toEqual([])
  })
})

describe("JRN-10 after a compaction", () => {
  const notices: Readonly<Record<PermissionMode, readonly string[]>> = {
    ask: [],
    "accept-edits": ["The permission mode is accept-edits"],
    plan: ["Plan mode is on: read and think"],
    bypass: ["The permission mode is bypass"],
  }

  test.each(Object.keys(notices) as PermissionMode[])(
    "the mode %s is reported again only if it is not the default",
    async (mode) => {
      const { sim, of } = await compactingSimulator([...rounds(4, 2_000), "Then."])
      const agent = await compactingAgent(sim, { window: 200_000, mode })
      await ask(agent, "Read the words.")
      await agent.conversation.compact()
      await ask(agent, "Go on.")
      const texts = textsOf(of("work").at(-1)!.request)
      const found = texts.filter((text) => /permission mode is|Plan mode is on: read/.test(text))
      expect(found).toEqual(notices[mode].map((text) => expect.stringContaining(text)))
      expect(texts.filter((text) => text.includes("Today is"))).toHaveLength(1)
    },
  )

  test("plan mode that was left just before it is not reported as on", async () => {
    const { sim, of } = await compactingSimulator([...rounds(4, 2_000), "Then."])
    const agent = await compactingAgent(sim, { window: 200_000, mode: "plan" })
    await ask(agent, "Read the words.")
    await agent.setMode("ask")
    await agent.conversation.compact()
    await ask(agent, "Go on.")
    expect(textsOf(of("work").at(-1)!.request).join("\n")).not.toContain("Plan mode is on")
  })
})
