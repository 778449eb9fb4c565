import { describe, expect, test } from "vitest"
import type { ResponderTurn } from "../../../../sim/src/responder.ts"
import type { ScriptedTurn } from "../../../../sim/src/responders/scripted.ts"
import { manualClock } from "../../../src/base/clock.ts"
import { engineOf } from "../../../src/conversation/conversation.ts"
import { isWhole } from "../../size.ts"
import { ask, calls, ofType, project } from "../agent/agents.ts"
import { agentCall, castSimulator, journalOf, leadFor, received, send } from "./cast.ts"

const messagesIn = async (agent: Parameters<typeof journalOf>[0]) => received(await journalOf(agent))

/** Answers the newest of these texts: the first rule whose text is in the request, after its last text if it has one. */
function turn(rules: readonly (readonly [string, ScriptedTurn, string?])[]): ScriptedTurn {
  return (given) => {
    const all = JSON.stringify(given.request.messages)
    const rule = rules.find(([text, , after]) => all.indexOf(text, after ? lastOr(all, after) : 0) >= 0)
    return played(rule![1], given)
  }
}

const lastOr = (all: string, text: string) => (all.includes(text) ? all.lastIndexOf(text) : all.length)

/** Agrees to the newest shutdown request. */
const agree: ScriptedTurn = (given) => {
  const request = [...JSON.stringify(given.request.messages).matchAll(/your work \(request (\w+)\)/g)].at(-1)?.[1]
  return played(calls(send("lead", { kind: "shutdown_response", request, approve: true })), given)
}

const played = (answer: ScriptedTurn, given: ResponderTurn) => (typeof answer === "function" ? answer(given) : answer)

test("L7-5 a teammate and its lead send each other messages; L7-6 it ends when it agrees to", async () => {
  // each answers what it has read so far, in any order of arrival
  const lead = turn([
    ["It agrees to end its work", "Done."],
    ["The request has the id", "I wait."],
    ["The parser is in a.ts.", calls(send("finder", { kind: "shutdown_request", reason: "all found" }))],
    ["Sent to finder.", "I wait."],
    ["What shall I look for?", calls(send("finder", "Look for the parser."))],
    ["", "I wait."],
  ])
  const finder = turn([
    ["Sent to lead.", "I end.", "It asks you to end"],
    ["It asks you to end", agree],
    ["Look for the parser.", "The parser is in a.ts."],
    ["Sent to lead.", "I asked."],
    ["", calls(send("lead", "What shall I look for?"))],
  ])
  const { sim, of } = await castSimulator({
    lead: [
      calls(agentCall("[finder] Ask me what to search.", { name: "finder" })),
      ...Array.from({ length: 12 }, () => lead),
    ],
    finder: Array.from({ length: 12 }, () => finder),
  })
  const agent = await leadFor(sim, { autonomous: true })
  await ask(agent, "Find it.")
  await agent.team.settled()
  const received = await messagesIn(agent)
  expect(received.filter(({ id }) => /#\d+$/.test(id!))).toMatchObject([
    { id: "finder#1", from: "finder", content: "What shall I look for?", hops: 1 },
    { id: "finder#2", kind: "shutdown_response", approve: true },
  ])
  expect(agent.team.view("finder")).toMatchObject({ status: "completed" })
  expect(JSON.stringify(of("finder").at(-1)!.request.messages)).toContain("Reason: all found")
})

test("L7-6 a teammate asks its lead to approve a plan, gets the answer, and continues", async () => {
  const approve: ScriptedTurn = (given) => {
    const request = /approve its plan \(request (\w+)\)/.exec(JSON.stringify(given.request.messages))?.[1]
    return played(calls(send("finder", { kind: "plan_approval_response", request, approve: true })), given)
  }
  const lead = turn([
    ["Carried out.", "Done."],
    ["Sent to finder.", "I wait."],
    ["It asks you to approve its plan", approve],
    ["", "I wait."],
  ])
  const finder = turn([
    ["It agrees with your plan", "Carried out."],
    ["Sent to lead.", "I wait."],
    ["", calls(send("lead", { kind: "plan_approval_request", plan: "1. Look in a.ts. 2. Say where." }))],
  ])
  const { sim } = await castSimulator({
    lead: [calls(agentCall("[finder] Plan first.", { name: "finder" })), ...Array.from({ length: 12 }, () => lead)],
    finder: Array.from({ length: 12 }, () => finder),
  })
  const agent = await leadFor(sim, { autonomous: true })
  await ask(agent, "Find it.")
  const got = await messagesIn(agent)
  expect(got[0]).toMatchObject({ kind: "plan_approval_request", content: expect.stringContaining("1. Look in a.ts.") })
  expect(got.map(({ content }) => content).join()).toContain("Carried out.")
})

