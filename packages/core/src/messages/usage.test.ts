import { expect, test } from "vitest"
import { openTestConversation } from "../../test/open.ts"
import { engineOf } from "../conversation/conversation.ts"
import { summarise } from "../views/ledger/ledger.ts"
import { usableUsage } from "./messages.ts"

const counts = { input_tokens: 10, output_tokens: 5 }
const pass = { type: "message", ...counts }

test("TOK-7 usage that counts is passed on as it is; passes that do not count are left out", () => {
  const whole = { ...counts, cache_read_input_tokens: null, cache_creation: null, iterations: [pass] }
  expect(usableUsage(whole)).toBe(whole)
  expect(usableUsage({ ...counts, iterations: [pass, { type: "message" }] })).toEqual(counts)
})

test.each([
  undefined,
  {},
  { input_tokens: null, output_tokens: 5 },
  { input_tokens: "10", output_tokens: 5 },
  { ...counts, cache_read_input_tokens: -1 },
  { ...counts, cache_creation: { ephemeral_1h_input_tokens: Number.NaN } },
])("TOK-1, TOK-7 unusable usage (%j) leaves size and money as if there were none", async (usage) => {
  expect(usableUsage(usage)).toBeUndefined()
  const chat = await openTestConversation()
  await chat.add({ role: "user", content: "word ".repeat(1_000) })
  const content = [{ type: "text", text: "so" }]
  const response = { id: "msg_1", model: "claude-opus-4-6", content, stop_reason: "end_turn" }
  await chat.record({ ...response, usage } as unknown as Parameters<typeof chat.record>[0])
  expect(engineOf(chat).views.context.size().tokens).toBeGreaterThan(900)
  expect(summarise(engineOf(chat).views.ledger)).toMatchObject({ requests: 0, dollars: 0 })
})
