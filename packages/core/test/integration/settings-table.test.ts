/** Changing a setting, switch or tunable has the effect that docs/settings.md and docs/flags.md describe. */
import { afterEach, describe, expect, test } from "vitest"
import type { FlagClient } from "../../src/settings/flags.ts"
import { everyNth } from "../size.ts"
import { AGENT_FIGURES, AGENT_SETTINGS, AGENT_SWITCHES } from "./settings-table/agents.ts"
import { COMPACTION_FIGURES, COMPACTION_SETTINGS, COMPACTION_SWITCHES } from "./settings-table/compactions.ts"
import { MEMORY_FIGURES, MEMORY_SWITCHES } from "./settings-table/memories.ts"
import { RESULT_FIGURES, RESULT_SETTINGS, RESULT_SWITCHES } from "./settings-table/results.ts"
import { closeAll, scene } from "./settings-table/scenes.ts"
import { type Observe, type Probes, TABLES, turnedTo } from "./settings-table/table.ts"

const PROBES: Readonly<Record<keyof typeof TABLES, Probes>> = {
  settings: { ...RESULT_SETTINGS, ...COMPACTION_SETTINGS, ...AGENT_SETTINGS },
  switches: { ...RESULT_SWITCHES, ...COMPACTION_SWITCHES, ...AGENT_SWITCHES, ...MEMORY_SWITCHES },
  figures: { ...RESULT_FIGURES, ...COMPACTION_FIGURES, ...AGENT_FIGURES, ...MEMORY_FIGURES },
}

/** Covered by other tests, with processes, a server's cache, telemetry or a team. */
const ELSEWHERE = [
  ...["planner", "cacheLifetime", "flush", "exportContent", "mcpServers", "claudeHome", "compact-early"],
  ...["agent-progress"],
]

afterEach(closeAll)

/** A client that defines this one switch and nothing else. */
const saying = (name: string, on: boolean): FlagClient => ({
  getBooleanValue: async (asked, otherwise) => (asked === name ? on : otherwise),
  getNumberValue: async (_, otherwise) => otherwise,
  getObjectValue: async (_, otherwise) => otherwise,
})

test("FLG-1 the flag snip-tool counts already when the agent opens", async () => {
  const offers = async (flags: FlagClient) => {
    const { chat } = await scene({}, { flags })
    await chat.add("Hello.")
    return (await chat.prepare()).tools?.some((tool) => "name" in tool && tool.name === "Snip") ?? false
  }
  expect([await offers(saying("snip-tool", false)), await offers(saying("snip-tool", true))]).toEqual([false, true])
  const both = { ...saying("snip", false), getBooleanValue: async (name: string) => name === "snip-tool" }
  expect(await offers(both)).toBe(false)
})

/** Results with default settings, shared by rows with the same scene. */
const seenUsually = new Map<Observe, Promise<unknown>>()
function usually(observe: Observe): Promise<unknown> {
  if (!seenUsually.has(observe)) seenUsually.set(observe, observe({}))
  return seenUsually.get(observe)!
}

describe.each(["settings", "switches", "figures"] as const)("FLG-1, FLG-2 the table of %s", (table) => {
  test("has a probe for every row, and no probe without a row", () => {
    const rows = TABLES[table].filter((name) => !ELSEWHERE.includes(name))
    expect(Object.keys(PROBES[table]).toSorted()).toEqual(rows.toSorted())
  })

  test.each(everyNth(Object.entries(PROBES[table]), 12))("%s", async (name, probe) => {
    const seen = [await usually(probe.observe), await probe.observe(turnedTo(table, name, probe.turned))]
    expect(seen).toEqual([probe.usual, probe.changed])
  })
})
