import { expect, test } from "vitest"
import { flatten } from "../../../../core/src/messages/flatten.ts"
import { isFromUser, type Message, sinceLastBoundary } from "../../../../core/src/messages/messages.ts"
import { codex } from "./codex.ts"

type Line = readonly [type: string, payload: object]

function read(...lines: readonly Line[]) {
  const text = lines
    .map(([type, payload]) => JSON.stringify({ timestamp: "2026-01-01T00:00:00Z", type, payload }))
    .join("\n")
  const [conversation] = codex.read({ name: "rollout.jsonl", text })
  return conversation!
}

const META: Line = ["session_meta", { id: "s1", cwd: "/repo", base_instructions: { text: "Be brief." } }]
const item = (payload: object): Line => ["response_item", payload]
const event = (type: string, more: object = {}): Line => ["event_msg", { type, ...more }]
const message = (role: string, text: string) => item({ type: "message", role, content: [{ type: "input_text", text }] })
const call = (id: string, args = "{}") => item({ type: "function_call", call_id: id, name: "exec", arguments: args })
const output = (id: string, text: unknown) => item({ type: "function_call_output", call_id: id, output: text })
const tokens = (total: number, last: number, cached = 0) =>
  event("token_count", {
    info: {
      total_token_usage: { total_tokens: total },
      last_token_usage: { input_tokens: last - 10, cached_input_tokens: cached, output_tokens: 10, total_tokens: last },
    },
  })

const responses = (messages: readonly Message[]) =>
  messages.flatMap((m) => (m.type === "assistant" ? [{ id: m.message.id, usage: m.message.usage }] : []))

test("JRN-6: parallel calls of one response share its id and its usage", () => {
  const { messages, system, cwd } = read(
    META,
    message("user", "go"),
    call("a"),
    call("b"),
    output("a", "1"),
    output("b", "2"),
    tokens(100, 100, 30),
  )
  const [first, second] = responses(messages)
  expect(first).toEqual(second)
  expect(first?.usage).toEqual({ input_tokens: 60, cache_read_input_tokens: 30, output_tokens: 10 })
  expect([system, cwd]).toEqual(["Be brief.", "/repo"])
  expect(flatten(messages).repairs).toEqual([])
})

test("JRN-6: a token count that reports nothing new neither ends a response nor counts twice", () => {
  const { messages } = read(
    META,
    message("user", "go"),
    call("a"),
    tokens(100, 100),
    output("a", "1"),
    message("assistant", "so"),
    tokens(100, 100),
    call("b"),
    tokens(250, 150),
  )
  const [first, second, third] = responses(messages)
  expect(first?.usage?.input_tokens).toBe(90)
  expect(second).toEqual(third)
  expect(second?.usage?.input_tokens).toBe(140)
})

test("JRN-6: the usage of responses without readable items, also of a compaction's, is billed", () => {
  const { messages, spent } = read(
    META,
    ["turn_context", { model: "gpt-x" }],
    message("user", "go"),
    item({ type: "reasoning", summary: [], encrypted_content: "…" }),
    tokens(100, 100, 30),
    message("assistant", "so"),
    tokens(300, 200),
    tokens(450, 150),
    ["compacted", { message: "All done." }],
  )
  expect(spent).toMatchObject([
    {
      purpose: "main",
      model: "gpt-x",
      after: messages[0]!.uuid,
      usage: { input_tokens: 60, cache_read_input_tokens: 30, output_tokens: 10 },
    },
    { purpose: "compaction", after: messages[1]!.uuid, usage: { input_tokens: 140, output_tokens: 10 } },
  ])
  expect(new Set(spent?.map(({ responseId }) => responseId)).size).toBe(2)
})

test("JRN-6: tokens that only the totals have are billed as another response", () => {
  const count = (total: readonly [number, number, number], last: readonly [number, number, number]) => {
    const usage = ([input_tokens, cached_input_tokens, output_tokens]: readonly [number, number, number]) => ({
      ...{ input_tokens, cached_input_tokens, output_tokens },
      total_tokens: input_tokens + output_tokens,
    })
    return event("token_count", { info: { total_token_usage: usage(total), last_token_usage: usage(last) } })
  }
  const { spent, report } = read(
    META,
    message("user", "go"),
    call("a"),
    count([100, 50, 10], [100, 50, 10]),
    call("b"),
    count([400, 130, 60], [200, 50, 20]),
  )
  expect(spent).toMatchObject([
    { usage: { input_tokens: 70, cache_read_input_tokens: 30, output_tokens: 30 }, purpose: "main" },
  ])
  expect(report.notes.join()).toContain("the tokens of a response that is not recorded are known from the totals")
})

