import { describe, expect, test } from "vitest"
import { type ConversationBuilder, conversation } from "../../../../test/builders.ts"
import type { Attachment } from "../../../messages/attachments.ts"
import { createEstimator } from "../../../tokens/estimate.ts"
import { sizeOf } from "./files.ts"
import { agentListing, agentStatus, serverInstructions, skillsInUse, toolSet } from "./restore.ts"

const { text: estimate } = createEstimator("claude-5")
const before = ({ messages }: ConversationBuilder, preserved: readonly number[] = []) => ({
  messages,
  preserved: new Set(preserved.map((at) => messages[at]!.uuid)),
})
const skill = (name: string, content: string): Attachment => ({ type: "skill_content", name, content })
const LIMITS = { estimate, each: 5_000, together: 25_000 }

describe("L4-20 skills in use", () => {
  test("the newest first, each once as it was last used", () => {
    const builder = conversation()
      .attach(skill("a", "old"))
      .attach(skill("b", "b"))
      .attach({ ...skill("a", "new"), belongsTo: "gone" })
    expect(skillsInUse(before(builder), LIMITS)).toEqual([skill("a", "new"), skill("b", "b")])
  })

  test("not one whose newest content is among the kept messages", () => {
    const builder = conversation().attach(skill("a", "old")).attach(skill("a", "new")).attach(skill("b", "b"))
    expect(skillsInUse(before(builder, [1]), LIMITS)).toEqual([skill("b", "b")])
    expect(skillsInUse(before(builder, [0]), LIMITS)).toEqual([skill("b", "b"), skill("a", "new")])
  })

  test("a long one is cut at a line end with a marker, and cut no further the next time", () => {
    const builder = conversation().attach(skill('a"b', "do this\n".repeat(2_000)))
    const [cut, more] = skillsInUse(before(builder), { ...LIMITS, each: 400 })
    expect(more).toBeUndefined()
    expect((cut as { content: string }).content).toMatch(
      /do this\n\[Cut here: the instructions go on\. Use the skill "a\\"b" again to see all of them\.\]$/,
    )
    expect(sizeOf(cut!, estimate)).toBeLessThanOrEqual(400)
    expect(sizeOf(cut!, estimate)).toBeGreaterThan(350)
    expect(skillsInUse(before(conversation().attach(cut!)), { ...LIMITS, each: 400 })).toEqual([cut])
  })

  test("all together stay within their limit, the newest have the room", () => {
    const builder = conversation()
    for (let number = 0; number < 10; number++) builder.attach(skill(`s${number}`, "step by step\n".repeat(100)))
    const shown = skillsInUse(before(builder), { estimate, each: 300, together: 1_000 })
    expect(shown.map((attachment) => (attachment as { name: string }).name)).toEqual(["s9", "s8", "s7", "s6"])
    expect(shown.reduce((sum, attachment) => sum + sizeOf(attachment, estimate), 0)).toBeLessThanOrEqual(1_000)
  })

  test("nothing is attached where there is no room", () => {
    expect(skillsInUse(before(conversation().attach(skill("a", "text"))), { estimate, each: 5, together: 5 })).toEqual(
      [],
    )
  })
})

describe("L4-20 agents, tools and tool servers", () => {
  test("L7-9 the newest status of the agents", () => {
    const status = (state: "running" | "completed"): Attachment => ({
      type: "agent_status",
      agents: [{ id: "1", name: "finder", status: state }],
    })
    const builder = conversation().attach(status("running")).attach(status("completed"))
    expect(agentStatus(before(builder))).toEqual([status("completed")])
    expect(agentStatus(before(builder, [1]))).toEqual([])
    expect(agentStatus(before(conversation()))).toEqual([])
  })

  test("L7-9 the agents that the journal knows, where no attachment says that they run", () => {
    const record = (id: string, more: object = {}) => ({
      ...{ id, name: id, kind: "background" as const, description: "count", model: "m", callId: "c", startedAt: "" },
      ...{ isOnPath: true, status: "running" as const, isDelivered: false, ...more },
    })
    const roster = new Map(
      [
        record("a"),
        record("b", { status: "killed" }),
        record("c", { kind: "wait" }),
        record("d", { isOnPath: false }),
      ].map((one) => [one.id, one]),
    )
    expect(agentStatus(before(conversation()), { roster })).toEqual([
      {
        type: "agent_status",
        agents: [
          { id: "a", name: "a", status: "running", summary: "count" },
          { id: "b", name: "b", status: "killed", summary: "count" },
        ],
      },
    ])
  })

  test("the newest listing of agents", () => {
    const listing = (name: string): Attachment => ({ type: "agent_listing", agents: [{ name }] })
    expect(agentListing(before(conversation().attach(listing("a")).attach(listing("b"))))).toEqual([listing("b")])
  })

  test("tools that came and are still there, as one list", () => {
    const delta = (added: readonly string[], removed: readonly string[] = []): Attachment => ({
      type: "tool_delta",
      added: added.map((name) => ({ name })),
      removed,
    })
    const builder = conversation()
      .attach(delta(["A", "B"]))
      .attach(delta(["C"], ["A"]))
      .attach(delta([], ["Read"]))
    expect(toolSet(before(builder))).toEqual([delta(["B", "C"])])
    expect(
      toolSet(
        before(
          conversation()
            .attach(delta(["A"]))
            .attach(delta([], ["A"])),
        ),
      ),
    ).toEqual([])
  })

  test("L4-16 a tool that came in a kept message and went in one that is summarised is reported as gone", () => {
    const builder = conversation()
      .attach({ type: "tool_delta", added: [{ name: "A" }, { name: "B" }], removed: [] })
      .attach({ type: "tool_delta", added: [], removed: ["A"] })
    const [kept] = builder.messages
    expect(toolSet({ messages: builder.messages, preserved: new Set([kept!.uuid]) })).toEqual([
      { type: "tool_delta", added: [], removed: ["A"] },
    ])
  })

  test("the newest instructions of each tool server", () => {
    const says = (server: string, instructions: string): Attachment => ({
      type: "mcp_instructions",
      server,
      instructions,
    })
    const builder = conversation().attach(says("a", "1")).attach(says("b", "2")).attach(says("a", "3"))
    expect(serverInstructions(before(builder))).toEqual([says("a", "3"), says("b", "2")])
    expect(serverInstructions(before(builder, [2]))).toEqual([says("b", "2")])
  })

  test("what a sub-agent got in its own conversation is not attached here", () => {
    const messages = conversation()
      .attach(skill("a", "x"))
      .messages.map((message) => ({ ...message, isSidechain: true }))
    expect(skillsInUse({ messages, preserved: new Set() }, LIMITS)).toEqual([])
  })
})
