/**
 * Three snippets that a new user would write, type-checked as they are, in a directory where only the built packages are installed. The
 * server is the simulator, and the key comes from the environment. Prints the outcome as one line of JSON.
 */
import Anthropic from "@anthropic-ai/sdk"
import { AuthenticationError, codingTools, defineTool, openAgent, openConversation } from "@strata/core"
import { type ScriptedTurn, scriptedResponder, startSimulator } from "@strata/sim"
import { z } from "zod"

export interface SnippetOutcome {
  /** Tokens that each request of the custom loop read from the cache. */
  readonly cacheReads: readonly number[]
  readonly sentWhole: boolean
  readonly answer: string
  readonly cost: number | undefined
  readonly weatherInput: string | undefined
  readonly withoutKey: readonly string[]
}

const LARGE = 300_000 // characters of one tool result: more than a request should carry

/** A custom loop: breakpoints are set, and all layers act. */
async function ownLoop(): Promise<Pick<SnippetOutcome, "cacheReads" | "sentWhole">> {
  const client = new Anthropic()
  const system = "You fix tests. ".repeat(1_000) // long enough to be cached
  const tools = [{ name: "Log", description: "Shows the log.", input_schema: { type: "object" as const } }]

  await using chat = await openConversation({ model: "claude-opus-5-5", client, system, tools })
  await chat.add("Fix the failing test")
  const response = await client.messages.stream(await chat.prepare()).finalMessage()
  await chat.record(response)

  const call = response.content.find((block) => block.type === "tool_use")!
  await chat.add([{ type: "tool_result", tool_use_id: call.id, content: "x".repeat(LARGE) }])
  const request = await chat.prepare()
  const next = await client.messages.stream(request).finalMessage()
  await chat.record({ content: next.content }) // `content` is the only required field
  const cacheReads = [response, next].map(({ usage }) => usage.cache_read_input_tokens ?? 0)
  return { cacheReads, sentWhole: JSON.stringify(request).length > LARGE }
}

/** Strata's agent loop. The key comes from the environment. */
async function agentLoop(): Promise<Pick<SnippetOutcome, "answer" | "cost">> {
  await using agent = await openAgent({ model: "claude-opus-5-5", tools: codingTools() })
  let answer = ""
  for await (const event of agent.query("Fix the failing test")) if (event.type === "done") answer = event.reason
  const { text, cost } = await agent.ask("What did you do?")
  return { answer: `${answer}: ${text}`, cost }
}

async function ownTool(): Promise<string | undefined> {
  let asked: string | undefined
  const weather = defineTool({
    name: "weather",
    description: "The weather in a city.",
    inputSchema: z.object({ city: z.string() }),
    execute: async ({ city }) => {
      asked = city.toUpperCase() // compiles only if the type of `city` is inferred
      return `Sunny in ${city}`
    },
  })
  await using agent = await openAgent({ model: "claude-opus-5-5", tools: [weather], mode: "bypass" })
  await agent.ask("How is the weather in Oslo?")
  return asked
}

/** Without a key, `ask` and a plain `for await` both throw. */
async function withoutKey(): Promise<readonly string[]> {
  delete process.env.ANTHROPIC_API_KEY
  await using agent = await openAgent({ model: "claude-opus-5-5" })
  const named = (error: unknown) => (error instanceof AuthenticationError ? "AuthenticationError" : String(error))
  const asked = await agent.ask("Hello").then(() => "answered", named)
  try {
    for await (const _ of agent.query("Hello"));
    return [asked, "ended"]
  } catch (error) {
    return [asked, named(error)]
  }
}

const toolCall =
  (name: string, input: Record<string, unknown>): ScriptedTurn =>
  (turn) => ({ content: [{ type: "tool_use", id: turn.nextToolUseId(), name, input }] })

/** Runs `use` with a simulator as the server that the environment names. */
async function against<T>(script: readonly ScriptedTurn[], use: () => Promise<T>): Promise<T> {
  const simulator = await startSimulator({ responder: scriptedResponder(script) })
  process.env.ANTHROPIC_BASE_URL = simulator.url
  process.env.ANTHROPIC_API_KEY = "none"
  try {
    return await use()
  } finally {
    await simulator.close()
  }
}

async function main(): Promise<SnippetOutcome> {
  return {
    ...(await against([toolCall("Log", {}), "Done."], ownLoop)),
    ...(await against(["Done.", "I fixed it."], agentLoop)),
    weatherInput: await against([toolCall("weather", { city: "Oslo" }), "Sunny."], ownTool),
    withoutKey: await against([], withoutKey),
  }
}

main().then((outcome) => console.log(JSON.stringify(outcome)))
