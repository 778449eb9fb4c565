/** `npm run typecheck` verifies that adapters have the types of the objects they wrap; here they are called once. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createAnthropic } from "@ai-sdk/anthropic"
import Anthropic from "@anthropic-ai/sdk"
import { frozenClock, type Responder, startSimulator } from "@strata/sim"
import * as ai7 from "ai"
import * as ai6 from "ai-6"
import { createAnthropic as createAnthropic3 } from "ai-sdk-anthropic-3"
import { expect, expectTypeOf, onTestFinished, test } from "vitest"
import { strataMiddleware } from "../src/ai-sdk.ts"
import { closeStrata, type StrataStatus, withStrata } from "../src/anthropic.ts"

const MODEL = "claude-opus-5-5"
const greeter: Responder = { name: "greeter", answer: () => ({ content: [{ type: "text", text: "Hello" }] }) }

async function place() {
  const sim = await startSimulator({ responder: greeter, clock: frozenClock() })
  const dir = mkdtempSync(join(tmpdir(), "strata-types-"))
  onTestFinished(async () => {
    await closeStrata()
    await sim.close()
    rmSync(dir, { recursive: true, force: true })
  })
  return { url: sim.url, dir }
}

test("BEY-11 a client with Strata has the types of its SDK, with the overloads of create", async () => {
  const { url: baseURL, dir } = await place()
  const client = withStrata(new Anthropic({ baseURL, apiKey: "sk-sim" }), { dir })
  expectTypeOf(client).toExtend<Anthropic>()
  expectTypeOf(client.messages.create).toEqualTypeOf<Anthropic["messages"]["create"]>()
  expectTypeOf(client.withOptions({})).toExtend<Anthropic & { readonly strata: StrataStatus }>()
  const body: Anthropic.MessageCreateParamsNonStreaming = {
    ...{ model: MODEL, max_tokens: 100 },
    messages: [{ role: "user", content: "Hello" }],
  }
  const whole = client.messages.create(body)
  expectTypeOf(whole).resolves.toExtend<Anthropic.Message>()
  const events = client.messages.create({ ...body, stream: true })
  expectTypeOf(await events).toExtend<AsyncIterable<Anthropic.RawMessageStreamEvent>>()
  const kinds: string[] = []
  for await (const { type } of await events) kinds.push(type)
  expect([(await whole).type, kinds[0], kinds.at(-1)]).toEqual(["message", "message_start", "message_stop"])
})

test("BEY-11 the middleware is one of the AI SDK 6 and 7, without a cast", async () => {
  const { url, dir } = await place()
  const server = { baseURL: `${url}/v1`, apiKey: "sk-sim" }
  const middleware = strataMiddleware({ dir })
  const seventh = ai7.wrapLanguageModel({ model: createAnthropic(server)(MODEL), middleware })
  const sixth = ai6.wrapLanguageModel({ model: createAnthropic3(server)(MODEL), middleware: [middleware] })
  expectTypeOf(seventh).toExtend<ai7.LanguageModel>()
  expectTypeOf(sixth).toExtend<ai6.LanguageModel>()
  const texts = [
    await ai7.streamText({ model: seventh, prompt: "Hello" }).text,
    await ai6.streamText({ model: sixth, prompt: "Hello" }).text,
  ]
  expect(texts).toEqual(["Hello", "Hello"])
})
