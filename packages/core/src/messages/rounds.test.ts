import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { conversation } from "../../test/builders.ts"
import { size } from "../../test/size.ts"
import { isToolResult, isToolUse } from "./blocks.ts"
import { contentOf, type Message } from "./messages.ts"
import { rounds } from "./rounds.ts"

const sizes = (messages: readonly Message[]) => rounds(messages).map((round) => round.length)

describe("MSG-7 rounds", () => {
  test("one group for each response with its results; what comes before the first is its own", () => {
    const { messages } = conversation().user("a").user("b").call("Read").result("x").say("done").user("next").say("ok")
    expect(sizes(messages)).toEqual([2, 2, 2, 1])
  })

  test("pieces of one response are never split, also with results or another response between them", () => {
    const { messages } = conversation()
      .user("a")
      .call("Read", {}, { id: "x" })
      .result("r")
      .call("Grep", {}, { id: "y" })
      .result("r")
      .say("more", { id: "x" })
      .say("new")
    expect(sizes(messages)).toEqual([1, 5, 1])
  })

  test("a result that comes late stays with its call", () => {
    const { messages } = conversation().user("a").call("Slow").say("meanwhile").result("late").say("end")
    expect(sizes(messages)).toEqual([1, 3, 1])
  })

  test("nothing is lost or reordered, and no pair is split, whatever the order", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(4), { maxLength: 40 }), (choices) => {
        const builder = conversation()
        choices.forEach((choice, i) => {
          if (choice === 0) builder.user("u")
          else if (choice === 1) builder.call("T")
          else if (choice === 2) builder.result("r")
          else if (choice === 3) builder.say("s")
          else builder.say("again", { id: `msg_${i % 3}` })
        })
        const groups = rounds(builder.messages)
        expect(groups.flat()).toEqual(builder.messages)
        for (const bonds of [callsOf, responsesOf]) {
          const owners = groups.flatMap((group, at) =>
            [...new Set(group.flatMap(bonds))].map((id) => [id, at] as const),
          )
          expect(new Map(owners).size).toBe(owners.length)
        }
      }),
      { numRuns: size(200, 1_000) },
    )
  })

  test("no messages, no rounds", () => expect(rounds([])).toEqual([]))
})

const callsOf = (message: Message): string[] => {
  if (message.type !== "user" && message.type !== "assistant") return []
  return contentOf(message).flatMap((block) =>
    isToolUse(block) ? block.id : isToolResult(block) ? block.tool_use_id : [],
  )
}
const responsesOf = (message: Message): string[] => (message.type === "assistant" ? [message.message.id!] : [])
