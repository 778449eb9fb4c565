/**
 * Runs every adapter and the proxy on one kind of store, in a directory where only the built packages are installed. Each has a
 * conversation of two turns, which must then be in the store. `node adapters-on-stores.ts files|memory|postgres [OWNER]`; `STRATA_STORE` is
 * the address of a store other than files. Prints the names of stored conversations as one line of JSON. A request that was sent unchanged
 * is a failure.
 */
import { createAnthropic } from "@ai-sdk/anthropic"
import Anthropic from "@anthropic-ai/sdk"
import { type BaseMessage, HumanMessage } from "@langchain/core/messages"
import { FakeListChatModel } from "@langchain/core/utils/testing"
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph"
import { strataMiddleware } from "@strata/adapters/ai-sdk"
import { closeStrata, strataStatus, withStrata } from "@strata/adapters/anthropic"
import { strataMiddleware as langchainMiddleware } from "@strata/adapters/langchain"
import { strataProcessor } from "@strata/adapters/mastra"
import { Conversations, newSecret, startProxy } from "@strata/adapters/proxy"
import { listConversations } from "@strata/core"
import { registerStore } from "@strata/core/store"
import { namedPostgresStore } from "@strata/postgres"
import { sessionStore } from "@strata/sessions/claude-agent-sdk"
import { strataSaver } from "@strata/sessions/langgraph"
import { strataSession } from "@strata/sessions/openai-agents"
import { helpfulResponder, startSimulator } from "@strata/sim"
import { generateText, type ModelMessage, wrapLanguageModel } from "ai"

const MODEL = "claude-opus-5-5"
const TURNS = ["Hello there", "And again"]

const [, , kind = "files", owner] = process.argv
const whose = owner === undefined ? {} : { owner }
const failures: string[] = []
const options = { ...whose, log: (line: string) => void failures.push(line) }

/** Sends two turns as a client that resends its full message list. */
async function talk(client: Anthropic): Promise<void> {
  const messages: Anthropic.MessageParam[] = []
  for (const content of TURNS) {
    messages.push({ role: "user", content })
    const answer = await client.messages.create({ model: MODEL, max_tokens: 100, messages })
    messages.push({ role: "assistant", content: answer.content })
  }
}

async function aiSdk(url: string): Promise<void> {
  const anthropic = createAnthropic({ baseURL: `${url}/v1`, apiKey: "none" })
  const model = wrapLanguageModel({ model: anthropic(MODEL), middleware: strataMiddleware(options) })
  const messages: ModelMessage[] = []
  for (const content of TURNS) {
    messages.push({ role: "user", content })
    const { text } = await generateText({ model, messages })
    messages.push({ role: "assistant", content: text })
  }
}

/** A chat model of LangChain that answers from a list. */
class ListedAnswers extends FakeListChatModel {
  override bindTools(_tools: readonly unknown[]) {
    return this.withConfig({})
  }
}

async function langchain(): Promise<void> {
  const middleware = langchainMiddleware({ ...options, conversation: "langchain" })
  const model = new ListedAnswers({ responses: ["Hello.", "Again."] })
  const messages: BaseMessage[] = []
  for (const content of TURNS) {
    messages.push(new HumanMessage(content))
    const call = (request: { model: unknown }) =>
      (request.model as ListedAnswers).bindTools([]).invoke(messages, { configurable: { thread_id: "langchain" } })
    messages.push(await middleware.wrapModelCall({ model }, call))
  }
}

/** Calls the processor as Mastra's loop does before each step. */
async function mastra(url: string): Promise<void> {
  const model = createAnthropic({ baseURL: `${url}/v1`, apiKey: "none" })(MODEL)
  const step = { model, messages: [{ threadId: "mastra" }] }
  const { model: wrapped } = strataProcessor(options).processInputStep(step as never)
  const prompt = TURNS.slice(0, 1).map((text) => ({ role: "user", content: [{ type: "text", text }] }))
  await (wrapped as { doGenerate(call: object): PromiseLike<unknown> }).doGenerate({ prompt })
}

async function langgraph(): Promise<void> {
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("answer", () => ({ messages: [{ role: "assistant", content: "Hello!" }] }))
    .addEdge(START, "answer")
    .compile({ checkpointer: strataSaver(whose) })
  const thread = { configurable: { thread_id: "langgraph" } }
  for (const content of TURNS) await graph.invoke({ messages: [{ role: "user", content }] }, thread)
  const { values } = await graph.getState(thread)
  expect((values as { messages: unknown[] }).messages.length === 2 * TURNS.length, "LangGraph lost messages.")
}

async function openaiAgents(): Promise<void> {
  const open = () => strataSession({ sessionId: "openai-agents", ...whose })
  for (const content of TURNS) await open().addItems([{ role: "user", content }])
  expect((await open().getItems()).length === TURNS.length, "A session of the OpenAI Agents SDK lost items.")
}

async function claudeAgentSdk(): Promise<void> {
  const key = { projectKey: "project", sessionId: "9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d" }
  const open = () => sessionStore({ project: "claude-agent-sdk", ...whose })
  for (const content of TURNS)
    await open().append(key, [{ type: "user", uuid: crypto.randomUUID(), message: { role: "user", content } }] as never)
  expect((await open().load(key))?.length === TURNS.length, "A session of the Claude Agent SDK lost lines.")
}

async function proxy(upstream: string): Promise<void> {
  const plans = new Conversations({ upstream, cwd: process.cwd(), env: process.env, ...options })
  const running = await startProxy({ upstream, plans, secret: newSecret() })
  try {
    await talk(new Anthropic({ baseURL: running.url, apiKey: "none" }))
    const rows = await plans.status()
    expect(rows.length === 1 && rows[0]!.requests === 2 && !rows[0]!.passedThrough, "The proxy managed nothing.")
  } finally {
    await running.close()
    await plans.close()
  }
}

function expect(holds: boolean, problem: string): void {
  if (!holds) failures.push(problem)
}

/** Runs an agent's conversation and returns a row for each conversation that the adapters of this process managed. */
async function main(): Promise<readonly string[]> {
  if (kind === "postgres") registerStore("postgres", (address, given) => namedPostgresStore(address, given))
  const simulator = await startSimulator({ responder: helpfulResponder() })
  try {
    await talk(withStrata(new Anthropic({ baseURL: simulator.url, apiKey: "none" }), options))
    await aiSdk(simulator.url)
    await langchain()
    await mastra(simulator.url)
    const rows = await strataStatus()
    expect(rows.length === 4, `4 adapters have managed ${rows.length} conversations.`)
    for (const row of rows) expect(!row.passedThrough, `${row.client}: ${row.passedThrough?.reason}`)
    await closeStrata()
    await proxy(simulator.url)
    await langgraph()
    await openaiAgents()
    await claudeAgentSdk()
    const stored = await listConversations(whose)
    expect(stored.length >= 5, `The store has ${stored.length} of 5 conversations.`)
    return stored.map(({ title, id }) => title ?? id)
  } finally {
    await simulator.close()
  }
}

const stored = await main()
if (failures.length > 0) throw new Error(`${kind}, ${owner ?? "no owner"}: ${failures.join("\n")}`)
console.log(JSON.stringify(stored))
process.exit() // pools of a store may still be open
