/** The frameworks that are tried, each with its packages and programs. */
import { ANTHROPIC_SDK } from "./anthropic-sdk.ts"
import type { Framework } from "./framework.ts"
import { LANGCHAIN } from "./langchain.ts"
import { listedCases } from "./listed.ts"
import { MASTRA } from "./mastra.ts"

// Agents of the Vercel AI SDK, in the newest release of each major version.

const IMPORTS = `import { createAnthropic } from "@ai-sdk/anthropic"
import { Output, stepCountIs, ToolLoopAgent, tool, wrapLanguageModel } from "ai"
import { z } from "zod"
`

/** The provider of version 6 is older than the `citations` field and refuses an empty one. */
const WITHOUT_CITATIONS = `const fetched = async (url, init) => {
  const answer = await fetch(url, init)
  if (!answer.headers.get("content-type")?.includes("json")) return answer
  return new Response((await answer.text()).replaceAll(',"citations":null', ""), { status: answer.status })
}
`

const FRAMEWORK = `const { strataMiddleware } = usesStrata ? await import("@strata/adapters/ai-sdk") : {}
const anthropic = createAnthropic({ baseURL: baseURL + "/v1", apiKey: "sk-simulator", fetch: fetched })(model)
const wrapped = usesStrata ? wrapLanguageModel({ model: anthropic, middleware: strataMiddleware(options) }) : anthropic
const readPart = tool({
  description: "Reads a part of the project",
  inputSchema: z.object({ part: z.number() }),
  execute: ({ part }) => partText(part),
})
const THINKING = { providerOptions: { anthropic: { thinking: { type: "enabled", budgetTokens: 1024 } } } }
const BREAKPOINT = { providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } } }
const SHAPED = { output: Output.object({ schema: z.object({ seen: z.string() }) }) }
const agentOf = (name, more = {}) => {
  const instructions = "[agent " + name + "] You read parts."
  const settings = { stopWhen: stepCountIs(50), maxRetries: 0, maxOutputTokens: 2000, ...more }
  return { name, agent: new ToolLoopAgent({ model: wrapped, instructions, tools: { read_part: readPart }, ...settings }), more }
}
/** Removes the sent request, which the SDK includes together with its tools. */
const withoutSent = (key, value) => (["request", "requestBodyValues"].includes(key) ? undefined : value)
async function ask({ agent, more }, messages, { stream, signal: abortSignal, onResult }) {
  const result = await agent[stream ? "stream" : "generate"]({ messages, abortSignal })
  let hasResult = false
  if (stream)
    for await (const part of result.fullStream) {
      if (part.type === "error") throw part.error
      check("the stream", JSON.stringify(part, withoutSent))
      hasResult ||= part.type === "tool-result"
      if (hasResult && part.type === "text-delta") onResult?.()
    }
  // version 6 has all messages under the name that version 7 uses for those of the last step
  const added = (await result.responseMessages) ?? (await result.response).messages
  return { list: [...messages, ...added], answer: await (more.output ? result.output : result.text) }
}
`

const version = (ai: number, provider: number, fetched = "const fetched = fetch\n"): Framework => ({
  name: "AI SDK",
  packages: [`ai@${ai}`, `@ai-sdk/anthropic@${provider}`, "zod"],
  shown: ["ai", "@ai-sdk/anthropic"],
  cases: listedCases({ imports: IMPORTS, framework: fetched + FRAMEWORK, breakpoints: "BREAKPOINT" }),
})

export const AI_SDK: readonly Framework[] = [version(7, 4), version(6, 3, WITHOUT_CITATIONS)]

// The OpenAI Agents SDK with a model of the AI SDK.

const IMPORTS_OPENAI_AGENTS = `import { createAnthropic } from "@ai-sdk/anthropic"
import { Agent, Runner, tool } from "@openai/agents"
import { aisdk } from "@openai/agents-extensions/ai-sdk"
import { wrapLanguageModel } from "ai"
import { z } from "zod"
`

const FRAMEWORK_OPENAI_AGENTS = `const { strataMiddleware } = usesStrata ? await import("@strata/adapters/ai-sdk") : {}
const anthropic = createAnthropic({ baseURL: baseURL + "/v1", apiKey: "sk-simulator" })(model)
const readPart = tool({
  name: "read_part",
  description: "Reads a part of the project",
  parameters: z.object({ part: z.number() }),
  execute: ({ part }) => partText(part),
})
const modelOf = (conversation) =>
  aisdk(usesStrata ? wrapLanguageModel({ model: anthropic, middleware: strataMiddleware({ ...options, conversation }) }) : anthropic)
const agentOf = (name, more = {}) =>
  new Agent({ name, instructions: "[agent " + name + "] You read parts.", model: modelOf(name), tools: [readPart], ...more })
const THINKING = {} // no option for thinking
const SHAPED = { outputType: z.object({ seen: z.string() }) }
const runner = new Runner({ tracingDisabled: true })
/** Removes the sent request, which an error includes together with its tools. */
const withoutSent = (key, value) => (key === "requestBodyValues" ? undefined : value)
async function ask(agent, list, { stream, signal, onResult }) {
  const result = await runner.run(agent, list, { stream, maxTurns: 50, ...(signal ? { signal } : {}) })
  if (stream) {
    for await (const { name, data, item } of result) {
      check("the stream", JSON.stringify(data ?? item ?? {}, withoutSent))
      if (name === "tool_output") onResult?.()
    }
    if (!signal?.aborted) await result.completed
  }
  return { list: result.history, answer: result.finalOutput }
}
`

export const OPENAI_AGENTS: Framework = {
  name: "OpenAI Agents SDK",
  packages: ["@openai/agents@0.18.0", "@openai/agents-extensions@0.18.0", "ai", "@ai-sdk/anthropic", "zod"],
  shown: ["@openai/agents", "@openai/agents-extensions", "ai", "@ai-sdk/anthropic"],
  cases: listedCases({ imports: IMPORTS_OPENAI_AGENTS, framework: FRAMEWORK_OPENAI_AGENTS }),
}

export const FRAMEWORKS: readonly Framework[] = [...ANTHROPIC_SDK, ...AI_SDK, LANGCHAIN, MASTRA, OPENAI_AGENTS]
