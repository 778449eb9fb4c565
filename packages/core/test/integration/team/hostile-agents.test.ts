/** Attempts of agents to use names or timing to exceed the limits of the agent that started them. */
import { describe, expect, test } from "vitest"
import { engineOf } from "../../../src/conversation/conversation.ts"
import type { AgentTask } from "../../../src/team/agent-task.ts"
import { isWhole } from "../../size.ts"
import { ask, calls, ofType } from "../agent/agents.ts"
import { agentCall, castSimulator, leadFor } from "./cast.ts"

const send = (to: string, message: string) => ["SendMessage", { to, message }] as const
const order = (prompt: string, more: Partial<AgentTask> = {}): AgentTask => ({
  ...{ description: "some work", prompt, kind: "background", callId: "c" },
  ...more,
})
const toolResults = (events: Parameters<typeof ofType>[0]) =>
  ofType(events, "tool-result").map(({ result }) => String(result.content))

describe("L7-4 names", () => {
  test("a fork cannot take the name of the lead, and so cannot speak in its place", async () => {
    const { sim, of } = await castSimulator({
      lead: [calls(agentCall("[copy] Go.", { fork: true, name: "lead" })), "Done."],
      copy: ["Never."],
    })
    const agent = await leadFor(sim, { autonomous: true })
    const { events } = await ask(agent, "Go.")
    expect(toolResults(events)[0]).toContain('"lead" cannot be a teammate\'s name')
    expect(of("copy")).toHaveLength(0)
    expect(agent.team.list()).toEqual([])
  })

  test.each(["user", "User", "LEAD", "system", "agent-7", "a/b", "*", "__proto__", ""])(
    "%j is no name for an agent, of whatever kind",
    async (name) => {
      const { sim } = await castSimulator({ lead: [] })
      const { team } = await leadFor(sim)
      for (const kind of ["teammate", "background", "fork", "wait"] as const)
        await expect(team.start(order("Go.", { kind, name }))).rejects.toThrow("cannot be a teammate's name")
    },
  )

  test("two teammates cannot have names that differ only in case", async () => {
    const { sim } = await castSimulator({ lead: [], one: ["Here."] })
    const { team } = await leadFor(sim)
    await team.start(order("[one] Go.", { kind: "teammate", name: "Worker" }))
    await expect(team.start(order("[one] Go.", { kind: "teammate", name: "worker" }))).rejects.toThrow(
      "There is a teammate named Worker already.",
    )
  })

  test("an agent that was imported keeps its id: no new agent gets it", async () => {
    const { sim } = await castSimulator({ lead: [], one: ["Here."] })
    const agent = await leadFor(sim)
    const imported = { agent: "agent-2", name: "old", kind: "wait", description: "x", model: "m", callId: "c" } as const
    await engineOf(agent.conversation).note([{ type: "strata", subtype: "agent-started", ...imported }])
    await engineOf(agent.conversation).note([
      { type: "strata", subtype: "agent-ended", agent: "agent-2", status: "completed", summary: "x" },
    ])
    const ids = [await agent.team.start(order("[one] Go.")), await agent.team.start(order("[one] Go."))]
    expect(ids.map(({ id }) => id)).toEqual(["agent-1", "agent-3"])
  })
})

describe("L7-4 an agent that is stopped while it is being opened", () => {
  test("an abort reaches it: it asks the model nothing", async () => {
    const { sim, of } = await castSimulator({ lead: [], late: ["Too late."] })
    const { team } = await leadFor(sim)
    const stop = new AbortController()
    const unfollow = team.follow({ signal: stop.signal, costLimit: Number.POSITIVE_INFINITY })
    const starting = team.start(order("[late] Go."))
    stop.abort()
    unfollow()
    expect(await (await starting).done).toMatchObject({ status: "killed", text: "The conversation was interrupted." })
    expect(of("late")).toHaveLength(0)
  })

  test("closing waits for it and stops it: nothing works after the close, and its end is in the journal", async () => {
    const { sim, of } = await castSimulator({ lead: [], late: ["Too late."] })
    const where = await leadFor(sim)
    const starting = where.team.start(order("[late] Go."))
    await where.close()
    expect(await (await starting).done).toMatchObject({ status: "killed", text: "The conversation was closed." })
    expect(of("late")).toHaveLength(0)
    expect(engineOf(where.conversation).views.agents.roster.get("agent-1")).toMatchObject({ status: "killed" })
  })
})

