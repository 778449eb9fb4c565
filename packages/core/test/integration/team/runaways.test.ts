/** Agents that would never stop: each is stopped by a limit, with a message that the model can act on. */
import { expect, test } from "vitest"
import type { ScriptedTurn } from "../../../../sim/src/responders/scripted.ts"
import { ask, calls } from "../agent/agents.ts"
import { agentCall, castSimulator, decisions, journalOf, leadFor } from "./cast.ts"

const send = (to: string, message: string) => ["SendMessage", { to, message }] as const

/** Answers every message with another one. */
const answering =
  (to: string): ScriptedTurn =>
  (turn) => {
    const last = turn.request.messages.at(-1)!.content
    const isAsked = last.some(({ text = "" }) => text.includes(`A message from the agent "${to}"`))
    if (!isAsked && last.some(({ type }) => type === "tool_result")) return "I wait."
    const answer = calls(send(to, "And you?"))
    return typeof answer === "function" ? answer(turn) : answer
  }

const times = <T>(count: number, value: T): readonly T[] => Array.from({ length: count }, () => value)

test("L7-5 two agents that answer each other are stopped by the limit of hops, with a sentence", async () => {
  const { sim, of } = await castSimulator({
    lead: [
      calls(agentCall("[pong] Answer.", { name: "pong" }), agentCall("[ping] Begin.", { name: "ping" })),
      ...times(30, "I wait."),
    ],
    ping: times(40, answering("pong")),
    pong: times(40, answering("ping")),
  })
  const agent = await leadFor(sim, { autonomous: true })
  const { end } = await ask(agent, "Let them talk.")
  expect(end.reason).toBe("answer")
  await agent.team.settled()
  const heard = JSON.stringify([...of("ping"), ...of("pong")].map(({ request }) => request.messages))
  expect(heard).toContain("Not sent. Agents have answered each other 12 times in a row, and that is the limit")
  // three requests at most for each hop; without the limit both would use all of their 40 turns
  expect(of("ping").length + of("pong").length).toBeLessThan(3 * 14)
  expect(agent.team.list().map(({ status }) => status)).toEqual(["idle", "idle"])
})

test("L7-5 an agent that floods its lead is refused, with a sentence, until the lead has read", async () => {
  const flooded = Promise.withResolvers<void>()
  const { sim, of } = await castSimulator({
    lead: [
      calls(agentCall("[flood] Go.", { run_in_background: true })),
      async () => {
        await flooded.promise
        return "I read them."
      },
      "Enough.",
      "Enough.",
    ],
    flood: [
      calls(...times(52, send("lead", "Look at this!"))),
      () => {
        flooded.resolve()
        return "Done."
      },
    ],
  })
  const agent = await leadFor(sim, { autonomous: true })
  expect((await ask(agent, "Go.")).end.reason).toBe("answer")
  const results = JSON.stringify(of("flood")[1]!.request.messages)
  expect(results.split("Sent to lead.")).toHaveLength(51)
  expect(results.split("50 messages wait for lead already. It must read them first.")).toHaveLength(3)
  const entries = await journalOf(agent)
  const messages = entries.filter(
    (entry) => entry.type === "attachment" && entry.attachment.type === "queued_agent_message",
  )
  expect(messages).toHaveLength(50)
  expect(decisions(entries, "agent-ended")).toHaveLength(1)
})
