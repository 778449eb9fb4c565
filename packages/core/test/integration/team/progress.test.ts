import { expect, test } from "vitest"
import { KEY } from "../../../../sim/test/simulator.ts"
import { manualClock } from "../../../src/base/clock.ts"
import { anthropicModel } from "../../../src/model/anthropic/anthropic.ts"
import type { TeamAgent } from "../../../src/team/open-team.ts"
import { oneLine } from "../../../src/team/progress-line.ts"
import { ask, calls, MODEL, ofType } from "../agent/agents.ts"
import { agentCall, type Cast, castSimulator, decisions, journalOf, leadFor } from "./cast.ts"

const SECONDS = 1000

/** A lead whose agent calls a tool, then waits in its second request until it is released. */
async function atWork(progress: Cast["lead"], more: Parameters<typeof leadFor>[1] = {}, order: object = {}) {
  const clock = manualClock()
  const working = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  const stage = await castSimulator({
    lead: [calls(agentCall("[w] Work.", { run_in_background: true, ...order })), "I wait.", "Done.", "Done."],
    w: [
      calls(["Grep", { words: 600 }]),
      async () => {
        working.resolve()
        await release.promise
        return "The parser is fixed."
      },
    ],
    progress,
  })
  const agent = await leadFor(stage.sim, { clock, autonomous: true, ...more })
  const asked = ask(agent, "Go.")
  await working.promise
  /** Moves the clock, and waits until the cost of a progress line is in the lead's journal. */
  const line = async (milliseconds = 30 * SECONDS) => {
    const spent = nextSpent(agent)
    clock.advance(milliseconds)
    await spent
  }
  return { ...stage, clock, agent, release, asked, line }
}

function nextSpent(agent: TeamAgent): Promise<void> {
  return new Promise((resolve) => {
    const stop = agent.conversation.on("entry", ({ entry }) => {
      if (entry.type !== "strata" || entry.subtype !== "spent") return
      stop()
      resolve()
    })
  })
}

test("L7-8, LOOP-9 every 30 s a background agent gets a progress line from the cheapest model, which reads only its newest messages", async () => {
  const { agent, of, line, clock, release, asked } = await atWork(['"Reading the parser tests."\nMore of it.'])
  clock.advance(29 * SECONDS)
  expect(of("progress")).toHaveLength(0)
  await line(1 * SECONDS)
  expect(agent.team.list()).toMatchObject([{ status: "running", progress: "Reading the parser tests" }])
  const [{ request }] = of("progress") as [ReturnType<typeof of>[number]]
  expect(request.model).toBe("claude-haiku-5-5")
  expect(request.tools ?? []).toEqual([])
  expect(JSON.stringify(request.messages).length).toBeLessThan(5_000)
  expect(JSON.stringify(request.messages)).toContain("Grep")
  // the agent is still in the same request: nothing new to report
  for (let time = 0; time < 3; time++) clock.advance(30 * SECONDS)
  expect(of("progress")).toHaveLength(1)
  release.resolve()
  await asked
  await agent.team.settled()
  const spent = decisions(await journalOf(agent), "spent").filter(({ model }) => model === "claude-haiku-5-5")
  expect(spent).toMatchObject([{ purpose: "progress", agent: "agent-1" }])
  expect(agent.conversation.ledger().agents).toMatchObject([{ id: "agent-1", requests: 3 }])
  for (const role of ["lead", "w"])
    expect(JSON.stringify(of(role).map((heard) => heard.request))).not.toContain("Reading the parser tests")
  expect(agent.team.list()[0]).not.toHaveProperty("progress")
})

test("L7-8 where the cheapest model costs more, a fork of the agent writes the line: its bytes, its tools declared, its cache", async () => {
  const summariser = (url: string) => anthropicModel({ model: "claude-fable-5", apiKey: KEY, baseURL: url })
  const { sim } = await castSimulator({ lead: [] })
  const { agent, of, line, release, asked } = await atWork(["Fixing the import"], { summariser: summariser(sim.url) })
  await line()
  expect(agent.team.list()).toMatchObject([{ progress: "Fixing the import" }])
  const own = of("w").at(-1)!.request
  const { request } = of("progress")[0]!
  expect(request.model).toBe(MODEL)
  expect(JSON.stringify(request.tools)).toBe(JSON.stringify(own.tools))
  expect(JSON.stringify(request.system)).toBe(JSON.stringify(own.system))
  const [spent] = decisions(await journalOf(agent), "spent").toReversed()
  expect(spent!.usage.cache_read_input_tokens).toBeGreaterThan(500)
  release.resolve()
  await asked
})

test("L7-8 an agent that is waited for gets no line, and 0 seconds write none", async () => {
  for (const [more, order] of [
    [{}, { run_in_background: false }],
    [{ settings: { figures: { "agent-progress": 0 } } }, {}],
  ] as const) {
    const { of, clock, release, asked } = await atWork(["Reading"], more, order)
    clock.advance(300 * SECONDS)
    release.resolve()
    await asked
    expect(of("progress")).toEqual([])
  }
})

test("L7-8 a line that cannot be written is one notice, and the work continues", async () => {
  const failing = () => {
    throw new Error("no line today")
  }
  const failed = Promise.withResolvers<void>()
  const { agent, clock, release, asked } = await atWork(Array.from({ length: 20 }, () => failing))
  const { mail } = agent.team
  const notice = mail.notice.bind(mail)
  mail.notice = (text) => {
    notice(text)
    failed.resolve()
  }
  clock.advance(30 * SECONDS)
  await failed.promise
  release.resolve()
  const { events, end } = await asked
  expect(end.reason).toBe("answer")
  const notices = ofType(events, "notice").filter(({ message }) => message.includes("progress line"))
  expect(notices).toHaveLength(1)
})

test("L7-8 a line is one line of at most 60 characters, without control characters", () => {
  expect(oneLine("  Reading\u001b[31m a.ts.\nand b.ts")).toBe("Reading [31m a.ts")
  expect(oneLine("x".repeat(100))).toHaveLength(60)
  expect(oneLine("\u200b \n")).toBeUndefined()
})
