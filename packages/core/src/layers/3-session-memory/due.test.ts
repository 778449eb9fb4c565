import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { conversation } from "../../../test/builders.ts"
import type { Block } from "../../messages/blocks.ts"
import { positionOf } from "../layer.ts"
import { isTimeForNotes, type NotesTimingInput, workSince } from "./session-memory.ts"

const figures = { first: 10_000, growth: 5_000, toolCalls: 3 }
const at = (
  size: number,
  more: Partial<Omit<NotesTimingInput, "work">> & { toolCalls?: number; isCalling?: boolean } = {},
) =>
  isTimeForNotes({
    size,
    sizeAtLast: more.sizeAtLast,
    figures,
    work: () => ({ toolCalls: more.toolCalls ?? 0, isCalling: more.isCalling ?? true }),
  })

describe("L3-3 when notes are taken", () => {
  test("first once the context holds 10,000 tokens, in any situation", () => {
    expect([at(9_999), at(10_000), at(10_000, { isCalling: true })]).toEqual([false, true, true])
  })

  test.each([
    // columns: growth in tokens, calls since the last update, still calling, due
    [4_999, 9, false, false],
    [5_000, 2, true, false],
    [5_000, 3, true, true],
    [5_000, 0, false, true],
    [50_000, 2, true, false],
  ])("then: grown by %i, %i calls since, calling %s: %s", (grown, toolCalls, isCalling, due) => {
    expect(at(20_000 + grown, { sizeAtLast: 20_000, toolCalls, isCalling })).toBe(due)
  })

  test("property: without growth never, and the messages are not even looked at", () => {
    fc.assert(
      fc.property(fc.nat(300_000), fc.integer({ min: -100_000, max: 4_999 }), (sizeAtLast, grown) => {
        const work = () => {
          throw new Error("looked at the messages")
        }
        expect(isTimeForNotes({ size: sizeAtLast + grown, sizeAtLast, figures, work })).toBe(false)
      }),
    )
  })
})

describe("L3-6 how far the notes go", () => {
  test("to the newest message; while calls are open, to the one before the turn that made them", () => {
    const built = conversation().user("go").call("Read").result("text").call("Bash")
    const { messages } = built
    expect(positionOf(messages)).toEqual({ throughUuid: messages[2]!.uuid, openCalls: ["toolu_1"] })
    built.result("done")
    expect(positionOf(messages)).toEqual({ throughUuid: messages[4]!.uuid, openCalls: [] })
    built.say("That is all.")
    expect(positionOf(messages).throughUuid).toBe(messages[5]!.uuid)
  })

  test("a turn in pieces is one turn, also with results between them", () => {
    const piece = (id: string): Block => ({ type: "tool_use", id, name: "Read", input: {} })
    const { messages } = conversation()
      .user("go")
      .respond([{ type: "text", text: "Both." }], { id: "msg_x" })
      .respond([piece("toolu_a")], { id: "msg_x" })
      .user([{ type: "tool_result", tool_use_id: "toolu_a", content: "a" }])
      .respond([piece("toolu_b")], { id: "msg_x" })
    expect(positionOf(messages)).toEqual({ throughUuid: messages[0]!.uuid, openCalls: ["toolu_b"] })
    expect(workSince(messages, messages[0]!.uuid)).toEqual({ toolCalls: 2, isCalling: true })
  })

  test("no message was sent yet: there is no position", () => {
    expect(positionOf([])).toEqual({ throughUuid: undefined, openCalls: [] })
  })

  test("work is counted from the last update, or from the beginning where that message is gone", () => {
    const { messages } = conversation().user("go").call("Read").result("1").call("Read").result("2").say("done")
    expect(workSince(messages, messages[2]!.uuid)).toEqual({ toolCalls: 1, isCalling: false })
    expect(workSince(messages, "elsewhere")).toEqual({ toolCalls: 2, isCalling: false })
  })
})
