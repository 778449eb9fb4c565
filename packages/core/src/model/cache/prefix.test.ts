import fc from "fast-check"
import { expect, test } from "vitest"
import type { Block } from "../../messages/blocks.ts"
import type { ModelRequest } from "../../messages/request.ts"
import { buildPrefix, type PromptPrefix } from "./prefix.ts"

type Message = ModelRequest["messages"][number]

const IMAGE: Block = { type: "image", source: { type: "base64", media_type: "image/png", data: "aGk=" } }
const block: fc.Arbitrary<Block> = fc.oneof(
  fc.constantFrom("a", "b").map((text): Block => ({ type: "text", text })),
  fc.constant<Block>({ type: "thinking", thinking: "hm", signature: "s" }),
  fc.constant<Block>({ type: "tool_result", tool_use_id: "t", content: "out" }),
  { weight: 1, arbitrary: fc.constant(IMAGE) },
)
const message: fc.Arbitrary<Message> = fc.record({
  role: fc.constantFrom("user" as const, "assistant" as const),
  content: fc.array(block, { minLength: 1, maxLength: 3 }) as fc.Arbitrary<never>,
})

/** Changes between two requests, of which each may remain without a response. */
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ add: fc.array(message, { minLength: 1, maxLength: 3 }) }) },
  { weight: 2, arbitrary: fc.record({ cutTo: fc.nat(20) }) },
  { weight: 2, arbitrary: fc.record({ replace: fc.nat(20), by: message }) },
  { weight: 1, arbitrary: fc.record({ system: fc.constantFrom("one", "two") }) },
  { weight: 1, arbitrary: fc.record({ model: fc.constantFrom("m", "n") }) },
  { weight: 1, arbitrary: fc.constant({ again: true }) },
)

function taken(request: ModelRequest, given: typeof step extends fc.Arbitrary<infer S> ? S : never): ModelRequest {
  const { messages } = request
  if ("add" in given) return { ...request, messages: [...messages, ...given.add] }
  if ("cutTo" in given) return { ...request, messages: messages.slice(0, 1 + (given.cutTo % messages.length)) }
  if ("replace" in given) return { ...request, messages: messages.with(given.replace % messages.length, given.by) }
  if ("system" in given) return { ...request, system: given.system }
  return "model" in given ? { ...request, model: given.model } : request
}

test("CACHE-7 property: a prefix that takes over the lists of the one before is the one made from nothing", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 15 }), fc.boolean(), (steps, forgetsThinking) => {
      let request: ModelRequest = {
        model: "m",
        max_tokens: 1,
        system: "one",
        tools: [{ name: "Read", input_schema: { type: "object" } }],
        messages: [{ role: "user", content: [{ type: "text", text: "go" }] }],
      }
      let before: PromptPrefix | undefined
      for (const each of steps) {
        request = taken(request, each)
        before = buildPrefix(request, { before, forgetsThinking })
        expect(before).toEqual(buildPrefix(request, { forgetsThinking }))
      }
    }),
    { numRuns: 300 },
  )
})
