/** The clients that are tried: their packages, their steps, and the output that shows success. */

import { join } from "node:path"
import { claudeCodeScenario, opencodeScenario, piScenario } from "./scenarios.ts"
import type { Step, StepContext } from "./step.ts"

// Small programs that use a library against the simulator. Each prints `call: …` and `structured: …`.

const CITY = "z.object({ city: z.string(), degrees: z.number() })"
const WHERE = "const baseURL = process.env.ANTHROPIC_BASE_URL, apiKey = process.env.ANTHROPIC_API_KEY"

/** Works with every SDK version that has tools. Old versions pass unknown fields through. */
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

export interface Client {
  readonly name: string
  /** Package specifiers for npm. The first package's version is in the table. */
  readonly packages: readonly string[]
  /** Installed instead if the newest version cannot be, for example because a registry lacks one of its dependencies. */
  readonly otherwise?: readonly string[]
  readonly steps: readonly Step[]
  /** Files to write before the first step, by path. */
  readonly files?: (context: StepContext) => Readonly<Record<string, string>>
  readonly env?: Readonly<Record<string, string>>
  /** Whether the client writes transcripts that `strata inspect` reads. */
  readonly transcripts?: boolean
}

/**
 * The newest version, then one of each generation with different betas. Each gets a model whose price it knows, and compacts at `percent`
 * of its window.
 */
const CLAUDE_CODE: readonly { readonly version: string; readonly model: string; readonly percent: number }[] = [
  { version: "latest", model: "claude-opus-5-5", percent: 50 },
  { version: "2.1.300", model: "claude-opus-5", percent: 50 },
  { version: "2.1.200", model: "claude-opus-4-6", percent: 50 },
  { version: "2.1.150", model: "claude-opus-4-6", percent: 50 },
  { version: "2.1.100", model: "claude-opus-4-6", percent: 50 },
  { version: "2.1.50", model: "claude-opus-4-6", percent: 20 },
  { version: "2.0.77", model: "claude-opus-4-5", percent: 20 },
]
/** The newest version, about one of each quarter, and the first version with tools outside beta. */
const SDKS = ["latest", "1.0.0", "0.137.0", "0.110.0", "0.90.0", "0.70.1", "0.50.4", "0.27.3"]

const bin = ({ installed }: StepContext, name: string) => join(installed, "node_modules", ".bin", name)

const claudeCode = ({ version, model, percent }: (typeof CLAUDE_CODE)[number]): Client => ({
  name: "Claude Code",
  packages: [`@anthropic-ai/claude-code@${version}`],
  steps: claudeCodeScenario((context) => bin(context, "claude"), model, percent),
  env: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", DISABLE_AUTOUPDATER: "1" },
  transcripts: true,
})

const program = (source: string, more: Pick<Step, "what" | "expected" | "bill">): Step => ({
  files: ({ installed }) => ({ [join(installed, "program.js")]: source }),
  command: ({ installed }) => [process.execPath, join(installed, "program.js")],
  ...more,
})
const CALL_AND_OUTPUT = {
  what: "a tool call and a structured output",
  expected: /^call: .*(?:Paris|14)[\s\S]*^structured: \{.*"degrees":\d+/m,
}

const library = (name: string, packages: readonly string[], source: string): Client => ({
  name,
  packages,
  steps: [program(source, CALL_AND_OUTPUT)],
})

export const CLIENTS: readonly Client[] = [
  ...CLAUDE_CODE.map(claudeCode),
  {
    name: "Agent SDK",
    packages: ["@anthropic-ai/claude-agent-sdk"],
    steps: [
      program(AGENT_SDK_PROGRAM, {
        what: "a tool call",
        expected: /the answer is 42/,
        bill: ({ stdout }) => Number(/"total_cost_usd":([\d.e-]+)/.exec(stdout)?.[1]),
      }),
    ],
    transcripts: true,
  },
  {
    name: "pi",
    packages: ["@earendil-works/pi-coding-agent"],
    otherwise: ["@earendil-works/pi-coding-agent@0.87.1"],
    steps: piScenario((context) => bin(context, "pi")),
    files: ({ home, url }) => ({
      [join(home, ".pi/agent/models.json")]: JSON.stringify({ providers: { anthropic: { baseUrl: url } } }),
    }),
    env: { PI_OFFLINE: "1" },
  },
  {
    name: "opencode",
    packages: ["opencode-ai"],
    otherwise: ["opencode-ai@1.18.18"],
    steps: opencodeScenario((context) => bin(context, "opencode")),
  },
  ...SDKS.map((version) => library("Anthropic SDK", [`@anthropic-ai/sdk@${version}`, "zod"], SDK_PROGRAM)),
  library("AI SDK", ["ai", "@ai-sdk/anthropic", "zod"], AI_SDK_PROGRAM),
  library("LangChain", ["@langchain/anthropic", "@langchain/core", "zod"], LANGCHAIN_PROGRAM),
  library("Mastra", ["@mastra/core", "@ai-sdk/anthropic", "zod"], MASTRA_PROGRAM),
]
