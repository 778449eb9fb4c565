/** A compaction with a limit for its total result. */
import { describe, expect, test } from "vitest"
import type { Agent } from "../../../src/agent/agent.ts"
import { engineOf } from "../../../src/conversation/conversation.ts"
import { size } from "../../size.ts"
import { ask } from "../agent/agents.ts"
import { rounds } from "../layers/conversations.ts"
import { compactingAgent, compactingSimulator, decisionsOf, entriesOf, NO_NOTES, textsOf } from "./compacting.ts"

const RULES = [
  ...["Never write to the file legacy.cfg.", "Always run the linter before a commit.", "Never push to main."],
  ...["Always use pnpm in this project.", "Never touch the folder vendor.", "Always name branches after the ticket."],
]
const TASK = `Read the words, and say how many of them there are. ${"Each of them counts, the short ones too. ".repeat(5)}`
/** As long as a summary can be before it repeats the conversation. */
const LONG_SUMMARY = `<summary>\n1. Primary Request and Intent:\n${"   - The user wants to know how many words there are, and each of them counts.\n".repeat(250)}9. Optional Next Step: Read on.\n</summary>`

async function conversation() {
  const { sim, of } = await compactingSimulator([...rounds(3, 3_000), ...rounds(4, 3_002), "Third answer."], {
    summary: () => LONG_SUMMARY,
  })
  const agent = await compactingAgent(sim, { window: 200_000, settings: { planner: "off", ...NO_NOTES } })
  await ask(agent, `We begin. ${RULES.join(" ")}`)
  await ask(agent, TASK)
  await agent.conversation.whenIdle()
  return { agent, sim, of }
}

/** Tokens of the context without system prompt and tools. */
const leftIn = ({ conversation: chat }: Agent) => chat.windowUsage().used - engineOf(chat).views.context.promptTokens

async function expectRulesAndTask(agent: Agent, of: Awaited<ReturnType<typeof conversation>>["of"]) {
  await ask(agent, "And now?")
  const sent = textsOf(of("work").at(-1)!.request).join("\n")
  expect(RULES.filter((rule) => !sent.includes(rule))).toEqual([])
  expect(sent).toContain(TASK.trim())
}

const MIN = /the minimum is ([\d,]+) \(summary ([\d,]+), record and files ([\d,]+), newest messages ([\d,]+)\)/

describe("L4-36 compact({ budget })", () => {
  const ways = [{ routes: undefined }, { routes: ["offline"] }] as const

  test.each(
    size([2_000], [2_000, 3_000, 5_000, 8_000, 12_000]).flatMap((budget) =>
      ways.map(({ routes }) => ({ budget, ...(routes ? { routes } : {}) })),
    ),
  )("%j: what is left keeps to it, rules and task are there, and the plan says the same", async (order) => {
    const { agent, of } = await conversation()
    const { conversation: chat } = agent
    const before = leftIn(agent)
    expect(before).toBeGreaterThan(15_000)
    const planned = await chat.planCompaction(order)
    if (planned.kind === "refused") throw new Error(planned.message)
    expect(planned.expectedAfter - planned.fixed).toBeLessThanOrEqual(order.budget)
    await chat.compact(order)
    expect(await decisionsOf(agent, "compacted")).toMatchObject([{ kept: planned.kept.uuids }])
    expect(leftIn(agent)).toBeLessThanOrEqual(order.budget)
    await expectRulesAndTask(agent, of)
  })

  test("one that is too small is refused with the least and its parts; nothing is changed, and the least is enough", async () => {
    const { agent, sim, of } = await conversation()
    const { conversation: chat } = agent
    const [requests, entries, request] = [
      sim.log.length,
      await entriesOf(agent),
      await engineOf(chat).preparer.forkRequest(),
    ]
    const refused = async (budget: number) => {
      const error = await chat.compact({ budget }).then(
        () => undefined,
        (failure: Error) => failure,
      )
      expect(error).toMatchObject({ reason: "no-gain" })
      expect(error!.message).toContain("Nothing was changed, and no model was called.")
      expect(await chat.planCompaction({ budget })).toMatchObject({ kind: "refused", message: error!.message })
      const figures = MIN.exec(error!.message)!
        .slice(1)
        .map((figure) => Number(figure.replaceAll(",", "")))
      return figures as [least: number, summary: number, record: number, newest: number]
    }
    const [min, ...parts] = await refused(50)
    const sum = parts.reduce((all, part) => all + part, 0)
    expect(sum - min).toBeGreaterThanOrEqual(0)
    expect(sum - min).toBeLessThan(parts.length) // each part is rounded up
    expect(await refused(min - 1)).toEqual([min, ...parts])
    expect(sim.log).toHaveLength(requests)
    expect(await entriesOf(agent)).toEqual(entries)
    expect(await engineOf(chat).preparer.forkRequest()).toEqual(request)
    await chat.compact({ budget: min })
    expect(leftIn(agent)).toBeLessThanOrEqual(min)
    await expectRulesAndTask(agent, of)
  })

  test("one that is larger than the conversation does not make a compaction worth it, and is not blamed", async () => {
    const { sim } = await compactingSimulator(["The answer is 42."])
    const agent = await compactingAgent(sim, { window: 200_000, settings: { planner: "off", ...NO_NOTES } })
    await ask(agent, "What is the answer?")
    const refusal = await agent.conversation.planCompaction({ budget: 50_000 })
    expect(refusal).toMatchObject({ kind: "refused", why: "no-gain" })
    expect(refusal).not.toMatchObject({ message: expect.stringContaining("50,000") })
  })
})
