/** The size that a dry run predicts, at no cost, against the size after the compaction. */
import { expect, test } from "vitest"
import type { Agent } from "../../../src/agent/agent.ts"
import type { CompactionRequest } from "../../../src/conversation/compact.ts"
import { size } from "../../size.ts"
import { ask, project } from "../agent/agents.ts"
import { rounds } from "../layers/conversations.ts"
import { compactingAgent, compactingSimulator, decisionsOf, EARLY_NOTES, NO_NOTES, NOTES_OF } from "./compacting.ts"

const MAX_OFF = 0.05

async function planOf({ conversation }: Agent, request: CompactionRequest = {}) {
  const plan = await conversation.planCompaction(request)
  if (plan.kind === "refused") throw new Error(plan.message)
  return plan
}

async function compacted(agent: Agent, request: CompactionRequest = {}) {
  const plan = await planOf(agent, request)
  await agent.conversation.compact(request)
  const made = (await decisionsOf(agent, "compacted")).at(-1)!
  expect(made.route).toBe(plan.routes[0])
  return { plan, after: made.tokensAfter }
}

function expectWithin(after: number, [min, max]: readonly [number, number]) {
  expect(after).toBeGreaterThanOrEqual(min)
  expect(after).toBeLessThanOrEqual(max)
}

test.each([60_000, 200_000, 1_000_000].slice(size(1, 0), size(2, 3)))(
  "BEY-3 in a window of %i: a first summary is within the predicted range, the next ones are compared with it",
  async (window) => {
    // about as long as requested, each time slightly different
    const lengths = [90, 105, 85, 100]
    const { sim, of } = await compactingSimulator(
      lengths.flatMap((_, nth) => rounds(6, 3_000 + 2 * nth)),
      {
        summary: () =>
          `<summary>\n1. Primary Request and Intent: ${"Read the many words to the end and say what they mean. ".repeat(lengths[of("summary").length - 1]!)}\n</summary>`,
      },
    )
    const place = { ...project(), id: "sizes", window, settings: { planner: "off", ...NO_NOTES } as const }
    let agent = await compactingAgent(sim, place)
    for (const [earlier] of lengths.entries()) {
      await ask(agent, `Read the words, part ${earlier}.`)
      const asked = of("summary").length
      const before = await planOf(agent)
      expect(of("summary")).toHaveLength(asked)
      await agent.close()
      agent = await compactingAgent(sim, { ...place, mustExist: true })
      const { plan, after } = await compacted(agent)
      expect(plan.between).toEqual(before.between) // also after a resume
      expect(plan.summary).toMatchObject({ is: "expected", earlier })
      expectWithin(plan.expectedAfter, plan.between)
      expectWithin(after, plan.between)
      if (earlier > 0) expect(Math.abs(plan.expectedAfter - after) / after).toBeLessThan(MAX_OFF)
    }
  },
)

test("BEY-3 summaries that no model wrote say nothing about the next one", async () => {
  const { sim } = await compactingSimulator([...rounds(4, 2_000), ...rounds(4, 2_002)])
  const agent = await compactingAgent(sim, { window: 200_000, settings: { planner: "off", ...NO_NOTES } })
  await ask(agent, "Read the words.")
  const { plan, after } = await compacted(agent, { routes: ["offline"] })
  expect(plan).toMatchObject({ summary: { is: "written" }, expectedAfter: after, between: [after, after] })
  await ask(agent, "Read more.")
  expect((await planOf(agent)).summary).toMatchObject({ is: "expected", earlier: 0 })
})

test("BEY-3, L4-5 with notes the size is known: they are the summary", async () => {
  const { sim, of } = await compactingSimulator(rounds(7, 3_000), NOTES_OF("The words are read, one by one."))
  const settings = { ...EARLY_NOTES, figures: { "background-share": 100 } }
  const agent = await compactingAgent(sim, { window: 60_000, settings })
  await ask(agent, "Go.", { watch: () => agent.conversation.whenIdle() })
  expect(await decisionsOf(agent, "compacted")).toEqual([])
  const { plan, after } = await compacted(agent, { trigger: "auto" })
  expect(plan.routes[0]).toBe("notes")
  expect(plan).toMatchObject({ summary: { is: "written" }, expectedAfter: after, between: [after, after] })
  expect(of("summary")).toEqual([])
})
