/** Facts that layer 2 clears before layer 4 summarises survive any number of compactions. */
import { describe, expect, test } from "vitest"
import type { Settings } from "../../../src/settings/settings.ts"
import { size } from "../../size.ts"
import { ask } from "../agent/agents.ts"
import { MINUTE } from "../layers/conversations.ts"
import { compactingAgent, compactingSimulator, decisionsOf } from "./compacting.ts"
import { FROM_USER, lostFacts, perfectSummary, planting, searching, working } from "./planted-facts.ts"

const COMPACTIONS = size(5, 20)
const MEASURED = [...new Set([1, 5, COMPACTIONS])]
const MAX_TOKENS = 39_000 // in addition to the cached conversation, for all of them together

type Clearing = "after a pause" | "by size" | "on the server"

const SETTINGS: Readonly<Record<Clearing, Partial<Settings>>> = {
  "after a pause": { switches: { notes: false, "clear-by-api": false } },
  "by size": {
    switches: { notes: false, "clear-by-api": false, "clear-by-time": false },
    figures: { "size-clear-keep": 2_000, "size-clear-min": 1_000, "expected-turns": 10_000 },
    autoCompactTokens: 45_000,
  },
  "on the server": { switches: { notes: false }, figures: { "api-clear-trigger": 20_000, "api-clear-keep": 5_000 } },
}

async function compactOften(clearing: Clearing) {
  const script = [
    ...planting(),
    "Yes.",
    ...Array.from({ length: COMPACTIONS - 1 }, () => [...working(), "Yes."]).flat(),
  ]
  const { sim, seen, of } = await compactingSimulator(script, { summary: perfectSummary })
  const agent = await compactingAgent(sim, {
    window: 200_000,
    settings: SETTINGS[clearing],
    tools: [searching],
  })
  const lost: Record<number, readonly string[]> = {}
  let cleared = 0
  for (let n = 1; n <= COMPACTIONS; n++) {
    await ask(agent, n === 1 ? FROM_USER.map(({ sentence }) => sentence).join(" ") : "Go on with the next part.")
    if (clearing === "after a pause") sim.clock.advance(61 * MINUTE)
    await ask(agent, "Is it done?")
    await agent.conversation.compact()
    if (MEASURED.includes(n)) lost[n] = await lostFacts(agent)
  }
  cleared = (await decisionsOf(agent, clearing === "on the server" ? "server-edited" : "tool-results-cleared")).length
  const summaries = seen.flatMap(({ about }, at) => (about === "summary" ? [sim.log[at]!.input!] : []))
  const tokens = summaries.reduce((sum, { uncached, written }) => sum + uncached + written, 0)
  return { lost, cleared, requests: of("summary").length, tokens }
}

describe("L4-30, L4-32, BEY-1 43 facts, a perfect summariser, and results cleared in between", () => {
  test.each<Clearing>(size(["by size"], ["after a pause", "by size", "on the server"]))(
    `%s: all are in view or by a handle in view after ${MEASURED.join(", ")} compactions`,
    async (clearing) => {
      const { lost, cleared, requests, tokens } = await compactOften(clearing)
      expect(cleared).toBeGreaterThan(0)
      expect(lost).toEqual(Object.fromEntries(MEASURED.map((n) => [n, []])))
      expect(requests).toBe(COMPACTIONS)
      expect(tokens).toBeLessThanOrEqual(MAX_TOKENS)
    },
  )
})
