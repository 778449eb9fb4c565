/** Program around fragments of the documentation: a conversation long enough that a compaction pays off. */
import Anthropic from "@anthropic-ai/sdk"
import { openConversation } from "@strata/core"

const client = new Anthropic()
await using chat = await openConversation({ model: "claude-opus-5-5", client, system: "You answer briefly." })
for (let day = 1; day <= 12; day++) {
  await chat.add(`What happened on day ${day}?`)
  const text = `request ${day} took ${day * 7} ms on port ${4000 + day}; `.repeat(100)
  await chat.record({ content: [{ type: "text", text }] })
}
// BLOCK