test("JRN-6: without token counts a result ends the response before it", () => {
  const { messages } = read(META, message("user", "go"), call("a"), output("a", "1"), call("b"), output("b", "2"))
  const [first, second] = responses(messages)
  expect(first?.id).not.toBe(second?.id)
})

test("JRN-6: only what the user typed is theirs", () => {
  const { messages } = read(
    META,
    message("developer", "rules"),
    message("user", "<environment_context/>"),
    message("user", "go"),
    event("user_message", { message: "go" }),
  )
  expect(messages.filter(isFromUser)).toHaveLength(1)
  expect(messages.map(({ isMeta }) => isMeta ?? false)).toEqual([true, true, false])
})

test("JRN-6: a compaction becomes a boundary with the history that replaced the context", () => {
  const replacement_history = [
    message("user", "go")[1],
    message("user", "Summary: done so far")[1],
    { type: "compaction", encrypted_content: "…" },
  ]
  const { messages, report } = read(
    META,
    message("user", "go"),
    message("assistant", "on it"),
    tokens(900, 900),
    ["compacted", { message: "", replacement_history }],
    message("user", "more"),
  )
  const [boundary, summary] = sinceLastBoundary(messages)
  expect(boundary).toMatchObject({
    parentUuid: null,
    logicalParentUuid: messages[1]?.uuid,
    compactMetadata: { preTokens: 900 },
  })
  expect(summary).toMatchObject({
    isCompactSummary: true,
    message: { content: [{ text: "go" }, { text: "Summary: done so far" }] },
  })
  expect(report.notes.join()).toContain("the summary of a compaction cannot be read")
})

test("JRN-6: an older compaction keeps the user's messages after its summary", () => {
  const { messages } = read(META, message("user", "go"), message("assistant", "on it"), [
    "compacted",
    { message: "All done." },
  ])
  const [boundary, summary] = sinceLastBoundary(messages)
  expect(boundary).toMatchObject({
    compactMetadata: { preservedMessages: { anchorUuid: summary?.uuid, uuids: [messages[0]?.uuid] } },
  })
  expect(summary).toMatchObject({ message: { content: [{ text: "All done." }] } })
})

test("JRN-6: what the model wrote stays as it is, also where it is no JSON object", () => {
  const { messages } = read(
    META,
    message("user", "go"),
    item({ type: "reasoning", summary: [{ type: "summary_text", text: "Hm." }], encrypted_content: "…" }),
    item({ type: "custom_tool_call", call_id: "p", name: "apply_patch", input: "*** Begin Patch" }),
    call("q", "not json"),
    output("p", [
      { type: "input_text", text: "ok" },
      { type: "input_image", image_url: "data:image/png;base64,AAAA" },
    ]),
  )
  expect(
    messages.map((m) => (m.type === "assistant" ? m.message.content[0] : undefined)).filter((block) => block),
  ).toMatchObject([
    { type: "thinking", thinking: "Hm." },
    { type: "tool_use", name: "apply_patch", input: { text: "*** Begin Patch" } },
    { type: "tool_use", input: { text: "not json" } },
  ])
  expect(messages.at(-1)).toMatchObject({
    message: {
      content: [{ content: [{ text: "ok" }, { source: { type: "base64", media_type: "image/png", data: "AAAA" } }] }],
    },
  })
})

test("JRN-6: unknown lines, items and events are counted by their kind", () => {
  const { report } = read(META, item({ type: "telepathy" }), event("aura"), ["mood", {}])
  expect(report.notUnderstood).toEqual({ "response_item:telepathy": 1, "event_msg:aura": 1, mood: 1 })
})

test("BEY-15 tokens that were written to the cache are part of the input, and are billed as written", () => {
  const usage = { input_tokens: 100, cached_input_tokens: 30, cache_write_input_tokens: 50, output_tokens: 10 }
  const counted = { ...usage, total_tokens: 110 }
  const { messages } = read(
    META,
    message("user", "go"),
    call("a"),
    event("token_count", { info: { total_token_usage: counted, last_token_usage: counted } }),
  )
  expect(responses(messages)[0]?.usage).toEqual({
    ...{ input_tokens: 20, cache_read_input_tokens: 30, cache_creation_input_tokens: 50, output_tokens: 10 },
  })
})
