/** Programs that write their own agent loop on the Anthropic SDK, for its newest version and older ones. */
import type { Framework } from "./framework.ts"
import { listedCases } from "./listed.ts"

/** The last version is the oldest with `withOptions`, which `withStrata` needs. */
const VERSIONS = ["latest", "1.0.0", "0.110.0", "0.90.0", "0.70.1", "0.50.4"]

const IMPORTS = `import Anthropic from "@anthropic-ai/sdk"
`

const FRAMEWORK = `const { withStrata } = usesStrata ? await import("@strata/adapters/anthropic") : {}
const plain = new Anthropic({ baseURL, apiKey: "sk-simulator", maxRetries: 0 })
const client = usesStrata ? withStrata(plain, options) : plain
const object = (properties) => ({ type: "object", properties, required: Object.keys(properties), additionalProperties: false })
const readPart = { name: "read_part", description: "Reads a part of the project", input_schema: object({ part: { type: "number" } }) }
const THINKING = { thinking: { type: "enabled", budget_tokens: 1024 } }
const BREAKPOINT = { cache_control: { type: "ephemeral" } }
const SHAPED = { output_config: { format: { type: "json_schema", schema: object({ seen: { type: "string" } }) } } }
const agentOf = (name, more = {}) => ({ name, more })
const bodyOf = ({ name, more }, messages) =>
  ({ model, max_tokens: 2000, system: "[agent " + name + "] You read parts.", tools: [readPart], messages, ...more })
const textOf = ({ content }) => content.map(({ text = "" }) => text).join("")
async function ask(agent, list, { stream, signal, onResult }) {
  const messages = [...list]
  for (let hasResult = false; ; hasResult = true) {
    const answer = await (stream ? streamed() : client.messages.create(bodyOf(agent, messages)))
    messages.push({ role: "assistant", content: answer.content })
    const calls = answer.content.filter(({ type }) => type === "tool_use")
    if (calls.length === 0) return { list: messages, answer: agent.more.output_config ? JSON.parse(textOf(answer)) : textOf(answer) }
    const results = calls.map(({ id, input }) => ({ type: "tool_result", tool_use_id: id, content: partText(input.part) }))
    messages.push({ role: "user", content: results })
    function streamed() {
      const events = client.messages.stream(bodyOf(agent, messages), { signal })
      events.on("streamEvent", (event) => {
        check("the stream", JSON.stringify(event))
        if (hasResult) onResult?.()
      })
      return events.finalMessage()
    }
  }
}
`

/** Programs for other forms of a call, each tried only in versions that have it. */
const OTHERS = `const asks = (name, how = " with recall") => bodyOf(agentOf(name), [{ role: "user", content: FACT + task(name, 0, how) }])
let raw = ""
for await (const event of await client.messages.create({ ...asks("raw"), stream: true })) {
  check("the events", JSON.stringify(event))
  raw += event.delta?.text ?? ""
}
console.log("raw events:", raw)
console.log("beta:", textOf(await client.beta.messages.create(asks("beta"))))
console.log("beta, streamed:", textOf(await client.beta.messages.stream(asks("streamed")).finalMessage()))
console.log("with its response:", textOf((await client.messages.create(asks("response")).withResponse()).data))
console.log("with other options:", textOf(await client.withOptions({ timeout: 60_000 }).messages.create(asks("options"))))
if (client.messages.parse) {
  const { parsed_output } = await client.messages.parse({ ...asks("parsed"), ...SHAPED })
  console.log("parsed: ANSWER[" + typeof (parsed_output ?? {}).seen + "]")
}
if (client.beta.messages.toolRunner)
  // without Strata, the streamed form of versions without parse sends a field that the API refuses
  for (const [at, stream] of (client.messages.parse ? [false, true] : [false]).entries()) {
    const tools = [{ ...readPart, run: ({ part }) => partText(part), parse: (input) => input }]
    const messages = [{ role: "user", content: FACT + task("u" + at, 4, " with recall") }]
    const runner = client.beta.messages.toolRunner({ ...bodyOf(agentOf("runner" + at), messages), tools, stream })
    for await (const message of runner)
      check("the runner", JSON.stringify(await (stream ? message.finalMessage() : message)))
    check("the runner's list", JSON.stringify(runner.params.messages))
    console.log("tool runner:", textOf(await runner.done()))
  }
`

const listed = listedCases({ imports: IMPORTS, framework: FRAMEWORK, others: OTHERS, breakpoints: "BREAKPOINT" })

export const ANTHROPIC_SDK: readonly Framework[] = VERSIONS.map((version) => ({
  name: "Anthropic SDK",
  packages: [`@anthropic-ai/sdk@${version}`],
  shown: ["@anthropic-ai/sdk"],
  cases: listed,
}))
