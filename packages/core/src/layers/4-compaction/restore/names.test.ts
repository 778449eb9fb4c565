import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { type ConversationBuilder, conversation } from "../../../../test/builders.ts"
import { fuzz } from "../../../../test/runs.ts"
import type { Message } from "../../../messages/messages.ts"
import { createEstimator } from "../../../tokens/estimate.ts"
import { project } from "../../../views/projection.ts"
import { type Names, names } from "../../../views/record/names.ts"
import { fromJson, toJson } from "../../../views/views.ts"
import { type NamesToRender, renderNames } from "./facts.ts"

const estimate = createEstimator("claude-5").text

const listOf = ({ messages }: Pick<ConversationBuilder, "messages">, options: Partial<NamesToRender> = {}) =>
  renderNames({
    ...{ names: project(names, messages), limit: 2_000, estimate, preserved: new Set<string>(), shown: [] },
    ...options,
  })
const linesOf = (text: string) => text.split("\n").filter((line) => /^(?:said|typed|in results): /.test(line))

describe("L4-30 the list of exact names after a boundary", () => {
  test("stated first, then typed, then results; newest first", () => {
    const builder = conversation()
      .user("Fix load_session on port 8080.")
      .say("It is in HookStore, see e9f6de7.")
      .call("Bash", { command: "run --dry-run fooBar" })
      .result("ENOENT in bazQux")
      .user('Now call it "blue door".')
    expect(listOf(builder)).toBe(`## Exact names
As they were spelled. They are data.
\`\`\`
said: "blue door" e9f6de7 HookStore 8080 load_session
typed: fooBar --dry-run
in results: bazQux ENOENT
\`\`\``)
  })

  test("what other facts or kept messages show is not repeated", () => {
    const builder = conversation().user("Fix load_session in store.ts.").say("See HookStore and /repo/src/index.ts.")
    expect(linesOf(listOf(builder, { shown: ["- /repo/src/store.ts\nload_session"] }))).toEqual([
      "said: /repo/src/index.ts HookStore",
    ])
    expect(listOf(builder, { preserved: new Set(builder.messages.map(({ uuid }) => uuid)) })).toBe("")
  })

  test("a name used often comes before one used once, a new one before an old one", () => {
    const builder = conversation()
    for (const command of ["first_one", "often_one", "often_one", "often_one", "last_one"])
      builder.call("Bash", { command }).result("ok")
    expect(linesOf(listOf(builder))).toEqual(["typed: often_one last_one first_one"])
  })

  test("with little room, a name typed often comes before one that was stated once long ago", () => {
    const builder = conversation()
    for (let at = 0; at < 40; at++) builder.say(`Look at said_${at}.`)
    for (let at = 0; at < 8; at++) builder.call("Write", { content: "loadAll(error.message)" }).result("ok")
    const list = listOf(builder, { limit: 150 })
    expect(list).toContain("typed: loadAll")
    expect(list).toMatch(/said: said_39 said_38 /)
    expect(list).not.toContain(" said_0")
    expect(list).not.toContain("error.message")
    expect(linesOf(listOf(builder)).at(-1)).toBe("typed: loadAll error.message")
  })

  test("nothing to list, or no room, gives nothing", () => {
    expect(listOf(conversation().user("Hello there."))).toBe("")
    expect(listOf(conversation().user("Fix load_session."), { limit: 0 })).toBe("")
  })
})

const PIECES = [
  ...[
    "foo_bar",
    "fooBar",
    "8080",
    "1,500 ms",
    "```",
    "````",
    '"two words"',
    "`git push`",
    "said: x_y",
    "## Files",
    "v1.2.3",
  ],
  ...[
    "</system-reminder>",
    "<a>",
    "「東京」",
    "\u2028",
    "\u0000",
    "\ud800",
    "😀",
    "a/b/c.ts",
    "C:\\x\\y.z",
    "\n",
    "[link_1]",
    "'q q'",
  ],
]
const text = fc
  .array(fc.oneof(fc.constantFrom(...PIECES), fc.nat(99_999).map(String)), { maxLength: 30 })
  .map((all) => all.join(" "))
const talk = fc.array(fc.tuple(fc.constantFrom("user", "say", "call"), text), { maxLength: 20 })

function conversationOf(lines: readonly (readonly [string, string])[]): readonly Message[] {
  const builder = conversation()
  for (const [what, content] of lines) {
    if (what === "user") builder.user(`Look: ${content}`)
    else if (what === "say") builder.say(content)
    else builder.call("Bash", { command: content }).result(content)
  }
  return builder.messages
}

describe("L4-30 for any conversation", () => {
  test("the list is within its limit, well formed, and no name reads as a line of ours", () => {
    fc.assert(
      fc.property(talk, fc.nat(600), (said, limit) => {
        const list = listOf({ messages: [...conversationOf(said)] }, { limit })
        expect(estimate(list)).toBeLessThanOrEqual(limit)
        expect(list.isWellFormed()).toBe(true)
        for (const each of ["<", "\u0000", "\u2028"]) expect(list).not.toContain(each)
        if (list === "") return
        const [head, title, open, ...rest] = list.split("\n")
        expect([head, title]).toEqual(listOf(conversation().user("a_b")).split("\n").slice(0, 2))
        expect(open).toMatch(/^`{3,}$/)
        const end = rest.lastIndexOf(open!)
        for (const line of rest.slice(end + 1))
          expect(line).toMatch(
            /^\[\d+ more are not listed, \d+ of them in message [0-9a-f]{10}\. Search for a word [^[\]]*\]$/,
          )
        expect(rest.length - end).toBeLessThanOrEqual(2)
        for (const line of rest.slice(0, end)) expect(line).toMatch(/^(?:said|typed|in results): \S/)
      }),
      fuzz,
    )
  })

  test("a checkpointed resume gives the same bytes as reading the whole journal", () => {
    fc.assert(
      fc.property(talk, fc.nat(20), (said, cut) => {
        const messages = conversationOf(said)
        const half = JSON.parse(JSON.stringify(toJson(project(names, messages.slice(0, cut)))))
        let resumed = fromJson(half) as Names
        for (const message of messages.slice(cut)) resumed = names.apply(resumed, message)
        expect(listOf({ messages: [] }, { names: resumed })).toBe(listOf({ messages: [...messages] }))
      }),
      fuzz,
    )
  })
})
