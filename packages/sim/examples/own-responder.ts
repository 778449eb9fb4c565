import Anthropic from "@anthropic-ai/sdk"
import { type Responder, startSimulator } from "@strata/sim"

const echo: Responder = {
  name: "echo",
  answer: ({ request }) => {
    const text = request.messages.at(-1)?.content[0]?.text
    return { content: [{ type: "text", text: `You wrote: ${text}` }] }
  },
}

const sim = await startSimulator({ responder: echo })
const client = new Anthropic({ baseURL: sim.url, apiKey: "anything" })
const { content } = await client.messages.create({
  model: "claude-opus-5",
  max_tokens: 100,
  messages: [{ role: "user", content: "Hi" }],
})
console.log(content[0]) // { type: "text", text: "You wrote: Hi" }
await sim.close()