describe("L7-4 limits", () => {
  test("a limit in dollars stops agents that still work after the query has ended", async () => {
    const release = Promise.withResolvers<void>()
    const { sim } = await castSimulator({
      lead: [calls(agentCall("[spender] Spend.", { run_in_background: true })), "Done."],
      spender: [
        async (turn) => {
          await release.promise
          return { content: [{ type: "tool_use", id: turn.nextToolUseId(), name: "Bash", input: { command: "ls" } }] }
        },
        ...Array.from({ length: 14 }, (_, n) => calls(["Bash", { command: `echo ${n}` }])),
        "All spent.",
      ],
    })
    const agent = await leadFor(sim)
    const { end } = await ask(agent, "Go.", { costLimit: 0.03 })
    expect(end).toMatchObject({ reason: "answer" })
    release.resolve()
    await agent.team.settled()
    expect(agent.team.list()).toMatchObject([
      { status: "killed", summary: expect.stringContaining("limit in dollars") },
    ])
  })

  test.runIf(isWhole)(
    "L7-5 a lead and a teammate that answer each other by reports are stopped like those that send messages",
    async () => {
      const { sim } = await castSimulator({
        lead: [
          calls(agentCall("[echo] Say something.", { name: "echo" })),
          ...Array.from({ length: 30 }, () => [calls(send("echo", "And now?")), "I wait."]).flat(),
        ],
        echo: Array.from({ length: 60 }, () => "And now you."),
      })
      const agent = await leadFor(sim, { autonomous: true })
      const { events } = await ask(agent, "Talk.", { maxTurns: 40 })
      expect(toolResults(events).join("\n")).toContain("12 times in a row, and that is the limit.")
      expect(toolResults(events).filter((text) => text === "Sent to echo.").length).toBeLessThan(15)
    },
  )

  test.runIf(isWhole)("waking many teammates at once keeps to the number of agents at once", async () => {
    let working = 0
    let max = 0
    const work = async () => {
      max = Math.max(max, ++working)
      await new Promise((resolve) => setImmediate(resolve))
      working--
      return "Here."
    }
    const { sim, of } = await castSimulator({ lead: [], mate: Array.from({ length: 8 }, () => work) })
    const agent = await leadFor(sim, { settings: { figures: { "max-agents": 1 } } })
    const { team } = agent
    for (const name of ["a", "b", "c", "d"]) {
      await team.start(order("[mate] Go.", { kind: "teammate", name }))
      await team.settled()
    }
    team.deliver({ id: "lead#1", from: "lead", to: "*", text: "Again.", hops: 1 })
    await team.settled()
    expect(of("mate")).toHaveLength(8)
    expect(max).toBe(1)
    expect(team.list().map(({ status }) => status)).toEqual(["idle", "idle", "idle", "idle"])
  })
})

test("L7-5 a message that comes during the last hook of an agent is still answered, and one that comes after its end is refused", async () => {
  const { sim, of } = await castSimulator({ lead: [], worker: ["First.", "Second."] })
  const late = { id: "lead#1", from: "lead", to: "agent-1", text: "One more thing.", hops: 1 }
  const states: string[] = []
  const agent = await leadFor(sim, {
    hooks: [
      {
        event: "SubagentStop",
        name: "slow",
        run: async () => {
          if (states.length === 0) states.push(agent.team.deliver(late).state)
        },
      },
    ],
  })
  const worker = await agent.team.start(order("[worker] Go."))
  expect(await worker.done).toMatchObject({ text: "Second." })
  expect(JSON.stringify(of("worker")[1]!.request.messages)).toContain("One more thing.")
  expect([...states, agent.team.deliver(late).state]).toEqual(["delivered", "refused"])
})

test("L7-4 a question of an agent that has ended does not keep the others from asking", async () => {
  const asking = calls(["Bash", { command: "touch made" }])
  const { sim } = await castSimulator({ lead: [], one: [asking], two: [asking, "Made."], three: [asking, "Made."] })
  const first = Promise.withResolvers<void>()
  const asked: string[] = []
  const { team } = await leadFor(sim, {
    mode: "ask",
    askPermission: ({ agent: name = "" }) => {
      asked.push(name)
      if (name !== "agent-1") return { allowed: true }
      first.resolve()
      return new Promise(() => undefined) // the question is never answered
    },
  })
  await team.start(order("[one] Go."))
  await first.promise
  const two = await team.start(order("[two] Go."))
  const three = await team.start(order("[three] Go."))
  await team.stop("agent-1")
  expect(await two.done).toMatchObject({ text: "Made." })
  expect(await three.done).toMatchObject({ text: "Made." })
  expect(asked.toSorted()).toEqual(["agent-1", "agent-2", "agent-3"])
})

test("L7-5 a conversation that is closing takes no message, and a process of a team cannot be called lead", async () => {
  const { sim } = await castSimulator({ lead: [] })
  const agent = await leadFor(sim)
  await agent.close()
  const late = { id: "bridge:x#1", from: "bridge:x", to: "lead", text: "Hello?", hops: 1 }
  expect(agent.team.deliver(late)).toEqual({ state: "refused", reason: "The conversation was closed." })
  await expect(leadFor(sim, { team: { name: "pair", as: "lead" } })).rejects.toThrow('The name "lead" is reserved.')
})
