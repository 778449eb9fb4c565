/** Mastra: agents that store their threads in a database of their own. */
import { type Framework, PROGRAM_START, RESTARTED } from "./framework.ts"

const START = `import { globSync } from "node:fs"
import { createAnthropic } from "@ai-sdk/anthropic"
import { Agent } from "@mastra/core/agent"
import { createTool } from "@mastra/core/tools"
import { LibSQLStore } from "@mastra/libsql"
import { Memory } from "@mastra/memory"
import { z } from "zod"
${PROGRAM_START}
const { strataProcessor } = usesStrata ? await import("@strata/adapters/mastra") : {}
const anthropic = createAnthropic({ baseURL: baseURL + "/v1", apiKey: "sk-simulator" })
const readPart = createTool({
  id: "read_part",
  description: "Reads a part of the project",
  inputSchema: z.object({ part: z.number() }),
  execute: async ({ part }) => partText(part),
})
const memoryOf = (lastMessages) =>
  new Memory({ storage: new LibSQLStore({ id: "threads", url: "file:threads.db" }), options: { lastMessages } })
const agentOf = (name, memory = memoryOf(1000)) =>
  new Agent({
    id: name,
    name,
    instructions: "[agent " + name + "] You read parts.",
    model: anthropic(model),
    tools: { read_part: readPart },
    memory,
    inputProcessors: usesStrata ? [strataProcessor(options)] : [],
  })
const inThread = (thread, more = {}) => ({
  memory: { thread, resource: "someone" },
  maxSteps: 50,
  modelSettings: { maxRetries: 0, maxOutputTokens: 2000 },
  ...more,
})
/** Removes the sent request, which Mastra includes together with its tools. */
const withoutSent = (key, value) => (key === "request" ? undefined : value)
const invoked = async (agent, words, options) => {
  const result = await agent.generate(words, options)
  check("the answer", JSON.stringify(result.response.messages))
  return result.text
}
const streamed = async (agent, words, options) => {
  let text = ""
  for await (const part of (await agent.stream(words, options)).fullStream) {
    if (part.type === "error") throw part.payload.error
    check("the stream", JSON.stringify(part, withoutSent))
    if (part.type === "text-delta") text += part.payload.text
  }
  return text
}
`

/** Six tasks of ten parts fill three windows. After the third task the program ends, and another process continues the thread. */
const LONG = (ask: "invoked" | "streamed", options = "{}") => `${START}
const agent = agentOf("only")
for (const at of process.argv[2] === "2" ? [4, 5, 6] : [1, 2, 3])
  console.log(await ${ask}(agent, (at === 1 ? FACT : "") + task("t" + at, 10), inThread("long", ${options})))
process.exit(0)
`

/** Mastra sets no breakpoints by default, so nothing is read from a cache. The saving is measured on a program that sets them. */
const BREAKPOINT = '{ providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } } }'

/** Mastra sends only the newest messages of a thread: 10 by default. */
const NEWEST = `${START}
const agent = agentOf("only", memoryOf(4))
for (const at of process.argv[2] === "2" ? [5, 6, 7, 8] : [1, 2, 3, 4])
  console.log(await invoked(agent, FACT + task("n" + at, 2), inThread("newest")))
const journals = usesStrata ? globSync(dir + "/projects/*/*.jsonl") : [1]
if (journals.length !== 1) console.log("FAULT: " + journals.length + " journals for one thread")
process.exit(0)
`

const CASES = `${START}
const agent = agentOf("one")
const one = inThread("one")
await invoked(agent, FACT + task("p0", 2), one)
console.log("at once:", await invoked(agent, task("p1", 4, " at once"), one))

const schema = z.object({ seen: z.string() })
const shaped = await agentOf("two").generate(FACT + task("s1", 3), inThread("two", { structuredOutput: { schema } }))
console.log("ANSWER[" + typeof shaped.object?.seen + "]")

// the thread is so short that Strata sends no request of its own, which could take the failure in place of the program's
const [brief, short] = [agentOf("brief"), inThread("brief")]
await failing(() => invoked(brief, FACT + task("e1", 2, " then fail"), short))
console.log("after a refusal:", await invoked(brief, FACT + task("e2", 1), short))
await failing(() => streamed(brief, task("e3", 2, " then break"), short))
console.log("after a break:", await streamed(brief, task("e4", 1), short))

const stop = new AbortController()
const stopped = await agent.stream(task("a1", 4), { ...one, abortSignal: stop.signal })
for await (const part of stopped.fullStream) if (part.type === "tool-result") stop.abort()
console.log("after an abort:", await invoked(agent, task("a2", 2), one))

const agents = ["left", "right"].map((name) => agentOf(name))
const both = await Promise.all(agents.map((each, at) => invoked(each, FACT + task("b" + at, 3 + at), inThread("both-" + at))))
console.log("two at once:", both.join(" ").replaceAll(/last \\w+/g, "last"))

console.log("recalled:", await invoked(agent, task("r1", 2, " with recall"), one))
console.log("recalled:", await streamed(agent, task("r2", 2, " with recall"), one))
const { messages } = await agent.getMemory().then((memory) => memory.recall({ threadId: "one", resourceId: "someone", perPage: false }))
check("the thread", JSON.stringify(messages))
process.exit(0)
`

export const MASTRA: Framework = {
  name: "Mastra",
  packages: ["@mastra/core@1.71.0", "@mastra/memory", "@mastra/libsql", "@ai-sdk/anthropic", "zod"],
  shown: ["@mastra/core", "@mastra/memory", "@ai-sdk/anthropic"],
  cases: [
    { what: "three windows, a restart", program: LONG("invoked"), processes: RESTARTED, compactions: 2, goal: 0.25 },
    { what: "three windows, streamed", program: LONG("streamed"), processes: RESTARTED, compactions: 2, goal: 0.25 },
    {
      what: "three windows, breakpoints of its own",
      program: LONG("invoked", BREAKPOINT),
      processes: RESTARTED,
      compactions: 2,
      goal: 0.75,
    },
    { what: "the newest messages", program: NEWEST, processes: RESTARTED, compactions: 0 },
    { what: "other cases", program: CASES, compactions: 0 },
  ],
}
