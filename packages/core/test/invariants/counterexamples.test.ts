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
