/** Limits of memory costs with an adapter: nothing in the first turns, whose messages are processed later. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createAnthropic } from "@ai-sdk/anthropic"
import Anthropic from "@anthropic-ai/sdk"
import { extractiveAnswer, startSimulator } from "@strata/sim"
import { generateText, type ModelMessage, wrapLanguageModel } from "ai"
import { describe, expect, onTestFinished, test } from "vitest"
import { strataMiddleware } from "../src/ai-sdk.ts"
import { closeStrata, withStrata } from "../src/anthropic.ts"

const MODEL = "claude-opus-5-5"
const FACT = "The runbook of the heron service is at https://wiki.example.com/heron."
const LONG = "A finding of the review. ".repeat(400)
const MAX_TURNS = 60

interface Place {
  readonly url: string
  readonly dir: string
}
/** Opens a conversation; each call sends a user message. */
type Program = (place: Place) => (text: string) => Promise<void>

const anthropic: Program = ({ url, dir }) => {
  const client = withStrata(new Anthropic({ baseURL: url, apiKey: "none", maxRetries: 0 }), { dir, owner: "ada" })
  const messages: Anthropic.MessageParam[] = []
  return async (content) => {
    messages.push({ role: "user", content })
    const answer = await client.messages.create({ model: MODEL, max_tokens: 4_000, messages })
    messages.push({ role: "assistant", content: answer.content as never })
  }
}

const aiSdk: Program = ({ url, dir }) => {
  const plain = createAnthropic({ baseURL: `${url}/v1`, apiKey: "none" })(MODEL)
  const model = wrapLanguageModel({ model: plain, middleware: strataMiddleware({ dir, owner: "ada" }) })
  const messages: ModelMessage[] = []
  return async (content) => {
    messages.push({ role: "user", content })
    messages.push(...(await generateText({ model, messages, maxRetries: 0 })).responseMessages)
  }
}

async function stage() {
  const dir = mkdtempSync(join(tmpdir(), "strata-share-"))
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
  onTestFinished(async () => {
    await closeStrata()
    await sim.close()
    rmSync(dir, { recursive: true, force: true })
  })
  return { forks, place: { url: sim.url, dir } }
}

const memoriesIn = (dir: string): string =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter(({ name, parentPath }) => name.endsWith(".md") && parentPath.endsWith("memory"))
    .map(({ name, parentPath }) => readFileSync(join(parentPath, name), "utf8"))
    .join("\n")

describe.each([
  ["withStrata", anthropic],
  ["the middleware of the AI SDK", aiSdk],
] as const)("L5-9 memory with %s", (_, open) => {
  test("asks for nothing in conversations of 1, 2 and 3 turns; a later one of the owner looks at their messages", async () => {
    const { place, forks } = await stage()
    for (const turns of [1, 2, 3]) {
      const say = open(place)
      for (let turn = 0; turn < turns; turn++) await say(turn === 0 ? `${FACT} Review part ${turns}.` : "Go on")
      await closeStrata()
    }
    expect(forks).toEqual([])
    const say = open(place)
    for (let turn = 0; turn < MAX_TURNS && forks.length === 0; turn++) await say("Review the rest")
    expect(forks[0]).toContain("https://wiki.example.com/heron")
    await expect.poll(() => memoriesIn(place.dir)).toContain("https://wiki.example.com/heron")
  })
})
