/** LangChain 1 and deepagents. Their declared version ranges conflict, so npm gets a flag. */
import { type Framework, PROGRAM_START, RESTARTED } from "./framework.ts"

const START = `import { readFileSync, writeFileSync } from "node:fs"
import { ChatAnthropic } from "@langchain/anthropic"
import { mapChatMessagesToStoredMessages, mapStoredMessagesToChatMessages } from "@langchain/core/messages"
import { MemorySaver } from "@langchain/langgraph"
import { createAgent, tool, toolStrategy } from "langchain"
import { createDeepAgent } from "deepagents"
import { z } from "zod"
${PROGRAM_START}
const { strataMiddleware } = usesStrata ? await import("@strata/adapters/langchain") : {}
const middleware = usesStrata ? [strataMiddleware(options)] : []
const claude = { model, apiKey: "sk-simulator", anthropicApiUrl: baseURL, maxTokens: 2000, maxRetries: 0 }
const chat = new ChatAnthropic(claude)
const thinking = new ChatAnthropic({ ...claude, thinking: { type: "enabled", budget_tokens: 1024 } })
const readPart = tool(({ part }) => partText(part), {
  name: "read_part",
  description: "Reads a part of the project",
  schema: z.object({ part: z.number() }),
})
const thread = (id) => ({ configurable: { thread_id: id }, recursionLimit: 200 })
const userMessage = (words) => ({ messages: [{ role: "user", content: words }] })
const lastText = ({ messages }) => messages.at(-1).text
`

/** Six tasks of ten parts fill three windows. After the third task the program ends, and another process continues from the saved state. */
const LONG = (make: string, ask: string) => `${START}
const agent = ${make}
${ask}
const [, , process_] = process.argv
const config = thread("long")
let earlier = process_ === "2" ? mapStoredMessagesToChatMessages(JSON.parse(readFileSync("state.json", "utf8"))) : []
for (const at of process_ === "2" ? [4, 5, 6] : [1, 2, 3]) {
  const words = (at === 1 ? FACT : "") + task("t" + at, 10)
  const { messages } = await ask({ messages: [...earlier, { role: "user", content: words }] }, config)
  earlier = []
  check("the state", JSON.stringify(messages))
  console.log(messages.at(-1).text)
  writeFileSync("state.json", JSON.stringify(mapChatMessagesToStoredMessages(messages)))
}
`

const AGENT =
  'createAgent({ model: thinking, tools: [readPart], systemPrompt: "You read parts.", checkpointer: new MemorySaver(), middleware })'
const DEEP_AGENT =
  'createDeepAgent({ model: thinking, tools: [readPart], systemPrompt: "You read parts.", checkpointer: new MemorySaver(), middleware })'

const INVOKED = "const ask = (input, config) => agent.invoke(input, config)"
const STREAMED = `async function ask(input, config) {
  let last, text = ""
  for await (const [mode, value] of await agent.stream(input, { ...config, streamMode: ["messages", "values"] })) {
    if (mode === "values") last = value
    else if (value[0].type === "ai") {
      check("the stream", JSON.stringify(value[0]))
      text = value[0].tool_call_chunks?.length ? "" : text + value[0].text
    }
  }
  if (!text.endsWith(lastText(last))) console.log("FAULT: streamed " + text + ", but the answer is " + lastText(last))
  return last
}`

