/** Conversations that once broke an invariant. Every run tries them again. */
import { expect, test } from "vitest"
import { serialiseRequest } from "../../src/views/context/request.ts"
import { openCompacting } from "../compacting.ts"
import { openTestConversation } from "../open.ts"
import { SUMMARISER, summariser } from "../summariser.ts"

// found by fuzzing: omitting trailing thinking flattened everything again, with a synthetic answer included from the start
test("invariant 2: what was flattened before a synthetic answer stays the same when the view is rebuilt", async () => {
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

// found by fuzzing: without the thinking after it, a server's call looked as if the server had been interrupted
test("invariant 2: a server call that was left out together with the thinking after it does not come back", async () => {
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

// found by fuzzing: the summary was measured as bare text, not as a block, so that a compaction could shrink by slightly less than a tenth
test("invariant 5: the size that a compaction states is the size of the view after it", async () => {
  const chat = await openCompacting({ window: 32_000, summariser: summariser({ window: 32_000 }) })
  const behind: number[] = []
  chat.on("layerActed", ({ layer, tokensAfter }) => {
    if (layer === "compaction") behind.push(tokensAfter)
  })
  await chat.add({ role: "user", content: "Never touch the tests." })
  await chat.record({
    id: "one",
    model: SUMMARISER,
    content: [{ type: "text", text: "So it is done. ".repeat(900) }],
    stop_reason: "end_turn",
    usage: { input_tokens: 9_000, output_tokens: 3_600 },
  })
  await chat.compact()
  const stated: number[] = []
  for await (const entry of chat.entries())
    if (entry.type === "strata" && entry.subtype === "compacted") stated.push(entry.tokensAfter)
  expect(stated).toHaveLength(1)
  expect(behind).toEqual(stated)
})

// reloaded views counted their revisions from the start, so the validator took their messages for those it had checked
test("invariant 1, BEY-13: after two clearings, a fold and its undo the next request is prepared", async () => {
  const chat = await openTestConversation()
  const questions: string[] = []
  for (let n = 0; n < 5; n++) {
    questions.push(await chat.add(`Question ${n}: ${"words ".repeat(50)}`))
    await chat.record({ id: `call${n}`, content: [{ type: "tool_use", id: `t${n}`, name: "Read", input: {} }] })
    await chat.add([{ type: "tool_result", tool_use_id: `t${n}`, content: "code ".repeat(300) }])
    await chat.record({ id: `answer${n}`, content: [{ type: "text", text: "Done." }] })
  }
  await chat.add("And now?")
  await chat.prepare()
  await chat.clearResults({ downTo: chat.windowUsage().used - 1 })
  const before = serialiseRequest(await chat.prepare())
  await chat.clearResults({ downTo: chat.windowUsage().used })
  await chat.fold({ from: questions[0]!, to: questions[1]! })
  await chat.prepare()
  await chat.undo()
  expect(serialiseRequest(await chat.prepare())).toBe(before)
})
