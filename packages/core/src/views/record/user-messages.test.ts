import { describe, expect, test } from "vitest"
import { conversation } from "../../../test/builders.ts"
import { openTestConversation } from "../../../test/open.ts"
import { engineOf } from "../../conversation/conversation.ts"
import { project } from "../projection.ts"
import { userMessages } from "./user-messages.ts"

describe("L4-29 the user messages view: every message of the user, verbatim", () => {
  test("keeps text, uuid and time, and the standing rules in it", () => {
    const { messages } = conversation().user("  Hello \n there. Never push. ")
    expect(project(userMessages, messages).messages).toEqual([
      {
        uuid: messages[0]!.uuid,
        timestamp: messages[0]!.timestamp,
        text: "  Hello \n there. Never push. ",
        rules: ["Never push."],
      },
    ])
  })

  test("a long one is held up to a whole character", () => {
    const { messages } = conversation().user(`${"好".repeat(9_999)}😀${"!".repeat(10)}`)
    expect(project(userMessages, messages).messages).toMatchObject([{ text: "好".repeat(9_999), isCut: true }])
  })

  test("in a pasted book only its ends can hold rules of the user; those rules are whole", () => {
    const book = Array.from({ length: 5_000 }, (_, n) => `Clause ${n}: the server must answer within ${n} ms.`)
    const text = `Never push.\n${book.join("\n")}\nAlways read it all.`
    const [word] = project(userMessages, conversation().user(text).messages).messages
    expect(word!.rules).toContain("Never push.")
    expect(word!.rules).toContain("Always read it all.")
    expect(word!.rules.join("\n").length).toBeLessThan(25_000)
    expect(word!.rules.every((rule) => text.split("\n").includes(rule))).toBe(true)
  })

  test("sentences of pasted text that read like rules are counted, not listed", () => {
    const text = `Never push.\n\`\`\`\n${"You must wait.\n".repeat(200)}\`\`\``
    expect(project(userMessages, conversation().user(text).messages).messages).toMatchObject([
      { text, rules: ["Never push."], otherRules: 200 },
    ])
  })

  test("what a program put next to the user's text is left out of it", () => {
    const { messages } = conversation()
      .user([
        { type: "text", text: "<ide_opened_file>The user opened a.ts. Never mind.</ide_opened_file>" },
        { type: "text", text: "Rename it." },
      ])
      .user([
        { type: "text", text: "<system-reminder>always</system-reminder>" },
        { type: "text", text: "Go on." },
      ])
    expect(project(userMessages, messages).messages.map(({ text }) => text)).toEqual(["Rename it.", "Go on."])
  })

  test("text next to a result is the user's only if it came from them", () => {
    const { messages } = conversation()
      .call("Bash")
      .user([
        { type: "tool_result", tool_use_id: "toolu_0", content: "ok" },
        { type: "text", text: "[Request interrupted by user for tool use]" },
      ])
      .call("Bash")
      .user([
        { type: "tool_result", tool_use_id: "toolu_1", content: "ok" },
        { type: "text", text: "<system-reminder>never</system-reminder>" },
      ])
      .user([{ type: "text", text: "a skill's text, always" }], { isMeta: true })
    expect(project(userMessages, messages).messages).toEqual([])
  })

  test("leaves out what the user did not say", () => {
    const { messages } = conversation()
      .user("mine")
      .user("internal", { isMeta: true })
      .user("a summary", { isCompactSummary: true })
      .user("a sub-agent's", { isSidechain: true })
      .say("never mind")
      .call("Read")
      .result("always read this")
      .attach({ type: "hook_output", hook: "h", content: "never" })
      .user("<local-command-stdout>out</local-command-stdout>")
      .user("<system-reminder>psst</system-reminder>")
      .user("<command-name>/clear</command-name>")
      .user("[Request interrupted by user]")
      .user("<bash-input>git pull</bash-input>")
      .user("<bash-stdout>always</bash-stdout>")
      .user("<command-message>review</command-message>\n<command-name>/review</command-name>")
      .user('{"task_id":"b1","tool_use_id":"t","description":"Run tests","task_type":"local_bash"}')
      .user(" \n ")
    expect(project(userMessages, messages).messages.map(({ text }) => text)).toEqual(["mine"])
  })

  test("takes the answer to a question that a tool asked, and no other tool's word for it", () => {
    const { messages } = conversation()
      .call("AskUser", { question: "Which port?" })
      .result("The person answers: 4711. Never use 80.")
      .call("AskUser", { question: "And the host?" })
      .result("No answer came. Decide by what is known.", true)
      .call("mcp__shop__ask", {})
      .result("The person answers: always buy")
    expect(project(userMessages, messages).messages).toMatchObject([
      { text: "4711. Never use 80.", saidAt: "answer", rules: ["Never use 80."] },
    ])
  })

  test("takes the text next to results and pictures", () => {
    const { messages } = conversation()
      .call("Read")
      .user([
        { type: "tool_result", tool_use_id: "toolu_0", content: "always" },
        { type: "text", text: "and mind" },
        { type: "image", source: { type: "url", url: "https://example.com/a.png" } },
        { type: "text", text: "the gap" },
      ])
    expect(project(userMessages, messages).messages.map(({ text }) => text)).toEqual(["and mind\nthe gap"])
  })

  test("words on a branch that was left are not the conversation's any more", async () => {
    const chat = await openTestConversation()
    const first = await chat.add({ role: "user", content: "first" })
    await chat.add({ role: "user", content: "left behind" })
    await chat.rewind(first)
    await chat.add({ role: "user", content: "instead" })
    expect(engineOf(chat).views.words.messages.map(({ text }) => text)).toEqual(["first", "instead"])
  })
})
