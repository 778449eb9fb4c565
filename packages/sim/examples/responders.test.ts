/** The responders that come with the simulator, over HTTP: a worker that uses tools, and summaries for compaction. */
import Anthropic from "@anthropic-ai/sdk"
import { type Responder, responderByName, startSimulator } from "@strata/sim"
import { expect, test } from "vitest"

const betas = ["compact-2026-09-04"]
const question = { role: "user" as const, content: "Please never use tabs. Read src/a.ts and tell me what it does." }
const Bash = {
  name: "Bash",
  description: "Runs a command",
  input_schema: { type: "object" as const, properties: { command: { type: "string" } }, required: ["command"] },
}

async function withSimulator<T>(responder: Responder, use: (client: Anthropic) => Promise<T>): Promise<T> {
  const sim = await startSimulator({ responder })
  try {
    return await use(new Anthropic({ baseURL: sim.url, apiKey: "anything", maxRetries: 0 }))
  } finally {
    await sim.close()
  }
}

test("BEY-8 the worker calls the tools it is offered, and every request it leads to is valid", async () => {
  await withSimulator(responderByName("worker", { seed: 3, turns: 4 }), async (client) => {
    let calls = 0
    const run = () => `./src/a.ts\n./src/b.ts\n${++calls}`
    const tools = [{ ...Bash, type: "custom" as const, run, parse: (input: unknown) => input as object }]
    const last = await client.beta.messages.toolRunner({
      model: "claude-opus-5-5",
      max_tokens: 4000,
      messages: [question],
      tools,
      thread: false,
      max_iterations: 20,
    })
    expect(calls).toBeGreaterThan(0)
    expect(last.type).toBe("message")
  })
})

test("BEY-8 a responder writes the summary of a compaction", async () => {
  await withSimulator(responderByName("extractive"), async (client) => {
    const { content, stop_reason } = await client.beta.messages.create({
      model: "claude-opus-5-5",
      max_tokens: 4000,
      messages: [question, { role: "assistant", content: "It exports the answer, 42." }],
      compaction: { type: "summarize" },
      betas,
    })
    expect(stop_reason).toBe("compaction")
    expect(content[0]).toMatchObject({ type: "compaction", content: expect.stringContaining("never use tabs") })
  })
})
