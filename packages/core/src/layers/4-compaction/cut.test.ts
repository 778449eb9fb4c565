import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { type ConversationBuilder, conversation } from "../../../test/builders.ts"
import { contentOf, type Message } from "../../messages/messages.ts"
import { rounds, safeCuts } from "../../messages/rounds.ts"
import { cutAfter, cutAfterNotes, cutAll, cutRange } from "./cut.ts"

const limits = { min: 10, max: 40, messages: 5 }
/** Counts every message as one token, so that sizes can be chosen. */
const one = () => 1

const working = (turns: number) => {
  const chat = conversation().user("Begin.")
  for (let turn = 0; turn < turns; turn++) chat.call("Read", { file_path: `f${turn}` }).result(`content ${turn}`)
  return chat
}

describe("what is kept", () => {
  test("L4-17 everything is summarised, but the user's last message stays in their own words", () => {
    const { messages } = working(3).say("Done.").user("And now the other one.")
    const cut = cutAll({ messages, tokensOf: one, limits })
    expect(cut.preserved).toEqual(messages.slice(-1))
    expect(cut.summarised).toEqual(messages.slice(0, -1))
  })

  test("L4-32 results that no response has followed are kept with their calls, whatever the budget, and shortened", () => {
    const { messages } = working(3)
    const long = (limit: number) => ({ budget: 0, tokensOf: () => limit })
    expect(cutAll({ messages, tokensOf: one, limits })).toMatchObject({ preserved: messages.slice(-2), shortens: true })
    expect(cutAll({ messages, tokensOf: () => 90, limits, newest: long(20) }).preserved).toEqual(messages.slice(-2))
    const typed = working(3).user("and quickly").messages
    expect(cutAll({ messages: typed, tokensOf: one, limits }).preserved).toEqual(typed.slice(-3))
    const noted = cutAfterNotes({ messages, tokensOf: () => 90, limits, newest: long(20) }, messages.at(-1)!.uuid)
    expect(noted).toMatchObject({ preserved: messages.slice(-2), shortens: true })
    // too large even so, or nothing else to summarise
    expect(cutAll({ messages, tokensOf: () => 90, limits, newest: long(21) }).preserved).toEqual([])
    expect(cutAll({ messages: working(1).messages, tokensOf: one, limits }).preserved).toEqual([])
  })

  test("L4-17 a last message that fills the window is summarised too", () => {
    const long = working(3).user("a very long text").messages
    expect(cutAll({ messages: long, tokensOf: () => 50, limits }).preserved).toEqual([])
  })

  test("L4-32 the newest exchanges stay word for word within their budget, whole rounds only", () => {
    const { messages } = working(5).say("Done.").user("Now this.")
    const kept = (budget: number) =>
      cutAll({ messages, tokensOf: one, limits, newest: { budget, tokensOf: one } }).preserved
    expect(kept(0)).toEqual(messages.slice(-1))
    expect(kept(1)).toEqual(messages.slice(-2))
    expect(kept(2)).toEqual(messages.slice(-2)) // half a round
    expect(kept(3)).toEqual(messages.slice(-4))
    expect(cutAll({ messages, tokensOf: one, limits, newest: { budget: 5, tokensOf: one } }).shortens).toBe(true)
  })

  test("L4-32 where everything would be kept, the first round is left to summarise", () => {
    const newest = { budget: 100, tokensOf: one }
    const { messages } = working(3)
    expect(cutAll({ messages, tokensOf: one, limits, newest }).preserved).toEqual(messages.slice(-4))
    const once = working(1).say("Done.").messages
    expect(cutAll({ messages: once, tokensOf: one, limits, newest }).preserved).toEqual(once.slice(-1))
  })

  test("L4-32 an earlier summary and what was restored with it is never kept after another", () => {
    const { messages } = conversation()
      .user("Summary: earlier", { isCompactSummary: true })
      .attach({ type: "file", path: "a", content: "x" })
      .user("go on")
      .say("yes")
      .user("and more")
      .say("done")
    const { preserved, summarised } = cutAll({ messages, tokensOf: one, limits, newest: { budget: 2, tokensOf: one } })
    expect(preserved).toEqual(messages.slice(-2))
    expect(summarised).toEqual(messages.slice(0, -2))
  })

  test("L4-7 a call that is still to be answered is kept, however large it is", () => {
    const { messages } = working(3).user("write it").call("Write", { content: "a very long text" })
    const cut = cutAll({ messages, tokensOf: () => 50, limits })
    expect(cut.preserved).toEqual(messages.slice(-1))
    const given = working(3).user("write it").call("Write", { content: "a very long text" }).user("never mind").messages
    expect(cutAll({ messages: given, tokensOf: () => 50, limits }).preserved).toEqual([])
  })

  test("L4-6 from the first message the notes do not tell, back to ten tokens and five messages with text", () => {
    const chat = conversation()
    for (let turn = 0; turn < 30; turn++) chat.user(`ask ${turn}`).say(`answer ${turn}`)
    const { messages } = chat
    const through = messages.at(-3)!.uuid
    expect(cutAfterNotes({ messages, tokensOf: one, limits }, through)!.preserved).toEqual(messages.slice(-10))
    expect(cutAfterNotes({ messages, tokensOf: () => 10, limits }, through)!.preserved).toEqual(messages.slice(-4))
    expect(cutAfterNotes({ messages, tokensOf: one, limits }, undefined)!.preserved).toEqual(messages.slice(-10))
  })

  test("L4-6 all that the notes do not tell is kept, however much it is", () => {
    const { messages } = working(20).say("Done.")
    expect(cutAfterNotes({ messages, tokensOf: () => 10, limits }, messages[0]!.uuid)!.preserved).toEqual(
      messages.slice(1),
    )
  })

  test("L4-5 a position that is not among the messages refuses this way", () => {
    expect(cutAfterNotes({ messages: working(3).messages, tokensOf: one, limits }, "gone")).toBeUndefined()
  })

  test("L4-6 never before the last boundary: not the earlier summary, nor what was restored with it", () => {
    const { messages } = conversation()
      .user("Summary: earlier", { isCompactSummary: true })
      .attach({ type: "file", path: "a", content: "x" })
      .user("go on")
      .say("yes")
    const cut = cutAfterNotes({ messages, tokensOf: one, limits }, undefined)!
    expect(cut.preserved).toEqual(messages.slice(2))
  })

  test("L4-16 from a message on, or up to one", () => {
    const { messages } = conversation().user("a").say("b").user("c").call("Read").result("d").say("e")
    const from = cutRange(messages, { kind: "from", uuid: messages[2]!.uuid })!
    expect([from.preserved, from.summarised]).toEqual([messages.slice(0, 3), messages.slice(3)])
    const upTo = cutRange(messages, { kind: "up-to", uuid: messages[2]!.uuid })!
    expect([upTo.summarised, upTo.preserved]).toEqual([messages.slice(0, 2), messages.slice(2)])
    const inside = cutRange(messages, { kind: "up-to", uuid: messages[4]!.uuid })!
    expect(inside.preserved).toEqual(messages.slice(3))
    expect(cutRange(messages, { kind: "from", uuid: "none" })).toBeUndefined()
  })

  test("L4-28 a prepared summary is used only where nothing is parted", () => {
    const { messages } = working(3)
    const input = { messages, tokensOf: () => 10, limits }
    expect(cutAfter(input, messages[2]!.uuid)!.preserved).toEqual(messages.slice(3))
    expect(cutAfter(input, messages[1]!.uuid)).toBeUndefined()
    expect(cutAfter(input, "gone")).toBeUndefined()
  })

  test("L4-28 with a prepared summary, the newest exchanges that it covers are kept too, as far as they fit", () => {
    const { messages } = working(3)
    const newest = { budget: 20, tokensOf: () => 0 }
    const input = { messages, tokensOf: () => 10, limits, newest }
    expect(cutAfter(input, messages[4]!.uuid)!.preserved).toEqual(messages.slice(3))
    expect(cutAfter({ ...input, newest: { ...newest, budget: 19 } }, messages[4]!.uuid)!.preserved).toEqual(
      messages.slice(5),
    )
  })
})

