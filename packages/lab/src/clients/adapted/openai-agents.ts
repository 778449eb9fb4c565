/** The OpenAI Agents SDK with a model of the AI SDK. */
import type { Framework } from "./framework.ts"
import { listedCases } from "./listed.ts"

const IMPORTS = `import { createAnthropic } from "@ai-sdk/anthropic"
import { Agent, Runner, tool } from "@openai/agents"
import { aisdk } from "@openai/agents-extensions/ai-sdk"
import { wrapLanguageModel } from "ai"
import { z } from "zod"
`

const FRAMEWORK = `const { strataMiddleware } = usesStrata ? await import("@strata/adapters/ai-sdk") : {}
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
const THINKING = {} // it has no option for it
const SHAPED = { outputType: z.object({ seen: z.string() }) }
const runner = new Runner({ tracingDisabled: true })
/** An error shows the request as it was sent, with the tools in it. */
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
  cases: listedCases({ imports: IMPORTS, framework: FRAMEWORK }),
}