const CASES = `${START}
const shared = { model: chat, tools: [readPart], checkpointer: new MemorySaver(), middleware }
const agent = createAgent({ ...shared, systemPrompt: "[agent one] You read parts." })
const one = thread("one")
await agent.invoke(userMessage(FACT + task("p0", 2)), one)
console.log("at once:", lastText(await agent.invoke(userMessage(task("p1", 4, " at once")), one)))

const shaped = { seen: z.string() }
const native = createAgent({ ...shared, systemPrompt: "[agent two] You read parts.", responseFormat: z.object(shaped) })
console.log("structured:", JSON.stringify((await native.invoke(userMessage(FACT + task("s1", 3)), thread("two"))).structuredResponse))
const byTool = createAgent({ ...shared, systemPrompt: "[agent three] You read parts.", responseFormat: toolStrategy(z.object(shaped)) })
console.log("by a tool:", (await byTool.invoke(userMessage(FACT + task("s2", 3)), thread("three"))).structuredResponse.seen)

// the thread is so short that Strata sends no request of its own, which could take the failure in place of the program's
const brief = createAgent({ ...shared, systemPrompt: "[agent brief] You read parts." })
const short = thread("brief")
await failing(() => brief.invoke(userMessage(FACT + task("e1", 2, " then fail")), short))
console.log("resumed:", lastText(await brief.invoke(null, short)))
const drained = async (stream) => { for await (const _ of stream); }
await failing(async () => drained(await brief.stream(userMessage(task("e2", 2, " then break")), { ...short, streamMode: "messages" })))
console.log("resumed:", lastText(await brief.invoke(null, short)))

const stop = new AbortController()
await failing(async () => {
  const stream = await agent.stream(userMessage(task("a1", 4)), { ...one, streamMode: "messages", signal: stop.signal })
  for await (const [message] of stream) if (message.type === "tool") stop.abort()
})
console.log("after an abort:", lastText(await agent.invoke(userMessage(task("a2", 2)), one)))

const agents = ["left", "right"].map((name) => createAgent({ ...shared, systemPrompt: "[agent " + name + "] You read parts." }))
const both = await Promise.all(
  agents.map((each, at) => each.invoke(userMessage(FACT + task("b" + at, 3 + at)), thread("both-" + at))),
)
console.log("two at once:", both.map((state) => lastText(state).replace(/last \\w+/, "last")).join(" "))

for (const mode of ["messages", "updates", "values"]) {
  let seen = ""
  for await (const chunk of await agent.stream(userMessage(task("r" + mode, 2, " with recall")), { ...one, streamMode: mode }))
    seen += JSON.stringify(chunk)
  check(mode, seen)
  console.log("recalled:", lastText((await agent.getState(one)).values))
}
let events = ""
for await (const event of agent.streamEvents(userMessage(task("rv2", 2, " with recall")), { ...one, version: "v2" }))
  if (event.event === "on_chat_model_stream" || event.event === "on_chat_model_end") events += JSON.stringify(event.data.chunk ?? event.data.output)
check("events", events)
console.log("recalled:", lastText((await agent.getState(one)).values))
const run = await agent.streamEvents(userMessage(task("rv3", 2, " with recall")), { ...one, version: "v3" })
let protocol = ""
for await (const event of run) if (JSON.stringify(event).includes('"messages"')) protocol += JSON.stringify(event)
check("the protocol", protocol)
console.log("recalled:", lastText((await agent.getState(one)).values))
`

export const LANGCHAIN: Framework = {
  name: "LangChain",
  packages: [
    ...["langchain@1.5.9", "@langchain/core@1.2.13", "@langchain/anthropic@1.5.8", "@langchain/langgraph@1.4.18"],
    ...["@langchain/langgraph-sdk@1.12.3", "deepagents@1.13.5", "zod"],
  ],
  shown: ["langchain", "@langchain/anthropic", "@langchain/langgraph", "deepagents"],
  flags: ["--legacy-peer-deps"],
  cases: [
    {
      what: "createAgent, three windows, a restart",
      program: LONG(AGENT, INVOKED),
      processes: RESTARTED,
      compactions: 2,
      goal: 0.25,
    },
    {
      what: "createAgent, three windows, streamed",
      program: LONG(AGENT, STREAMED),
      processes: RESTARTED,
      compactions: 2,
      goal: 0.25,
    },
    { what: "createAgent, other cases", program: CASES, compactions: 0 },
    {
      what: "createDeepAgent, three windows",
      program: LONG(DEEP_AGENT, INVOKED),
      processes: RESTARTED,
      compactions: 2,
    },
    {
      what: "createDeepAgent, three windows, streamed",
      program: LONG(DEEP_AGENT, STREAMED),
      processes: RESTARTED,
      compactions: 2,
    },
  ],
}
