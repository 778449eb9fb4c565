import { expect, test } from "vitest"
import { SIMULATED_MARK } from "../../../core/src/base/simulated.ts"
import type { AssistantMessage } from "../../../core/src/messages/messages.ts"
import { createEstimator } from "../../../core/src/tokens/estimate.ts"
import { outputStubs } from "./inspection.ts"

const answer = (id: string, text: string, output_tokens: number): AssistantMessage => ({
  uuid: `u-${id}-${text.length}`,
  parentUuid: null,
  timestamp: "2026-01-01T00:00:00.000Z",
  type: "assistant",
  message: {
    id,
    role: "assistant",
    model: "claude-opus-4-5",
    content: [{ type: "text", text }],
    usage: { input_tokens: 10, output_tokens },
  },
})
const LONG = "The parser reads one token at a time and keeps a stack. ".repeat(40)
const estimator = createEstimator("claude-5")

test("TOK-7 recorded output tokens far below what was written are stubs", async () => {
  const written = estimator.blocks([{ type: "text", text: LONG }])
  expect(outputStubs([answer("a", LONG, 3), answer("b", LONG, written)], estimator)).toEqual({
    responses: 1,
    recorded: 3,
    written,
  })
  expect(outputStubs([answer("a", LONG, written)], estimator)).toBeUndefined()
  expect(outputStubs([answer("a", "ok", 0)], estimator)).toBeUndefined()
})

test("TOK-7 the simulator's small counts of calls are not stubs", () => {
  const call = { type: "tool_use", id: "toolu_a", name: "read_file", input: { path: "docs/memory.md" } } as const
  const calling = (id: string, output_tokens: number): AssistantMessage => {
    const message = answer(id, "", output_tokens)
    return { ...message, message: { ...message.message, content: [call] } }
  }
  expect(outputStubs([calling("msg_01real", 10)], estimator)).toMatchObject({ responses: 1, recorded: 10 })
  expect(outputStubs([calling(`msg_01${SIMULATED_MARK}1`, 10)], estimator)).toBeUndefined()
})

test("TOK-7 the pieces of one response count together", async () => {
  const written = estimator.blocks([{ type: "text", text: LONG }])
  expect(outputStubs([answer("a", LONG, 3), answer("a", "Done.", written)], estimator)).toBeUndefined()
})
