import { describe, expect, test } from "vitest"
import { flatten } from "../../../../core/src/messages/flatten.ts"
import { isFromUser, userText } from "../../../../core/src/messages/messages.ts"
import { ledger } from "../../../../core/src/views/ledger/ledger.ts"
import { project } from "../../../../core/src/views/projection.ts"
import { userMessages } from "../../../../core/src/views/record/user-messages.ts"
import { needs } from "../../../../core/test/needs.ts"
import { moreFiles, realMore } from "../../../../core/test/real-transcripts.ts"
import { importTranscript } from "../import-file.ts"
import { placedEntries } from "../imported-entries.ts"
import { copilot } from "./copilot.ts"

let count = 0
const event = (type: string, data: object) => ({
  type,
  data,
  id: `e${count++}`,
  parentId: null,
  timestamp: "2026-01-01T00:00:00.000Z",
})
const START = event("session.start", { sessionId: "s1", selectedModel: "gpt-x", context: { cwd: "/repo" } })

function read(...events: readonly object[]) {
  const text = [START, ...events].map((each) => JSON.stringify(each)).join("\n")
  return importTranscript({ name: "events.jsonl", text })[0]!
}
const user = (content: string, more: object = {}) => event("user.message", { content, ...more })
const answer = (data: object) => event("assistant.message", { messageId: "m", model: "gpt-y", ...data })
const call = (toolCallId: string, name: string, args: object = {}) => ({ toolCallId, name, arguments: args })
const done = (toolCallId: string, more: object) =>
  event("tool.execution_complete", { toolCallId, success: true, ...more })

