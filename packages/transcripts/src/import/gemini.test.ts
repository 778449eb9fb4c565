import { describe, expect, test } from "vitest"
import { flatten } from "../../../core/src/messages/flatten.ts"
import { isFromUser, userText } from "../../../core/src/messages/messages.ts"
import { project } from "../../../core/src/views/projection.ts"
import { userMessages } from "../../../core/src/views/record/user-messages.ts"
import { needs } from "../../../core/test/needs.ts"
import { moreFiles, realMore } from "../../../core/test/real-transcripts.ts"
import { importTranscript } from "./import-file.ts"

const HEADER = { sessionId: "s1", projectHash: "h", startTime: "2026-01-01T00:00:00.000Z" }
const AT = "2026-01-01T00:00:01.000Z"

const asDocument = (...messages: readonly object[]) => read(JSON.stringify({ ...HEADER, messages }, null, 2))
const asLines = (...lines: readonly object[]) => read([HEADER, ...lines].map((each) => JSON.stringify(each)).join("\n"))
const read = (text: string) => importTranscript({ name: "session.json", text })[0]!

const user = (id: string, content: unknown) => ({ id, timestamp: AT, type: "user", content })
const answer = (id: string, content: string, more: object = {}) => ({
  id,
  timestamp: AT,
  type: "gemini",
  content,
  model: "gemini-x",
  tokens: { input: 100, output: 5, cached: 60, thoughts: 3, tool: 0, total: 108 },
  ...more,
})
const call = (id: string, name: string, response: object, more: object = {}) => ({
  id,
  name,
  args: { path: "a" },
  status: "success",
  result: [{ functionResponse: { id, name, response } }],
  ...more,
})
const LOOK = answer("b", "I look.", {
  thoughts: [{ subject: "Looking", description: "At the file." }],
  toolCalls: [
    call("c1", "read_file", { output: "text" }),
    call("c2", "read_file", { error: "none" }, { status: "error" }),
  ],
})

describe("JRN-6: chats of the Gemini CLI", () => {
  test("a response without content, or whose tokens were not counted, is a request too", () => {
    const uncounted = { input: 0, output: 0, cached: 0, thoughts: 0, tool: 0, total: 0 }
    const { messages, spent } = asDocument(
      user("a", "Look."),
      answer("b", ""),
      answer("c", "Done.", { tokens: uncounted }),
    )
    expect(spent).toMatchObject([
      {
        purpose: "main",
        model: "gemini-x",
        usage: { input_tokens: 40, cache_read_input_tokens: 60, output_tokens: 8 },
      },
      { purpose: "main", model: "gemini-x", usage: { input_tokens: 0, output_tokens: 0 } },
    ])
    // a usage of 0 would mean that the context is empty
    expect(messages.at(-1)).not.toHaveProperty("message.usage")
  })

  test.each([
    ["a document", asDocument],
    ["lines", asLines],
  ])("%s: messages, calls, results and usage", (_, written) => {
    const { format, id, model, messages, report } = written(user("a", "Look."), LOOK, answer("d", "Done."))
    expect({ format, id, model }).toEqual({ format: "gemini", id: "s1", model: "gemini-x" })
    expect(flatten(messages).messages).toEqual([
      { role: "user", content: [{ type: "text", text: "Look." }] },
      {
        role: "assistant",
        content: [
          { type: "text", text: "I look." },
          { type: "tool_use", id: "c1", name: "read_file", input: { path: "a" } },
          { type: "tool_use", id: "c2", name: "read_file", input: { path: "a" } },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "c1", content: "text" },
          { type: "tool_result", tool_use_id: "c2", content: "none", is_error: true },
        ],
      },
      { role: "assistant", content: [{ type: "text", text: "Done." }] },
    ])
    expect(messages[1]).toMatchObject({
      message: {
        content: [{ type: "thinking", thinking: "Looking\nAt the file." }, {}, {}, {}],
        usage: { input_tokens: 40, cache_read_input_tokens: 60, output_tokens: 8 },
      },
    })
    expect(report.notUnderstood).toEqual({})
  })

  test("pictures come along; notices do not; unknown kinds are counted", () => {
    const picture = { inlineData: { mimeType: "image/png", data: "AAAA" } }
    const { messages, report } = asDocument(
      user("a", [{ text: "See" }, picture]),
      { id: "i", type: "info", content: "Update available" },
      { id: "q", type: "quantum", content: "?" },
    )
    expect(messages).toMatchObject([{ message: { content: [{ text: "See" }, { type: "image" }] } }])
    expect(report).toMatchObject({ lines: 3, understood: { user: 1, info: 1 }, notUnderstood: { quantum: 1 } })
  })

  test("of a message written twice the newest counts, and what the user went back from is left out", () => {
    const { messages, report } = asLines(
      user("a", "One."),
      answer("b", "Wait"),
      answer("b", "Wait, done."),
      user("c", "Wrong."),
      { $rewindTo: "c" },
      user("d", "Two."),
      { $set: { lastUpdated: AT } },
    )
    expect(messages.filter(isFromUser).map(userText)).toEqual(["One.", "Two."])
    expect(messages[1]).toMatchObject({ message: { content: [{ text: "Wait, done." }] } })
    expect(report.understood).toMatchObject({ "message again": 1, $rewindTo: 1, $set: 1 })
  })

  test("answers to questions are the user's", () => {
    const response = { output: JSON.stringify({ answers: { 0: "blue", 1: "never red" } }) }
    const { messages } = asDocument(user("a", "Go."), answer("b", "", { toolCalls: [call("c", "ask_user", response)] }))
    expect(project(userMessages, messages).messages).toMatchObject([
      { text: "Go." },
      { text: "blue", saidAt: "answer" },
      { text: "never red", saidAt: "answer", rules: ["never red"] },
    ])
  })
})

describe("JRN-6: the recordings of Gemini", needs("more recordings"), () => {
  test.each(moreFiles("gemini-entireio-cli"))("%s: every message, call and token", (name) => {
    const { text } = realMore(name)
    const { messages: raw } = JSON.parse(text) as { messages: readonly Record<string, never>[] }
    const { messages, report } = importTranscript({ name, text })[0]!
    const typed = raw.filter(({ type }) => type === "user").map(({ content }) => content)
    expect(messages.filter(isFromUser).map(userText)).toEqual(typed)
    const usages = messages.flatMap((m) => (m.type === "assistant" && m.message.usage ? [m.message.usage] : []))
    const tokens = usages.map((u) => u.input_tokens + (u.cache_read_input_tokens ?? 0) + u.output_tokens)
    const recorded = raw.flatMap(({ tokens: counted }) => (counted ? [(counted as { total: number }).total] : []))
    expect(tokens).toEqual(recorded.filter((total) => total > 0)) // a response that failed has only zeros
    expect(report.notUnderstood).toEqual({})
  })
})
