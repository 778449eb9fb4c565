import { describe, expect, test } from "vitest"
import { conversation } from "../../../test/builders.ts"
import type { Decision, Entry } from "../../journal/entries.ts"
import { Views } from "../views.ts"

const ID = "toolu_0" // the id that the builder gives to the first call
const persisted = { toolUseId: ID, path: "p", bytes: 9, head: 1, tail: 1 } as const

/**
 * Views with a decision about the first call, a boundary, and a later call with the same id: some models restart the numbers of their
 * calls.
 */
function views(decision: Decision, kept: "kept" | "gone"): Views {
  const views = new Views({ family: "claude-4" })
  const before = conversation().user("go").call("Bash").result("the old one")
  for (const message of before.messages) views.apply(message)
  const { uuid: newest, timestamp } = before.messages.at(-1)!
  views.apply({ type: "strata", uuid: "decision", parentUuid: newest, timestamp, ...decision } as Entry)
  const uuids = kept === "kept" ? before.messages.slice(1).map(({ uuid }) => uuid) : []
  const after = before.messages.length
  before.boundary({ preservedMessages: { anchorUuid: "", uuids } } as object)
  before.user("what was before", { isCompactSummary: true })
  if (kept === "gone")
    before
      .respond([{ type: "tool_use", id: ID, name: "Bash", input: {} }])
      .user([{ type: "tool_result", tool_use_id: ID, content: "the new one" }])
  for (const message of before.messages.slice(after)) views.apply(message)
  return views
}

const sent = (views: Views) => JSON.stringify(views.context.messages().messages)

describe("L1-4, L2-7 what was decided about a call, after a boundary", () => {
  test.each<[string, Decision, shown: string]>([
    [
      "cleared",
      { subtype: "tool-results-cleared", toolUseIds: [ID], why: "idle" },
      "[Old tool result content cleared]",
    ],
    ["put aside", { subtype: "tool-result-persisted", ...persisted }, "<persisted-output>"],
    ["empty", { subtype: "tool-result-empty", toolUseId: ID, tool: "Bash" }, "[Bash finished without output]"],
  ])("%s: holds for the message that is kept, and not for a new call of the same id", (_, decision, shown) => {
    expect(sent(views(decision, "kept"))).toContain(shown)
    expect(sent(views(decision, "gone"))).toContain("the new one")
  })

  test("a call that a request had to answer itself: the new one's own result is sent", () => {
    const decision: Decision = { subtype: "repaired", repairs: [{ rule: "unanswered-tool-use", id: ID }] }
    expect(sent(views(decision, "gone"))).toContain("the new one")
  })

  test.each([
    ["gone", [{ rule: "unanswered-tool-use", id: ID }]],
    ["kept", []],
  ] as const)(
    "MSG-4 a repair is recorded once for each call, also of the same id: the old one is %s",
    (kept, repairs) => {
      const views = new Views({ family: "claude-4" })
      const talk = conversation().user("go").call("Bash").user("never mind")
      const { uuid, timestamp } = talk.messages.at(-1)!
      const uuids = kept === "kept" ? talk.messages.slice(1).map((message) => message.uuid) : []
      const before = talk.messages.length
      talk
        .boundary({ preservedMessages: { anchorUuid: "", uuids } } as object)
        .user("before", { isCompactSummary: true })
      if (kept === "gone") talk.respond([{ type: "tool_use", id: ID, name: "Bash", input: {} }]).user("never mind")
      for (const message of talk.messages.slice(0, before)) views.apply(message)
      const decision = { subtype: "repaired", repairs: views.context.unrecordedRepairs() } as const
      views.apply({ type: "strata", uuid: "decision", parentUuid: uuid, timestamp, ...decision })
      for (const message of talk.messages.slice(before)) views.apply(message)
      expect(views.context.unrecordedRepairs()).toEqual(repairs)
    },
  )
})
