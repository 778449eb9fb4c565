/** Agents of the Vercel AI SDK, in the newest of each major version. */
import type { Framework } from "./framework.ts"
import { listedCases } from "./listed.ts"

const IMPORTS = `import { createAnthropic } from "@ai-sdk/anthropic"
import { Output, stepCountIs, ToolLoopAgent, tool, wrapLanguageModel } from "ai"
import { z } from "zod"
`

/** The provider of version 6 is older than the field, and refuses it where it is empty. */
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
const MARKS = { providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } } }
const SHAPED = { output: Output.object({ schema: z.object({ seen: z.string() }) }) }
const agentOf = (name, more = {}) => {
  const instructions = "[agent " + name + "] You read parts."
  const settings = { stopWhen: stepCountIs(50), maxRetries: 0, maxOutputTokens: 2000, ...more }
  return { name, agent: new ToolLoopAgent({ model: wrapped, instructions, tools: { read_part: readPart }, ...settings }), more }
}
/** The SDK shows the request as it was sent, with the tools in it. */
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
  // version 6 has all messages under the name of the last step's in version 7
  const added = (await result.responseMessages) ?? (await result.response).messages
  return { list: [...messages, ...added], answer: await (more.output ? result.output : result.text) }
}
`

const version = (ai: number, provider: number, fetched = "const fetched = fetch\n"): Framework => ({
  name: "AI SDK",
  packages: [`ai@${ai}`, `@ai-sdk/anthropic@${provider}`, "zod"],
  shown: ["ai", "@ai-sdk/anthropic"],
  cases: listedCases({ imports: IMPORTS, framework: fetched + FRAMEWORK, marks: "MARKS" }),
})

export const AI_SDK: readonly Framework[] = [version(7, 4), version(6, 3, WITHOUT_CITATIONS)]
