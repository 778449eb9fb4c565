import { describe, expect, test } from "vitest"
import { conversation } from "../../../test/builders.ts"
import { isWhole } from "../../../test/size.ts"
import { contentOf } from "../../messages/messages.ts"
import type { ModelRequest } from "../../messages/request.ts"
import { createEstimator } from "../../tokens/estimate.ts"
import { costOfUsage, findModel } from "../../tokens/models.ts"
import { ModelAbortedError } from "../errors.ts"
import { isOffline, type ModelEvent } from "../model.ts"
import { offlineModel } from "./offline-model.ts"
import { summarize } from "./summary.ts"
import { ORIGIN } from "./timeline.ts"

const PROMPT =
  "Write a summary of the conversation above between <summary> and </summary>, in nine sections:\n1. Primary Request and Intent: all\n2. Key Technical Concepts: all\n3. Files and Code Sections: all\n4. Errors and Fixes: all\n5. Problem Solving: all\n6. All User Messages: all\n7. Pending Tasks: all\n8. Current Work: all\n9. Optional Next Step: all"

function requestOf(text: string, more: Partial<ModelRequest> = {}): ModelRequest {
  const { messages } = conversation()
    .user("Fix the port in config.ts. It must be 8443.")
    .say("I use 8443 instead of 8080 because the old one is taken.")
    .user(text)
  const sent = messages.flatMap((message) =>
    message.type === "user" || message.type === "assistant"
      ? [{ role: message.message.role, content: [...contentOf(message)] }]
      : [],
  )
  return { model: "strata-offline", max_tokens: 8_000, messages: sent as ModelRequest["messages"], ...more }
}

async function eventsOf(request: ModelRequest): Promise<readonly ModelEvent[]> {
  const events: ModelEvent[] = []
  for await (const event of offlineModel().stream(request)) events.push(event)
  return events
}

async function answerOf(request: ModelRequest) {
  const last = (await eventsOf(request)).at(-1)
  if (last?.type !== "response") throw new Error("no response")
  return last.response
}

describe("BEY-6 the offline model", () => {
  test("BEY-6 it writes a summary in nine sections, says that it is extractive, and streams it before the response", async () => {
    const events = await eventsOf(requestOf(PROMPT))
    expect(events.map(({ type }) => type)).toEqual(["text", "response"])
    const { content, model, stop_reason } = await answerOf(requestOf(PROMPT))
    const [{ text = "" } = {}] = content as readonly { text?: string }[]
    expect({ model, stop_reason }).toEqual({ model: "strata-offline", stop_reason: "end_turn" })
    expect(text).toContain(`<summary>\n${ORIGIN}\n\n1. Primary Request and Intent:`)
    expect(text.match(/^\d\. .*:$/gm)).toHaveLength(9)
    expect(text).toContain('decision: "I use 8443 instead of 8080 because the old one is taken."')
  })

  test("BEY-6 the same request gets the same response, byte for byte", async () => {
    expect(JSON.stringify(await eventsOf(requestOf(PROMPT)))).toBe(JSON.stringify(await eventsOf(requestOf(PROMPT))))
  })

  test("BEY-6 it costs nothing: the price is known and zero, and no tokens are counted for work about the conversation", async () => {
    const { usage, model } = await answerOf(requestOf(PROMPT))
    expect(usage).toEqual({ input_tokens: 0, output_tokens: 0 })
    const found = findModel(model)
    expect(found.known).toBe(true)
    expect(costOfUsage(found.facts, { input_tokens: 1_000_000, output_tokens: 1_000_000 })).toEqual({
      known: true,
      dollars: 0,
    })
    expect(isOffline({ name: model })).toBe(true)
  })

  test("BEY-6 asked for the work itself, it says what it is, and counts, so that a conversation knows its size", async () => {
    const { content, usage, id } = await answerOf(requestOf("Now fix the test."))
    expect(content).toMatchObject([{ type: "text", text: expect.stringContaining("It is extractive") }])
    expect(usage.input_tokens).toBeGreaterThan(10)
    expect((await answerOf(requestOf("And now?"))).id).not.toBe(id)
  })

  test("BEY-6 a summary keeps within max_tokens", async () => {
    const long = requestOf(`${"A long question about ports. ".repeat(2_000)}`)
    const messages = [
      ...long.messages,
      { role: "assistant" as const, content: "Done." },
      { role: "user" as const, content: PROMPT },
    ]
    const { content } = await answerOf({ ...long, max_tokens: 600, messages })
    const estimator = createEstimator("claude-5")
    expect(estimator.text((content as readonly { text: string }[])[0]!.text)).toBeLessThan(600)
  })

  test("BEY-6 an aborted request gives no answer", async () => {
    const stream = offlineModel().stream(requestOf(PROMPT), { signal: AbortSignal.abort() })
    await expect(stream[Symbol.asyncIterator]().next()).rejects.toThrow(ModelAbortedError)
  })
})

test("BEY-6 what a program put into a user message is not among the user's messages", () => {
  const text = '{"task_id":"b7","status":"done"}'
  const summary = summarize(
    [
      { role: "user", content: [{ type: "text", text: "Fix the parser." }] },
      { role: "user", content: [{ type: "text", text }] },
      { role: "assistant", content: [{ type: "text", text: "I will." }] },
    ],
    "",
  )
  expect(summary).toContain("Fix the parser.")
  expect(summary).not.toContain("task_id")
})

test.runIf(isWhole)(
  "BEY-6 while it reads a long conversation, other work gets its turn, and it can be stopped",
  async () => {
    const responses = Array.from(
      { length: 4_000 },
      (_, n) => `File part-${n}.ts failed because port ${n} is taken. Next I try ${n + 1}.`,
    )
    const long = responses.flatMap((text, n) => [
      { role: "user" as const, content: `Go on with ${n}, and never touch file-${n}.ts.` },
      { role: "assistant" as const, content: text },
    ])
    const request = { ...requestOf(PROMPT), messages: [...long, ...requestOf(PROMPT).messages] }
    let others = 0
    const isOver = new AbortController()
    const other = () => {
      others++
      if (!isOver.signal.aborted) setImmediate(other)
    }
    setImmediate(other)
    await answerOf(request)
    isOver.abort()
    expect(others).toBeGreaterThan(1)
    const stop = new AbortController()
    setImmediate(() => stop.abort())
    const stopped = offlineModel().stream(
      { ...request, messages: request.messages.toReversed() },
      { signal: stop.signal },
    )
    const untilItEnds = async () => {
      for await (const _ of stopped);
    }
    await expect(untilItEnds()).rejects.toThrow(ModelAbortedError)
  },
)
