/** Conversations that once broke an invariant, each by its name, so that they are tried every time. */
import { expect, test } from "vitest"
import { serialiseRequest } from "../../src/parts.ts"
import { openTestConversation } from "../open.ts"

// found by fuzzing: leaving trailing thinking out flattened everything again, with an answer made up later counting from the start
test("invariant 2: what was flattened before an answer was made up stays as it was when the view is built again", async () => {
  const chat = await openTestConversation()
  const usage = { input_tokens: 1, output_tokens: 1 }
  const respond = (id: string, content: unknown[]) =>
    chat.record({ id, model: "claude-opus-4-6", content, stop_reason: "end_turn", usage })
  await chat.add({ role: "user", content: "go" })
  await respond("one", [{ type: "tool_use", id: "a", name: "Read", input: {} }])
  await respond("two", [{ type: "tool_use", id: "b", name: "Read", input: {} }])
  await chat.add({ role: "user", content: [{ type: "tool_result", tool_use_id: "b", content: "early" }] })
  const before = serialiseRequest(await chat.prepare())
  await respond("three", [{ type: "thinking", thinking: "hm", signature: "s" }])
  const after = serialiseRequest(await chat.prepare())
  expect(after).toBe(before)
})

// found by fuzzing: without the thinking behind it, a server's call looked as if the server had been interrupted in it
test("invariant 2: a server's call that was left out with the thinking behind it does not come back", async () => {
  const chat = await openTestConversation()
  await chat.add({ role: "user", content: "go" })
  await chat.record({
    id: "one",
    model: "claude-opus-4-6",
    content: [
      { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} },
      { type: "thinking", thinking: "hm", signature: "s" },
    ],
    stop_reason: "pause_turn",
    usage: { input_tokens: 1, output_tokens: 1 },
  })
  const before = serialiseRequest(await chat.prepare())
  await chat.add({ role: "user", content: "on" })
  expect(serialiseRequest(await chat.prepare()).startsWith(before.slice(0, -"]}]}".length))).toBe(true)
})
