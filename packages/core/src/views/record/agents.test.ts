import { describe, expect, test } from "vitest"
import type { Entry } from "../../journal/entries.ts"
import { agents, undelivered } from "./open-work.ts"

let count = 0
const placed = () => ({ uuid: `u${++count}`, parentUuid: null, timestamp: `2026-01-01T00:00:0${count % 10}.000Z` })
const started = (agent: string, kind = "background", callId = `toolu_${agent}`): Entry =>
  ({
    ...{ type: "strata", subtype: "agent-started", ...placed(), agent, name: agent, kind },
    ...{ description: "some work", model: "m", callId },
  }) as Entry
const ended = (agent: string, status = "completed"): Entry =>
  ({ type: "strata", subtype: "agent-ended", ...placed(), agent, status, summary: "Done." }) as Entry
const attached = (attachment: object): Entry =>
  ({ type: "attachment", ...placed(), sessionId: "s", attachment }) as unknown as Entry
const result = (id: string) => attached({ type: "agent_result", id, name: id, status: "completed", content: "x" })
const answered = (callId: string): Entry =>
  ({
    ...{ type: "user", ...placed(), sessionId: "s" },
    message: { role: "user", content: [{ type: "tool_result", tool_use_id: callId, content: "x" }] },
  }) as unknown as Entry

type Steps = readonly (Entry | { readonly left: Entry })[]

function view(...steps: Steps) {
  let state = agents.start()
  for (const step of steps) state = "left" in step ? agents.apply(state, step.left, false) : agents.apply(state, step)
  return state
}
const due = (...steps: Steps) => undelivered(view(...steps)).map(({ id }) => id)

describe("L7-4 the agents view", () => {
  test("an agent is due when it has ended and its result is not in the conversation", () => {
    expect(due(started("a"), started("b"))).toEqual([])
    expect(due(started("a"), started("b"), ended("b"), ended("a"))).toEqual(["a", "b"])
    expect(due(started("a"), ended("a"), result("a"))).toEqual([])
    expect(due(started("a", "wait", "toolu_1"), ended("a"))).toEqual(["a"])
    expect(due(started("a", "wait", "toolu_1"), ended("a"), answered("toolu_1"))).toEqual([])
    expect(due(started("a", "background", "toolu_1"), ended("a"), answered("toolu_1"))).toEqual(["a"])
  })

  test("on a branch that was left, an agent was started all the same, and its result is not due", () => {
    const state = view({ left: started("a") }, { left: ended("a") }, started("b"), ended("b"), { left: result("b") })
    expect([...state.roster.values()].map(({ id, status, isOnPath }) => [id, status, isOnPath])).toEqual([
      ["a", "completed", false],
      ["b", "completed", true],
    ])
    expect(undelivered(state).map(({ id }) => id)).toEqual(["b"])
  })

  test("the first end counts, and the last message of each sender is known", () => {
    const message = (from: string, id: string) =>
      attached({ type: "queued_agent_message", from, content: "x", id, cursor: `after ${id}` })
    const state = view(started("a"), ended("a", "killed"), ended("a"), message("b", "b#1"), message("b", "b#2"))
    expect(state.roster.get("a")?.status).toBe("killed")
    expect([...state.received]).toEqual([["b", "b#2"]])
    expect(state.cursor).toBe("after b#2")
  })
})
