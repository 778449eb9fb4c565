/** One decision per request: nothing, clearing, or a compaction with the notes as its summary. */
import { describe, expect, test } from "vitest"
import { engineOf } from "../../../src/conversation/conversation.ts"
import { compaction } from "../../../src/layers/4-compaction/compaction.ts"
import { offline } from "../../../src/layers/4-compaction/summarise/route.ts"
import type { Layer } from "../../../src/layers/layer.ts"
import { entriesOf, openTestConversation } from "../../open.ts"
import { ask } from "../agent/agents.ts"
import { rounds } from "../layers/conversations.ts"
import { compactingAgent, compactingSimulator, decisionsOf, NOTES_OF, textsOf } from "./compacting.ts"

const AHEAD = { switches: { "compact-ahead": true, "clear-by-api": false, "clear-by-size": false } }
const { notes } = NOTES_OF("The words are read, one by one.")

describe("L3-3, L4-22 what a hook wants of summaries", () => {
  test("reaches the notes: they are written once more with it, and then installed", async () => {
    const { sim, of } = await compactingSimulator(rounds(45, 2_000), { notes })
    const agent = await compactingAgent(sim, {
      settings: AHEAD,
      window: 80_000,
      hooks: [{ event: "PreCompact", name: "wish", run: () => ({ context: "Keep the number 4711." }) }],
    })
    await ask(agent, "Go.", { watch: () => agent.conversation.whenIdle() })
    const made = await decisionsOf(agent, "compacted")
    expect(made.length).toBeGreaterThan(0)
    expect(made.every(({ route }) => route === "notes")).toBe(true)
    const asked = of("notes").filter(({ request }) => textsOf(request).join("\n").includes("Keep the number 4711."))
    expect(asked.length).toBeGreaterThan(0)
    expect(of("notes").length).toBeGreaterThan(asked.length) // the first ones were written without it
    expect(of("summary")).toEqual([])
  })
})

describe("L2-15 a compaction with the notes that are ready", () => {
  test("shortens long results in what it keeps: the cache is written again anyway", async () => {
    const { sim } = await compactingSimulator(rounds(45, 2_000), { notes })
    const agent = await compactingAgent(sim, { settings: AHEAD, window: 80_000 })
    await ask(agent, "Go.", { watch: () => agent.conversation.whenIdle() })
    const [first] = await decisionsOf(agent, "compacted")
    const shortened = await decisionsOf(agent, "tool-results-shortened")
    expect(shortened.length).toBeGreaterThan(0)
    expect(first!.tokensAfter).toBeLessThan(first!.threshold / 2)
  })

  test("is as small in the middle of a task as a summary that someone waits for", async () => {
    const sizes = async (settings: object) => {
      const { sim } = await compactingSimulator(rounds(45, 2_000), { notes })
      const agent = await compactingAgent(sim, { settings, window: 80_000 })
      await ask(agent, "Go.", { watch: () => agent.conversation.whenIdle() })
      return (await decisionsOf(agent, "compacted"))[0]!
    }
    const [ahead, blocking] = [
      await sizes(AHEAD),
      await sizes({ switches: { ...AHEAD.switches, notes: false, "compact-ahead": false } }),
    ]
    expect([ahead.route, blocking.route]).toEqual(["notes", "shared"])
    expect(ahead.tokensAfter).toBeLessThan(blocking.tokensAfter + 2_000)
  })
})

test("L2-15 without a client quotations save money too: they are there at once, and cost nothing", async () => {
  const chat = await openTestConversation({
    model: "claude-opus-5-5",
    layers: [compaction({ offline: offline() })] as readonly Layer[],
    settings: { models: { "claude-opus-5-5": { window: 200_000 } } },
  })
  for (let round = 0; round < 40 && engineOf(chat).views.compactions.count === 0; round++) {
    await chat.add({ role: "user", content: `Question ${round}. ${"many words ".repeat(1_500)}` })
    const { messages } = await chat.prepare()
    const input = Math.round(JSON.stringify(messages).length / 5)
    await chat.record({
      id: `msg_${round}`,
      content: [{ type: "text", text: `Answer ${round}.` }],
      stop_reason: "end_turn",
      usage: { input_tokens: 10, cache_read_input_tokens: input, cache_creation_input_tokens: 0, output_tokens: 10 },
    } as never)
  }
  const made = (await entriesOf(chat)).find((entry) => entry.type === "strata" && entry.subtype === "compacted")
  expect(made).toMatchObject({ route: "offline", planned: expect.stringContaining("need not be sent again") })
})