test.runIf(isWhole)(
  "L7-5 the leads of two processes on one directory exchange messages through the team's mailbox",
  async () => {
    const where = project()
    const { sim } = await castSimulator({
      lead: [calls(send("b", "[other] What is your favourite number?")), "I asked.", "It is 7."],
      other: [calls(send("a", "It is 7.")), "I answered."],
    })
    const first = await leadFor(sim, { ...where, team: { name: "pair", as: "a" } })
    const second = await leadFor(sim, { ...where, team: { name: "pair", as: "b" } })
    await ask(first, "Ask b for its number.")
    await ask(second, undefined)
    expect(await messagesIn(second)).toMatchObject([
      { id: "a#1", from: "a", cursor: expect.stringMatching(/^pair@/) as string },
    ])
    expect((await ask(first, undefined)).end).toMatchObject({ text: "It is 7." })
    expect(await messagesIn(first)).toMatchObject([{ id: "b#1", content: "It is 7.", hops: 2 }])
    await expect(leadFor(sim, { ...where, team: { name: "pair", as: "a" } })).rejects.toThrow(
      'The team already has a member named "a"',
    )
  },
)

test("L7-5 L5-12 without an owner a process joins no team: its name would be all it takes to read along", async () => {
  const { sim } = await castSimulator({ lead: ["Hello."] })
  await expect(leadFor(sim, { memory: false, team: { name: "pair", as: "a" } })).rejects.toThrow(
    /needs an owner, and this agent has none\. Nothing was sent\. Pass the same memory/,
  )
})

test("L7-5 two conversations of the same user reach each other by id", async () => {
  const where = project()
  const { sim } = await castSimulator({ lead: ["Hello."], other: ["I saw it."] })
  const second = await leadFor(sim, where)
  const script = await castSimulator({
    lead: [calls(send(`bridge:${second.conversation.id}`, "[other] hello")), "Sent."],
  })
  const first = await leadFor(script.sim, where)
  await ask(first, "Greet the other one.")
  expect(second.team.inbound.hasAny).toBe(true)
  expect((await ask(second, undefined)).end).toMatchObject({ text: "I saw it." })
  expect(await messagesIn(second)).toMatchObject([
    { from: `bridge:${first.conversation.id}`, content: "[other] hello", hops: 1 },
  ])
  expect(engineOf(second.conversation).views.words.messages).toEqual([])
})

describe("L7-5 a run in a team of processes waits for the others", () => {
  const waiting = (clock: ReturnType<typeof manualClock>) => {
    const begun = Promise.withResolvers<void>()
    const after: typeof clock.after = (ms, call) => {
      if (ms === 30 * 60_000) begun.resolve()
      return clock.after(ms, call)
    }
    return { clock: { ...clock, after }, begun: begun.promise }
  }

  test.runIf(isWhole)(
    "its query goes on with a message that comes while it waits, and ends when all wait and nothing is unread",
    async () => {
      const where = project()
      const clock = manualClock()
      const held = waiting(clock)
      const first = await castSimulator({ lead: ["I have finished.", "It is 7, then."] })
      const second = await castSimulator({
        lead: [
          async (turn) => {
            await held.begun
            return played(calls(send("a", "It is 7.")), turn)
          },
          "I answered.",
        ],
      })
      const b = await leadFor(second.sim, { ...where, autonomous: true, team: { name: "pair", as: "b" } })
      const a = await leadFor(first.sim, {
        ...where,
        clock: held.clock,
        autonomous: true,
        team: { name: "pair", as: "a" },
      })
      const both = [ask(b, "Work, then report to a."), ask(a, "Wait for b.")]
      const [, end] = await Promise.all(both)
      expect(end!.end).toMatchObject({ reason: "answer", text: "It is 7, then." })
      expect(ofType(end!.events, "notice")).toEqual([])
      expect(await messagesIn(a)).toMatchObject([{ id: "b#1", content: "It is 7." }])
    },
  )

  test("the wait has a limit, and the end says who still works", async () => {
    const clock = manualClock()
    const held = waiting(clock)
    const where = project()
    const release = Promise.withResolvers<void>()
    const first = await castSimulator({ lead: ["I have finished."] })
    const second = await castSimulator({
      lead: [
        async () => {
          await release.promise
          return "Done."
        },
      ],
    })
    const b = await leadFor(second.sim, { ...where, autonomous: true, team: { name: "pair", as: "b" } })
    const a = await leadFor(first.sim, {
      ...where,
      clock: held.clock,
      autonomous: true,
      team: { name: "pair", as: "a" },
    })
    const bEnds = ask(b, "Work.")
    void held.begun.then(() => clock.advance(30 * 60_000))
    const { events, end } = await ask(a, "Work.")
    expect(end).toMatchObject({ reason: "answer", text: "I have finished." })
    expect(ofType(events, "notice").map(({ message }) => message)).toContainEqual(
      expect.stringMatching(/waited for 30 minutes, and that is the limit\. Still at work: b\./),
    )
    release.resolve()
    await bEnds
  })
})