describe("JRN-6: sessions of the Copilot CLI", () => {
  test("messages, calls and results; the session's facts", () => {
    const { format, id, cwd, model, system, messages, report } = read(
      event("system.message", { role: "system", content: "You are an agent." }),
      user("List the files."),
      event("assistant.turn_start", { turnId: "0" }),
      answer({ content: "I look.", reasoningText: "Hm.", toolRequests: [call("c1", "bash", { command: "ls" })] }),
      event("tool.execution_start", { toolCallId: "c1", toolName: "bash" }),
      done("c1", { result: { content: "a.ts" } }),
      answer({ messageId: "n", content: "One file." }),
      event("quantum.state", {}),
    )
    expect({ format, id, cwd, model, system }).toEqual({
      format: "copilot",
      id: "s1",
      cwd: "/repo",
      model: "gpt-y",
      system: "You are an agent.",
    })
    expect(flatten(messages).messages).toEqual([
      { role: "user", content: [{ type: "text", text: "List the files." }] },
      {
        role: "assistant",
        content: [
          { type: "text", text: "I look." },
          { type: "tool_use", id: "c1", name: "bash", input: { command: "ls" } },
        ],
      },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: "a.ts" }] },
      { role: "assistant", content: [{ type: "text", text: "One file." }] },
    ])
    expect(report.notUnderstood).toEqual({ "quantum.state": 1 })
    expect(report.lines).toBe(9)
  })

  test("what the program sends with a message is not the user's", () => {
    const sent = "<current_datetime>now</current_datetime>\n\nGo.\n\n<system_reminder>always</system_reminder>"
    const { messages } = read(user("Go.", { transformedContent: sent }), user("<skill-context>never</skill-context>"))
    expect(messages.filter(isFromUser).map(userText)).toEqual(["Go."])
    expect(messages[1]).toMatchObject({
      type: "attachment",
      attachment: { text: expect.stringContaining("<system_reminder>always") },
    })
  })

  test("a failed call, a remark at a refusal, an answer to a question", () => {
    const { messages } = read(
      user("Go."),
      answer({ toolRequests: [call("c1", "bash"), call("c2", "ask_user"), call("c3", "ask_user")] }),
      event("permission.completed", {
        toolCallId: "c1",
        result: { kind: "denied-interactively-by-user", feedback: "never delete" },
      }),
      done("c1", { success: false, error: { message: "The user rejected this tool call." } }),
      event("user_input.completed", { answer: "blue" }),
      done("c2", { result: { content: "User selected: blue" } }),
      done("c3", { result: { content: "User responded: 4711" } }),
    )
    expect(messages[2]).toMatchObject({ message: { content: [{ is_error: true }] } })
    expect(project(userMessages, messages).messages).toMatchObject([
      { text: "Go." },
      { text: "never delete", saidAt: "refusal", rules: ["never delete"] },
      { text: "blue", saidAt: "answer" },
      { text: "4711", saidAt: "answer" },
    ])
  })

  test("a compaction is a boundary with its summary", () => {
    const { messages } = read(
      user("One."),
      event("session.compaction_complete", { success: true, summaryContent: "So far.", preCompactionTokens: 9 }),
      user("Two."),
    )
    expect(messages.map(({ type }) => type)).toEqual(["user", "system", "user", "user"])
    expect(messages[1]).toMatchObject({ compactMetadata: { preTokens: 9 } })
    expect(messages.filter(isFromUser)).toHaveLength(2)
  })

  test("the messages of a sub-agent are its own", () => {
    const { messages, agents } = read(
      user("Go."),
      answer({ toolRequests: [call("t1", "task")] }),
      event("subagent.started", { toolCallId: "t1", agentName: "explore", agentDisplayName: "Explore" }),
      answer({ messageId: "x", content: "I found it.", parentToolCallId: "t1" }),
      done("t1", { result: { content: "Found." } }),
    )
    expect(messages).toHaveLength(3)
    expect(agents).toMatchObject([
      {
        name: "explore",
        description: "Explore",
        callId: "t1",
        startedIn: messages[1]!.uuid,
        endedIn: messages[2]!.uuid,
        status: "completed",
        summary: "Found.",
        messages: [{ type: "assistant" }],
      },
    ])
  })

  test("totals are billed, the last of each run, and an empty answer is no answer", () => {
    const end = (sessionStartTime: number, count: number) =>
      event("session.shutdown", {
        sessionStartTime,
        modelMetrics: {
          "gpt-y": {
            requests: { count },
            usage: { inputTokens: 7 * count, outputTokens: 2, cacheReadTokens: 3, cacheWriteTokens: 1 },
          },
        },
      })
    const { messages, spent = [], report } = read(answer({ content: "" }), end(1, 1), end(1, 2), end(5, 4))
    expect(messages).toMatchObject([{ isApiErrorMessage: true }])
    expect(spent).toMatchObject(
      [2, 4].map((requests) => ({
        ...{ purpose: "main", model: "gpt-y", requests, after: messages[0]!.uuid },
        usage: {
          input_tokens: 7 * requests - 4,
          cache_read_input_tokens: 3,
          cache_creation_input_tokens: 1,
          output_tokens: 2,
        },
      })),
    )
    expect(report.notes.join("\n")).toContain("only the token totals of each model are known")
    const { lines } = project(ledger(), placedEntries({ format: "copilot", id: "s1", messages, spent, report }).entries)
    expect([...lines.values()]).toMatchObject([
      { model: "gpt-y", purpose: "main", requests: 6, counts: { input: 34, cacheRead: 6, output: 4 } },
    ])
  })

  test("other files are not taken for one", () => {
    for (const line of [{}, { type: "session.start" }, { type: "user", data: {}, id: "a", parentId: null }])
      expect(copilot.recognizes({ name: "x", text: JSON.stringify(line) })).toBe(false)
  })
})

describe("JRN-6: the recordings of Copilot", needs("more recordings"), () => {
  test.each(moreFiles("copilot-agentv"))("%s: every message of the user, nothing left over", (name) => {
    const { text } = realMore(name)
    const typed = text
      .split("\n")
      .filter((line) => line.includes('"type":"user.message"'))
      .map((line) => JSON.parse(line).data.content as string)
    const { messages, report } = importTranscript({ name, text })[0]!
    expect(messages.filter(isFromUser).map(userText)).toEqual(typed)
    expect(report.notUnderstood).toEqual({})
  })
})
