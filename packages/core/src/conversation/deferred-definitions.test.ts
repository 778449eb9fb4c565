/** A custom loop that defers its definitions: what Strata validates, counts and preserves. */
import { expect, test } from "vitest"
import { openCompacting } from "../../test/compacting.ts"
import { summariser } from "../../test/summariser.ts"
import type { ToolDefinition } from "../messages/request.ts"
import { engineOf } from "./conversation.ts"

const definition = (name: string, more: object = {}) =>
  ({ name, description: "About it. ".repeat(50), input_schema: { type: "object" }, ...more }) as ToolDefinition
const TOOLS = [
  definition("find"),
  definition("later", { defer_loading: true }),
  definition("never", { defer_loading: true }),
]
const USAGE = { input_tokens: 500, output_tokens: 10 }

test("TOOL-1 in a loop of your own: a deferred definition costs nothing, a reference loads it, and it stays loaded", async () => {
  const chat = await openCompacting({ summariser: summariser(), tools: TOOLS })
  await chat.add("Look. ".repeat(2_000))
  const declared = () =>
    engineOf(chat).views.context.prompt!.tools as readonly { name: string; defer_loading?: boolean }[]
  await chat.prepare()
  const { promptTokens } = engineOf(chat).views.context
  expect(promptTokens).toBeLessThan(300)
  const call = { type: "tool_use" as const, id: "toolu_1", name: "find", input: {} }
  await chat.record({ content: [call], usage: USAGE })
  const before = engineOf(chat).views.context.size().tokens
  const reference = { type: "tool_reference" as const, tool_name: "later" }
  await chat.add({ role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: [reference] }] })
  expect(engineOf(chat).views.context.size().tokens - before).toBeGreaterThan(100)
  expect((await chat.prepare()).messages.at(-1)).toMatchObject({ content: [{ content: [reference] }] })
  const long = { type: "text" as const, text: "I found it. ".repeat(10_000) }
  await chat.record({ content: [long], usage: { input_tokens: 5_000, output_tokens: 30_000 } })
  await chat.compact()
  await chat.add("Go on.")
  await chat.prepare()
  expect(declared().map(({ name, defer_loading }) => [name, defer_loading])).toEqual([
    ["find", undefined],
    ["later", undefined],
    ["never", true],
  ])
  expect(engineOf(chat).views.context.promptTokens).toBeGreaterThan(promptTokens + 100)
})

test("TOOL-1 in a loop of your own: a reference to a tool that is gone is sent as text", async () => {
  const chat = await openCompacting({ summariser: summariser(), tools: TOOLS })
  await chat.add("Look.")
  await chat.record({ content: [{ type: "tool_use", id: "toolu_1", name: "find", input: {} }], usage: USAGE })
  const reference = { type: "tool_reference" as const, tool_name: "later" }
  await chat.add({ role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: [reference] }] })
  await chat.usePrompt({ tools: TOOLS.slice(0, 1) })
  expect((await chat.prepare()).messages.at(-1)).toMatchObject({
    content: [{ content: [{ type: "text", text: "[The tool later was loaded here.]" }] }],
  })
})
