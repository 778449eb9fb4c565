/** Programs for each adapter, written as users would. */
import { createAnthropic } from "@ai-sdk/anthropic"
import Anthropic from "@anthropic-ai/sdk"
import { strataMiddleware } from "@strata/adapters/ai-sdk"
import { withStrata } from "@strata/adapters/anthropic"
import { generateText, jsonSchema, type ModelMessage, stepCountIs, tool, wrapLanguageModel } from "ai"
import { MODEL, MODELS, type StartAdapter, TOOLS } from "./adapter.ts"
import type { Exchange } from "./work.ts"

const compactionsIn = (rows: readonly { readonly decisions: readonly string[] }[]): number =>
  rows
    .flatMap(({ decisions }) => decisions)
    .reduce((sum, line) => sum + Number(/^compaction: (\d+)/.exec(line)?.[1] ?? 0), 0)

const anthropic: StartAdapter = async ({ sim, dir }) => {
  const plain = new Anthropic({ baseURL: sim.url, apiKey: "none", maxRetries: 0 })
  const client = withStrata(plain, { dir, cwd: "/work", settings: { models: MODELS } })
  const messages: Anthropic.MessageParam[] = []
  const tools = TOOLS.map((name) => ({ name, input_schema: { type: "object" as const } }))
  const create = (list: Anthropic.MessageParam[]) =>
    client.messages.create({ model: MODEL, max_tokens: 1_000, system: "You work on services.", tools, messages: list })
  return {
    compactions: async () => compactionsIn(await client.strata.status()),
    async turn({ asks, result }: Exchange) {
      messages.push({ role: "user", content: asks as never })
      for (;;) {
        const { content } = await create(messages)
        messages.push({ role: "assistant", content })
        const call = content.find((block) => block.type === "tool_use")
        if (!call || !result) return
        const { content: text, isError: is_error = false } = result
        messages.push({
          role: "user",
          content: [{ type: "tool_result", tool_use_id: call.id, content: text, is_error }],
        })
      }
    },
    async ask(question) {
      const { content } = await create([...messages, { role: "user", content: question }])
      return content.map((block) => (block.type === "text" ? block.text : "")).join("")
    },
  }
}

const aiSdk: StartAdapter = async ({ sim, dir }) => {
  const middleware = strataMiddleware({ dir, cwd: "/work", settings: { models: MODELS } })
  const plain = createAnthropic({ baseURL: `${sim.url}/v1`, apiKey: "none" })(MODEL)
  const model = wrapLanguageModel({ model: plain, middleware })
  const messages: ModelMessage[] = []
  let result: Exchange["result"]
  const execute = () => {
    if (result?.isError) throw new Error(result.content)
    return result?.content
  }
  const inputSchema = jsonSchema({ type: "object" })
  const tools = Object.fromEntries(TOOLS.map((name) => [name, tool({ inputSchema, execute })]))
  const system = "You work on services."
  const generate = (list: ModelMessage[]) =>
    generateText({ model, tools, system, messages: list, stopWhen: stepCountIs(20), maxRetries: 0 })
  return {
    compactions: async () => compactionsIn(await middleware.strata.status()),
    async turn({ asks, result: answer }: Exchange) {
      result = answer
      messages.push({ role: "user", content: asks.map(asPart) as never })
      messages.push(...(await generate(messages)).responseMessages)
    },
    ask: async (question) => (await generate([...messages, { role: "user", content: question }])).text,
  }
}

function asPart(block: object): object {
  const { type, source } = block as { type: string; source?: { data: string; media_type: string } }
  return type === "image" && source ? { type: "file", mediaType: source.media_type, data: source.data } : block
}

export const ADAPTERS: Readonly<Record<string, StartAdapter>> = { anthropic, "ai-sdk": aiSdk }
