/** A process with an own loop whose only turn is worth remembering. It prints when it has its answer, and waits for its background work. */
import Anthropic from "@anthropic-ai/sdk"
import { manualClock } from "../src/base/clock.ts"
import { openConversation } from "../src/conversation/open.ts"

const [url, cwd, dir, message, now] = process.argv.slice(2) as [string, string, string, string, string]
const client = new Anthropic({ baseURL: url, apiKey: "none", maxRetries: 0 })
const chat = await openConversation({
  ...{ model: "claude-opus-5-5", client, env: {}, cwd, dir, clock: manualClock(now), memory: { owner: "ada" } },
  settings: { figures: { "background-share": 100 } },
})
await chat.add(message)
await chat.record(await client.messages.stream(await chat.prepare()).finalMessage())
console.log("answered")
await chat.whenIdle()
await chat.close()
