/** Limits of memory costs when the proxy serves an owner: nothing in the first turns, whose messages wait. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import Anthropic from "@anthropic-ai/sdk"
import { extractiveAnswer, startSimulator } from "@strata/sim"
import { expect, onTestFinished, test } from "vitest"
import { Conversations, newSecret, startProxy } from "../../src/proxy/index.ts"

const FACT = "The runbook of the heron service is at https://wiki.example.com/heron."
const LONG = "A finding of the review. ".repeat(400)
const MAX_TURNS = 60

test("L5-9 memory asks for nothing in conversations of 1, 2 and 3 turns through the proxy; a later one looks at their messages", async () => {
  const dir = mkdtempSync(join(tmpdir(), "strata-proxy-share-"))
  const forks: string[] = []
  const sim = await startSimulator({
    responder: {
      name: "reviewing",
      answer(turn) {
        const answer = extractiveAnswer(turn)
        if (answer) forks.push(JSON.stringify(turn.request.messages))
        return answer ?? { content: [{ type: "text", text: LONG }] }
      },
    },
  })
  const plans = new Conversations({ upstream: sim.url, cwd: dir, env: {}, dir, owner: "ada" })
  const proxy = await startProxy({ upstream: sim.url, plans, secret: newSecret() })
  onTestFinished(async () => {
    await proxy.close()
    await plans.close()
    await sim.close()
    rmSync(dir, { recursive: true, force: true })
  })
  const client = new Anthropic({ baseURL: proxy.url, apiKey: "none", maxRetries: 0 })
  const open = () => {
    const messages: Anthropic.MessageParam[] = []
    return async (content: string) => {
      messages.push({ role: "user", content })
      const answer = await client.messages.create({ model: "claude-opus-5-5", max_tokens: 4_000, messages })
      messages.push({ role: "assistant", content: answer.content as never })
    }
  }
  for (const turns of [1, 2, 3]) {
    const say = open()
    for (let turn = 0; turn < turns; turn++) await say(turn === 0 ? `${FACT} Review part ${turns}.` : "Go on")
  }
  expect(forks).toEqual([])
  const say = open()
  for (let turn = 0; turn < MAX_TURNS && forks.length === 0; turn++) await say("Review the rest")
  expect(forks[0]).toContain("https://wiki.example.com/heron")
})
