import { expect, test } from "vitest"
import { flatten } from "../../../core/src/messages/flatten.ts"
import { isFromUser, sinceLastBoundary } from "../../../core/src/messages/messages.ts"
import { importTranscript } from "./import-file.ts"

function read(messages: readonly object[], more: object = {}) {
  const info = { id: "ses_1", title: "A session", directory: "/repo", time: { created: 0 } }
  const [conversation] = importTranscript({
    name: "export.json",
    text: JSON.stringify({ info, messages, ...more }, null, 2),
  })
  return conversation!
}

const user = (id: string, ...parts: readonly object[]) => ({
  info: { id, role: "user", time: { created: 1_767_225_600_000 } },
  parts,
})
const answer = (id: string, info: object, ...parts: readonly object[]) => ({
  info: { id, role: "assistant", modelID: "m", time: { created: 1_767_225_601_000 }, ...info },
  parts,
})
const text = (text: string, more: object = {}) => ({ type: "text", text, ...more })
const tool = (callID: string, state: object) => ({
  type: "tool",
  callID,
  tool: "read",
  state: { input: { path: "/a" }, ...state },
})
const done = (output: string) => ({ status: "completed", output, title: "", metadata: {}, time: { start: 1, end: 2 } })
const finish = (input: number) => ({
  type: "step-finish",
  reason: "stop",
  cost: 0,
  tokens: { input, output: 3, reasoning: 4, cache: { read: 5, write: 6 } },
})
const START = { type: "step-start" }

test("JRN-6: each step of an opencode answer is a response with its own usage and its tools' results", () => {
  const { format, title, cwd, model, messages, report } = read([
    user("u1", text("look at /a")),
    answer(
      "a1",
      {},
      START,
      { type: "reasoning", text: "Hm." },
      tool("c1", done("one")),
      tool("c2", done("two")),
      finish(10),
      START,
      text("It says one, two."),
      finish(20),
    ),
  ])
  expect({ format, title, cwd, model }).toEqual({ format: "opencode", title: "A session", cwd: "/repo", model: "m" })
  expect(messages.map(({ type, timestamp }) => `${type} ${timestamp}`)).toEqual([
    "user 2026-01-01T00:00:00.000Z",
    "assistant 2026-01-01T00:00:01.000Z",
    "user 2026-01-01T00:00:01.000Z",
    "assistant 2026-01-01T00:00:01.000Z",
  ])
  expect(messages[1]).toMatchObject({
    message: {
      usage: { input_tokens: 10, output_tokens: 7, cache_read_input_tokens: 5, cache_creation_input_tokens: 6 },
    },
  })
  const flat = flatten(messages)
  // opencode records no signatures, so thinking cannot be sent back
  expect(flat.repairs.map(({ rule }) => rule)).toEqual(["unsigned-thinking"])
  expect(flat.messages.map(({ content }) => content.map(({ type }) => type))).toEqual([
    ["text"],
    ["tool_use", "tool_use"],
    ["tool_result", "tool_result"],
    ["text"],
  ])
  expect(report.lines).toBe(1 + 2 + 1 + 8) // the session, its messages, and their parts
  expect(report.notUnderstood).toEqual({})
})

test("JRN-6: failed calls are errors, calls that never ended have no result", () => {
  const { messages } = read([
    user("u1", text("go")),
    answer("a1", {}, START, tool("c1", { status: "error", error: "no such file" }), tool("c2", { status: "running" })),
  ])
  expect(messages[2]).toMatchObject({
    message: { content: [{ tool_use_id: "c1", content: "no such file", is_error: true }] },
  })
  expect(flatten(messages).repairs).toEqual([{ rule: "unanswered-tool-use", id: "c2" }])
})

test("JRN-6: a compaction becomes a boundary with the summary and the tail it kept", () => {
  const { messages } = read([
    user("u1", text("one")),
    answer("a1", { tokens: { input: 100, output: 5, reasoning: 0, cache: { read: 0, write: 0 } } }, text("two")),
    user("u2", { type: "compaction", auto: false, tail_start_id: "a1" }),
    answer("a2", { summary: true }, text("Done: one, two.")),
    user("u3", text("go on", { synthetic: true })),
  ])
  const [boundary, summary, goOn] = sinceLastBoundary(messages)
  expect(boundary).toMatchObject({
    compactMetadata: { trigger: "manual", preTokens: 105, preservedMessages: { uuids: [messages[1]?.uuid] } },
  })
  expect(summary).toMatchObject({ isCompactSummary: true, message: { content: [{ text: "Done: one, two." }] } })
  expect(goOn?.isMeta).toBe(true)
  expect(messages.filter(isFromUser)).toHaveLength(1)
})

test("JRN-6: images are kept, failures shown, unknown parts and roles counted", () => {
  const { messages, report } = read(
    [
      user(
        "u1",
        text("see"),
        { type: "file", mime: "image/png", url: "data:image/png;base64,AAAA" },
        { type: "file", mime: "text/plain", url: "file:///a" },
      ),
      answer("a1", { error: { name: "APIError", data: { message: "Overloaded" } } }, { type: "hologram" }),
      { info: { role: "oracle" }, parts: [text("?")] },
    ],
    { todos: [] },
  )
  expect(messages).toMatchObject([
    { message: { content: [{ type: "text" }, { type: "image", source: { data: "AAAA" } }] } },
    { isApiErrorMessage: true, message: { content: [{ text: "Overloaded" }] } },
  ])
  expect(report.notUnderstood).toEqual({ "part:hologram": 1, "message:oracle": 1, "part:text": 1 })
  expect(report.understood).toMatchObject({ "part:file": 2, todos: 1 })
})
