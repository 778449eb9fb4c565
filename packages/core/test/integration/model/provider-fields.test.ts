/** A conversation that came through an adapter can continue with Claude's own API, which does not know the adapter's fields. */
import { expect, test } from "vitest"
import { KEY, MODEL, scripted, simulator } from "../../../../sim/test/simulator.ts"
import type { ModelRequest } from "../../../src/messages/request.ts"
import { anthropicModel } from "../../../src/model/anthropic/anthropic.ts"
import { ask, noWaiting, play } from "./model.ts"

const door = { part: { providerOptions: { google: { thoughtSignature: "s" } } } }

test("BEY-8 an adapter's fields on blocks are not sent, and the request stays as it was", async () => {
  const sim = await simulator({ responder: scripted("Fine.") })
  const model = anthropicModel({ model: MODEL, apiKey: KEY, baseURL: sim.url, ...noWaiting().options })
  const request = ask({
    system: [{ type: "text", text: "Be kind.", door }],
    tools: [{ name: "Read", input_schema: { type: "object" } }],
    messages: [
      { role: "user", content: [{ type: "text", text: "Look.", door }] },
      { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "Read", input: {}, door }] },
      {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: "toolu_1", content: [{ type: "text", text: "42", door }], door }],
      },
    ],
  } as unknown as Partial<ModelRequest>)
  const before = structuredClone(request)
  const { error, text } = await play(model, request)
  expect(error).toBeUndefined()
  expect(text).toBe("Fine.")
  expect(await model.count!(request)).toBeGreaterThan(0)
  expect(request).toEqual(before)
  expect(sim.stats().errors).toEqual({})
})
