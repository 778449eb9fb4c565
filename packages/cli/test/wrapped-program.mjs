// A program as people have them: the official SDK, a list of messages that it sends again each time, a tool. It prints what the model said.
import { appendFileSync } from "node:fs"
import Anthropic from "@anthropic-ai/sdk"

const [rounds = "3", characters = "200", ending = "0"] = process.argv.slice(2)
const client = new Anthropic({ apiKey: process.env.ANTHROPIC_API_KEY ?? "sk-very-secret-key", maxRetries: 0 })
const model = process.env.MODEL ?? "claude-opus-5-5"
const mark = { cache_control: { type: "ephemeral" } }
const tools = [{ name: "look", description: "Reads a file.", input_schema: { type: "object", properties: {} } }]
const system = [{ type: "text", text: "You read files and say what is in them. ".repeat(200), ...mark }]
const messages = [{ role: "user", content: process.env.OPENING ?? "Go through the files." }]
const say = (line) => (process.env.SAYS ? appendFileSync(process.env.SAYS, `${line}\n`) : console.log(line))
const text = (seed) =>
  Array.from({ length: Number(characters) / 20 }, (_, at) => `line ${seed * 7919 + at * 31} of it`).join("\n")

const marked = () => {
  const last = messages.at(-1)
  const blocks = typeof last.content === "string" ? [{ type: "text", text: last.content }] : last.content
  return [
    ...messages.slice(0, -1),
    { ...last, content: blocks.map((b, at) => (at === blocks.length - 1 ? { ...b, ...mark } : b)) },
  ]
}

await client.messages.countTokens({ model, messages })
for (let round = 0; round < Number(rounds); round++) {
  const answer = await client.messages
    .stream({ model, max_tokens: 2000, system, tools, messages: marked() })
    .finalMessage()
  for (const block of answer.content) if (block.type === "text") say(block.text)
  messages.push({ role: "assistant", content: answer.content })
  const calls = answer.content.filter(({ type }) => type === "tool_use")
  messages.push({
    role: "user",
    content:
      calls.length === 0
        ? "Go on."
        : calls.map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: text(round) })),
  })
}
process.exitCode = Number(ending)
