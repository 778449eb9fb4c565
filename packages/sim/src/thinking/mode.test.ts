/** Which models think by default, and whether their answers show it. */
import { expect, test } from "vitest"
import { hello, postJson, scripted, simulator } from "../../test/simulator.ts"

const THOUGHT = "First the port, then the host."

async function thinkingOf(model: string, thinking?: object): Promise<string | undefined> {
  const sim = await simulator({
    responder: scripted([
      { type: "thinking", thinking: THOUGHT },
      { type: "text", text: "Done." },
    ]),
  })
  const body = hello({ model, max_tokens: 4_000, ...(thinking ? { thinking } : {}) })
  const [first] = (await postJson(sim, body)).content
  if (first.type !== "thinking") return undefined
  expect(first.signature).not.toBe("")
  return first.thinking
}

test.each<[string, string | undefined]>([
  ["claude-opus-5-5", ""],
  ["claude-fable-5", ""],
  ["claude-sonnet-5", ""],
  ["claude-haiku-5-5", ""],
  ["claude-opus-4-8", undefined],
  ["claude-opus-4-6", undefined],
])("BEY-8 without a parameter, %s answers with the thinking %j", async (model, shown) => {
  expect(await thinkingOf(model)).toBe(shown)
})

test.each<[string, object, string]>([
  ["claude-opus-5-5", { type: "adaptive" }, ""],
  ["claude-opus-5-5", { type: "adaptive", display: null }, ""],
  ["claude-opus-5-5", { type: "adaptive", display: "summarized" }, THOUGHT],
  ["claude-opus-4-7", { type: "adaptive" }, ""],
  ["claude-opus-4-7", { type: "adaptive", display: "summarized" }, THOUGHT],
  ["claude-opus-4-6", { type: "adaptive" }, THOUGHT],
  ["claude-opus-4-6", { type: "adaptive", display: "omitted" }, ""],
  ["claude-sonnet-4-5", { type: "enabled", budget_tokens: 1_024 }, THOUGHT],
])("BEY-8 %s with %j shows the thinking %j", async (model, thinking, shown) => {
  expect(await thinkingOf(model, thinking)).toBe(shown)
})
