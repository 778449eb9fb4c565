/**
 * Programs that work, rewind, retry and restart at random, with a model that calls Recall at random: the simulator accepts every request.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import Anthropic from "@anthropic-ai/sdk"
import type { Answer, Responder, ResponderTurn } from "@strata/sim"
import { extractiveAnswer, frozenClock, startSimulator } from "@strata/sim"
import fc from "fast-check"
import { expect, test } from "vitest"
import { size } from "../../core/test/size.ts"
import { closeStrata, withStrata } from "../src/anthropic.ts"

const RUNS = Number(process.env.FUZZ_RUNS ?? size(1, 3))
const MODEL = "claude-opus-5-5"
const TOOLS = [{ name: "look", input_schema: { type: "object" as const } }]
const LONG = "line of a file with words in it\n".repeat(300)

/** The model's next action, and the program's reaction. */
type Step = "look" | "look twice" | "Recall" | "Recall and look" | "end"
type Habit = "goes on" | "rewinds" | "asks again" | "restarts" | "keeps last words" | "strips thinking" | "aborts"

class Player implements Responder {
  readonly name = "player"
  steps: Step[] = []
  #number = 0

  answer(turn: ResponderTurn): Answer {
    const about = extractiveAnswer(turn)
    if (about) return about
    const step = this.steps.shift() ?? "end"
    const number = ++this.#number
    const call = (name: string, at: number) =>
      ({
        type: "tool_use",
        id: `toolu_${String(number).padStart(16, "0")}${at}`,
        name,
        input: name === "Recall" ? { search: "file words" } : { at },
      }) as const
    const calls = {
      look: [call("look", 0)],
      "look twice": [call("look", 0), call("look", 1)],
      Recall: [call("Recall", 0)],
      "Recall and look": [call("Recall", 0), call("look", 1)],
      end: [],
    }[step]
    return {
      content: [
        { type: "thinking", thinking: `Thought ${number}.` },
        { type: "text", text: `Words number ${number} of this answer.` },
        ...calls,
      ],
    }
  }
}

const steps = fc.array(fc.constantFrom<Step>("look", "look twice", "Recall", "Recall and look", "end"), {
  minLength: 25,
  maxLength: 60,
})
const habits = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.constant<Habit>("goes on") },
    {
      weight: 2,
      arbitrary: fc.constantFrom<Habit>(
        ...(["rewinds", "asks again", "restarts", "keeps last words", "strips thinking", "aborts"] as const),
      ),
    },
  ),
  { minLength: 60, maxLength: 60 },
)

test("BEY-11, BEY-14 every request of a random program is valid, and our tool is never seen", async () => {
  await fc.assert(
    fc.asyncProperty(steps, habits, fc.boolean(), fc.boolean(), async (played, lived, streams, hasId) => {
      const responder = new Player()
      responder.steps = [...played]
      const models = { [MODEL]: { window: 40_000 } }
      const sim = await startSimulator({ responder, clock: frozenClock(), bindThinking: "error", models })
      const dir = mkdtempSync(join(tmpdir(), "strata-random-"))
      const plain = new Anthropic({ baseURL: sim.url, apiKey: "k", maxRetries: 0 })
      const open = () =>
        withStrata(plain, { dir, recall: "always", settings: { models }, ...(hasId ? { conversation: "one" } : {}) })
      let client = open()
      let messages: Anthropic.MessageParam[] = [{ role: "user", content: "Begin with the first file." }]
      const ask = () => {
        const body = { model: MODEL, max_tokens: 1_000, tools: TOOLS, messages }
        return streams ? client.messages.stream(body).finalMessage() : client.messages.create(body)
      }
      try {
        for (const habit of lived) {
          if (responder.steps.length === 0) break
          if (habit === "aborts" && streams) {
            const stream = client.messages.stream({ model: MODEL, max_tokens: 1_000, tools: TOOLS, messages })
            stream.on("text", () => stream.abort())
            await stream.finalMessage().catch(() => undefined)
          }
          if (habit === "asks again") await ask()
          const { content } = await ask()
          messages.push({ role: "assistant", content })
          const calls = content.filter((block) => block.type === "tool_use")
          const results = calls.map(({ id }) => ({ type: "tool_result" as const, tool_use_id: id, content: LONG }))
          messages.push({
            role: "user",
            content: results.length > 0 ? results : `Go on with number ${messages.length}.`,
          })
          if (habit === "restarts") {
            await closeStrata()
            client = open()
          }
          if (habit === "rewinds" && messages.length > 4) messages = rewound(messages)
          if (habit === "keeps last words" && results.length === 0) messages = lastWords(messages)
          if (habit === "strips thinking") messages = messages.map(withoutThinking)
        }
        expect(sim.log.flatMap((entry) => (entry.status === 200 ? [] : JSON.stringify(entry)))).toEqual([])
        expect(JSON.stringify(messages)).not.toContain('"Recall"')
      } finally {
        await closeStrata()
        await sim.close()
        rmSync(dir, { recursive: true, force: true })
      }
    }),
    { numRuns: RUNS, ...(process.env.FUZZ_SEED ? { seed: Number(process.env.FUZZ_SEED) } : {}) },
  )
})

const isText = (message: Anthropic.MessageParam) => typeof message.content === "string"

/** Rewinds to an earlier user message and replaces its text. */
function rewound(messages: Anthropic.MessageParam[]): Anthropic.MessageParam[] {
  const at = messages.findLastIndex(
    (message, place) => place < messages.length - 2 && message.role === "user" && isText(message),
  )
  return at < 1
    ? messages
    : [...messages.slice(0, at), { role: "user", content: `Another way from ${at}, ${messages.length}.` }]
}

function lastWords(messages: Anthropic.MessageParam[]): Anthropic.MessageParam[] {
  return messages.flatMap((message): Anthropic.MessageParam[] => {
    if (message.role === "user" || isText(message)) return isText(message) ? [message] : []
    const blocks = message.content as Anthropic.ContentBlock[]
    if (blocks.some(({ type }) => type === "tool_use")) return []
    const texts = blocks.flatMap((block) => (block.type === "text" ? block.text : []))
    return [{ role: "assistant", content: texts.join("") }]
  })
}

function withoutThinking(message: Anthropic.MessageParam): Anthropic.MessageParam {
  if (message.role !== "assistant" || isText(message)) return message
  const content = (message.content as Anthropic.ContentBlock[]).filter(({ type }) => type !== "thinking")
  return { ...message, content }
}