describe("L4-7 property", () => {
  const step = fc.oneof(
    fc.constant((chat: ConversationBuilder) => chat.user("words")),
    fc.constant((chat: ConversationBuilder) => chat.say("answer")),
    fc.nat(2).map((more) => (chat: ConversationBuilder) => {
      const id = `msg_shared_${chat.messages.length}`
      for (let i = 0; i <= more; i++) chat.call("Read", {}, { id })
      for (let i = 0; i <= more; i++) chat.result("text")
      return chat
    }),
  )
  const chats = fc
    .array(step, { minLength: 1, maxLength: 25 })
    .map((steps) => steps.reduce((chat, each) => each(chat), conversation()).messages)

  const bonds = (messages: readonly Message[]) =>
    new Set(
      messages.flatMap((message) => {
        if (message.type === "assistant")
          return [
            message.message.id!,
            ...contentOf(message).flatMap((block) => (block.type === "tool_use" ? block.id : [])),
          ]
        if (message.type !== "user") return []
        return contentOf(message).flatMap((block) => (block.type === "tool_result" ? block.tool_use_id : []))
      }),
    )

  test("no cut parts a tool pair or the pieces of one response, and nothing is lost", () => {
    fc.assert(
      fc.property(chats, fc.nat(), fc.nat(60), (messages, which, size) => {
        const { uuid } = messages[which % messages.length]!
        const input = { messages, tokensOf: () => size, limits }
        const cuts = [
          cutAll(input),
          cutAll({ ...input, newest: { budget: 100, tokensOf: () => size } }),
          cutAfterNotes(input, uuid),
          cutRange(messages, { kind: "from", uuid }),
          cutRange(messages, { kind: "up-to", uuid }),
          cutAfter(input, uuid),
        ].filter((cut) => cut !== undefined)
        for (const { summarised, preserved, kind } of cuts) {
          const behind = bonds(preserved)
          expect([...bonds(summarised)].filter((bond) => behind.has(bond))).toEqual([])
          expect(kind === "from" ? [...preserved, ...summarised] : [...summarised, ...preserved]).toEqual(messages)
        }
      }),
    )
  })

  test("every round begins at a safe place", () => {
    fc.assert(
      fc.property(chats, (messages) => {
        const safe = safeCuts(messages)
        let at = 0
        for (const round of rounds(messages)) {
          expect(safe[at]).toBe(true)
          at += round.length
        }
        expect(safe[at]).toBe(true)
      }),
    )
  })
})
