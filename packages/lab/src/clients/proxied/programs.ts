/** Programs on libraries that take one prompt to its end and keep their conversation in a file. */

export const PLAIN_PROGRAM = `import Anthropic from "@anthropic-ai/sdk"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
const [words, from, to = from] = process.argv.slice(2)
const { MODEL: model, MARKS } = process.env
const client = new Anthropic({ maxRetries: 0 })
const mark = MARKS ? { cache_control: { type: "ephemeral" } } : {}
const input_schema = { type: "object", properties: { command: { type: "string" }, description: { type: "string" } } }
const tools = [{ name: "bash", description: "Prints a file. ".repeat(300), input_schema }]
const system = [{ type: "text", text: "You read the files of a project, one by one. ".repeat(300), ...mark }]
const messages = existsSync(from) ? JSON.parse(readFileSync(from, "utf8")) : []
const marked = (message) => ({ ...message, content: message.content.with(-1, { ...message.content.at(-1), ...mark }) })
messages.push({ role: "user", content: [{ type: "text", text: words }] })
while (messages.at(-1).role === "user") {
  const sent = messages.with(-1, marked(messages.at(-1)))
  const answer = await client.messages.stream({ model, max_tokens: 4000, system, tools, messages: sent }).finalMessage()
  messages.push({ role: "assistant", content: answer.content })
  const results = answer.content
    .filter(({ type }) => type === "tool_use")
    .map(({ id, input }) => ({ type: "tool_result", tool_use_id: id, content: readFileSync(input.command.slice(4), "utf8") }))
  if (results.length > 0) messages.push({ role: "user", content: results })
  else console.log(answer.content.at(-1).text)
}
writeFileSync(to, JSON.stringify(messages))
`

export const AGENT_SDK_PROGRAM = `import { query } from "@anthropic-ai/claude-agent-sdk"
const [prompt, resume, forks] = process.argv.slice(2)
const session = resume ? { resume, ...(forks ? { forkSession: true } : {}) } : {}
const options = { model: process.env.MODEL, allowedTools: ["Bash"], cwd: process.cwd(), ...session }
for await (const message of query({ prompt, options })) {
  if (message.type === "result") console.log(JSON.stringify(message))
}
`
