import { describe, expect, test } from "vitest"
import { ask } from "../agent/agents.ts"
import { saying } from "../layers/conversations.ts"
import { compactingAgent, compactingSimulator, decisionsOf, NO_NOTES } from "./compacting.ts"

const REQUESTS = 300

describe("L4-31, L4-32 the size after an automatic compaction", () => {
  test(`in a window of 64,000 the context falls to half its threshold or less each time, and ${REQUESTS} requests do not thrash`, async () => {
    const { sim, of } = await compactingSimulator([
      ...Array.from({ length: REQUESTS - 1 }, (_, n) => saying(400 + 2 * n)), // never the same call twice
      "Done.",
    ])
    const agent = await compactingAgent(sim, { settings: NO_NOTES, window: 64_000 })
    const { end } = await ask(agent, "Find out what the words say. Never use tabs.")
    expect(end.reason).toBe("answer")
    const made = await decisionsOf(agent, "compacted")
    for (const { tokensAfter, threshold } of made) expect(tokensAfter).toBeLessThanOrEqual(threshold / 2)
    expect(made.length).toBeGreaterThan(2)
    expect(of("work").length / made.length).toBeGreaterThan(20) // requests between two compactions
    expect(of("summary")).toHaveLength(made.length)
    expect(made.at(-1)!.kept.length).toBeGreaterThan(0)
  })

  test("L4-31 a summary far above its budget does not fill the window again: it is cut at a section's end", async () => {
    const sections = Array.from(
      { length: 9 },
      (_, at) => `${at + 1}. Part ${at + 1}:\n${"the words say more ".repeat(900)}`,
    )
    const { sim, of } = await compactingSimulator(
      [...Array.from({ length: 99 }, (_, n) => saying(900 + 2 * n)), "Done."],
      { summary: () => `<summary>\n${sections.join("\n\n")}\n</summary>` },
    )
    const agent = await compactingAgent(sim, { settings: NO_NOTES, window: 64_000 })
    const { end } = await ask(agent, "Find out what the words say. Never use tabs.")
    expect(end.reason).toBe("answer")
    const made = await decisionsOf(agent, "compacted")
    for (const { tokensAfter, threshold } of made) expect(tokensAfter).toBeLessThanOrEqual(threshold / 2)
    expect(made.length).toBeGreaterThan(1)
    expect(of("work").length / made.length).toBeGreaterThan(8)
  })
})
