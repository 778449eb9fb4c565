/** The size after a compaction is known before a model is asked. */
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import type { Agent } from "../../../src/agent/agent.ts"
import { size } from "../../size.ts"
import { ask, calls, project } from "../agent/agents.ts"
import { saying } from "../layers/conversations.ts"
import { compactingAgent, compactingSimulator, decisionsOf, entriesOf } from "./compacting.ts"

const fileText = (name: number, lines: number) =>
  Array.from({ length: lines }, (_, line) => `const value_${name}_${line} = compute(${line * 7}, "item ${line}")`).join(
    "\n",
  )

/** A conversation of about this size that has just read four files, or has used none. */
async function conversationOf(tokens: number, { withFiles }: { readonly withFiles: boolean }) {
  const lines = Math.max(4, Math.round(tokens / 4 / 30))
  const files = Object.fromEntries([0, 1, 2, 3].map((n) => [`file-${n}.ts`, fileText(n, lines)]))
  const where = project(files)
  const reads = [0, 1, 2, 3].map((n) => calls(["Read", { file_path: join(where.cwd, `file-${n}.ts`) }]))
  const count = Math.max(8, Math.round(tokens / 6_000)) // a longer result would be offloaded
  const says = Array.from({ length: count }, (_, n) => saying(2 * Math.round(tokens / count / 2.2) + 2 * n))
  const { sim, of } = await compactingSimulator([...(withFiles ? reads : says), "Done."])
  const agent = await compactingAgent(sim, { ...where, window: 1_000_000, settings: { planner: "off" } })
  await ask(agent, "Look at them.")
  await agent.conversation.whenIdle()
  return { agent, of, notices: noticesOf(agent) }
}

/** A conversation so short that a summary and the tail would need as much space. */
async function shortConversation() {
  const { sim } = await compactingSimulator(["The answer is 42."])
  const agent = await compactingAgent(sim, { ...project(), window: 1_000_000, settings: { planner: "off" } })
  await ask(agent, "What is the answer?")
  await agent.conversation.whenIdle()
  return { sim, agent }
}

function noticesOf({ conversation }: Agent): readonly string[] {
  const notices: string[] = []
  conversation.on("compaction", (progress) => {
    if (progress.phase === "message" || progress.phase === "failed") notices.push(progress.message)
  })
  return notices
}

describe("L4-34 /compact", () => {
  test("where it would not make enough room, it is refused: no model is asked, and nothing is written or paid", async () => {
    const { sim, agent } = await shortConversation()
    const [requests, entries] = [sim.log.length, await entriesOf(agent)]
    expect(await agent.conversation.planCompaction()).toMatchObject({ kind: "refused", why: "no-gain" })
    await expect(agent.conversation.compact()).rejects.toMatchObject({
      reason: "no-gain",
      message: expect.stringContaining("Nothing was changed, and no model was called."),
    })
    expect(sim.log).toHaveLength(requests)
    expect(await entriesOf(agent)).toEqual(entries)
  })

  const cases = size([5_000, 60_000], [5_000, 20_000, 60_000, 150_000]).flatMap((tokens) =>
    size([true], [false, true]).map((withFiles) => ({ tokens, withFiles })),
  )

  test.each(cases)(
    "at $tokens tokens, files: $withFiles: works with one call, or is refused for free",
    async (given) => {
      const { agent, of, notices } = await conversationOf(given.tokens, given)
      const before = agent.conversation.windowUsage().used
      const planned = await agent.conversation.planCompaction()
      const failure = await agent.conversation.compact().catch((error: Error) => error)
      const [made] = await decisionsOf(agent, "compacted")
      if (planned.kind === "refused") {
        expect(failure).toMatchObject({ reason: "no-gain", message: expect.stringContaining("no model was called") })
        expect(of("summary")).toHaveLength(0)
      } else {
        expect(failure).toBeUndefined()
        expect(of("summary")).toHaveLength(1)
        expect(made!.tokensAfter).toBeLessThanOrEqual(before * 0.9)
      }
      expect(notices).toEqual([])
    },
  )
})
