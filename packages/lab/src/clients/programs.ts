/** Small programs that use a library against the simulator. Each prints `call: …` and `structured: …`. */

const CITY = "z.object({ city: z.string(), degrees: z.number() })"
const WHERE = "const baseURL = process.env.ANTHROPIC_BASE_URL, apiKey = process.env.ANTHROPIC_API_KEY"

/** Works with every version of the SDK since tools exist. Old versions get fields they do not know as they are. */
export const SDK_PROGRAM = `import Anthropic from "@anthropic-ai/sdk"
${WHERE}
const client = new Anthropic({ baseURL, apiKey, maxRetries: 0 })
const input_schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] }
const tools = [{ name: "weather", description: "The weather of a city", input_schema }]
const messages = [{ role: "user", content: "weather in Paris" }]
const body = { model: "claude-opus-4-6", max_tokens: 1000 }
const first = await client.messages.stream({ ...body, tools, messages }).finalMessage()
const call = first.content.find(({ type }) => type === "tool_use")
messages.push({ role: "assistant", content: first.content })
messages.push({ role: "user", content: [{ type: "tool_result", tool_use_id: call.id, content: "14 degrees" }] })
const last = await client.messages.create({ ...body, tools, messages })
console.log("call:", call.input.city, last.content.map(({ text }) => text).join(""))
const schema = { type: "object", properties: { degrees: { type: "integer" } }, required: ["degrees"], additionalProperties: false }
const format = { type: "json_schema", schema }
const shaped = await client.messages.create({ ...body, messages: messages.slice(0, 1), output_config: { format } })
console.log("structured:", JSON.stringify(JSON.parse(shaped.content[0].text)))
`

export const AI_SDK_PROGRAM = `import { createAnthropic } from "@ai-sdk/anthropic"
import { generateText, Output, stepCountIs, tool } from "ai"
import { z } from "zod"
${WHERE}
const model = createAnthropic({ baseURL: baseURL + "/v1", apiKey })("claude-opus-4-6")
const weather = tool({ description: "Weather", inputSchema: z.object({ city: z.string() }), execute: ({ city }) => "14 degrees in " + city })
const called = await generateText({ model, maxRetries: 0, prompt: "weather in Paris", tools: { weather }, stopWhen: stepCountIs(3) })
console.log("call:", called.text)
const shaped = await generateText({ model, maxRetries: 0, prompt: "weather in Paris", output: Output.object({ schema: ${CITY} }) })
console.log("structured:", JSON.stringify(shaped.output))
`

export const LANGCHAIN_PROGRAM = `import { ChatAnthropic } from "@langchain/anthropic"
import { tool } from "@langchain/core/tools"
import { z } from "zod"
${WHERE}
const model = new ChatAnthropic({ model: "claude-opus-4-6", apiKey, anthropicApiUrl: baseURL, maxTokens: 1000, maxRetries: 0 })
const weather = tool(({ city }) => "14 degrees in " + city, { name: "weather", description: "Weather", schema: z.object({ city: z.string() }) })
const called = await model.bindTools([weather]).invoke("weather in Paris")
console.log("call:", JSON.stringify(called.tool_calls[0].args))
console.log("structured:", JSON.stringify(await model.withStructuredOutput(${CITY}).invoke("weather in Paris")))
`

export const MASTRA_PROGRAM = `import { createAnthropic } from "@ai-sdk/anthropic"
import { Agent } from "@mastra/core/agent"
import { createTool } from "@mastra/core/tools"
import { z } from "zod"
${WHERE}
const model = createAnthropic({ baseURL: baseURL + "/v1", apiKey })("claude-opus-4-6")
const weather = createTool({ id: "weather", description: "Weather", inputSchema: z.object({ city: z.string() }), execute: async () => ({ degrees: 14 }) })
const agent = new Agent({ id: "clerk", name: "clerk", instructions: "Be brief.", model, tools: { weather } })
console.log("call:", (await agent.generate("weather in Paris", { maxSteps: 3 })).text)
const shaped = await agent.generate("weather in Paris", { toolChoice: "none", structuredOutput: { schema: ${CITY} } })
console.log("structured:", JSON.stringify(shaped.object))
`

export const AGENT_SDK_PROGRAM = `import { query } from "@anthropic-ai/claude-agent-sdk"
const options = { model: "claude-opus-5-5", allowedTools: ["Read"], cwd: process.cwd() }
for await (const message of query({ prompt: "Read notes.txt", options })) {
  if (message.type === "result") console.log(JSON.stringify(message))
}
`
