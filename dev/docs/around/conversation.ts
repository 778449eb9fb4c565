/** Program around fragments of the documentation: a conversation with three answered questions. */
import Anthropic from "@anthropic-ai/sdk"
import { openConversation } from "@strata/core"

const client = new Anthropic()
await using chat = await openConversation({
  model: "claude-opus-5-5",
  client,
  system: "You answer briefly.",
  settings: { memory: "off" }, // memories are written in the background, so the number of requests would vary
})
for (const question of ["Use tabs from now on.", "What is in src?", "Thank you."]) {
  await chat.add(question)
  await chat.record(await client.messages.stream(await chat.prepare()).finalMessage())
}
// BLOCK
