import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { conversation } from "../../test/builders.ts"
import { openTestConversation } from "../../test/open.ts"
import { size } from "../../test/size.ts"
import { engineOf } from "../conversation/conversation.ts"
import { renderAttachment } from "../messages/attachment-texts.ts"
import type { Message, Usage } from "../messages/messages.ts"
import { ContextMeter, contextSize, usageTotal } from "./context-size.ts"
import { createEstimator } from "./estimate.ts"

const estimator = () => createEstimator("unknown")
const sizeOf = (messages: readonly Message[]) => contextSize(messages, estimator())
const usage = (input: number, output: number, more: Partial<Usage> = {}): Usage => ({
  input_tokens: input,
  output_tokens: output,
  ...more,
})

/** TOK-3 for an unknown model: 4 bytes per token plus a third. */
const textTokens = (characters: number) => (characters / 4) * (4 / 3)

describe("TOK-1 context size", () => {
  test("is what the API counted for the newest response, and an estimate of what came after", () => {
    const { messages } = conversation()
      .user("a".repeat(4_000))
      .say("b", { usage: usage(1_000, 50) })
      .user("c".repeat(300))
    expect(sizeOf(messages)).toEqual({ tokens: 1_150, counted: 1_050, estimated: textTokens(300) })
  })

  test("counts input, what was written to the cache, what was read from it, and output", () => {
    const all = usage(1, 20, { cache_creation_input_tokens: 300, cache_read_input_tokens: 4_000 })
    expect(usageTotal(all)).toBe(4_321)
    expect(usageTotal(usage(1, 2, { cache_creation_input_tokens: null, cache_read_input_tokens: null }))).toBe(3)
    expect(sizeOf(conversation().user("x").say("y", { usage: all }).messages).tokens).toBe(4_321)
  })

  test("where the server compacted before it answered, the pass that answered is what the context holds", () => {
    const compacted = usage(500, 10, {
      iterations: [
        { type: "compaction", input_tokens: 180_000, output_tokens: 2_000 },
        { type: "message", input_tokens: 500, output_tokens: 10 },
      ],
    })
    expect(usageTotal(compacted)).toBe(510)
  })

  test("goes back to the newest usage, not the first", () => {
    const { messages } = conversation()
      .user("x")
      .say("y", { usage: usage(10, 1) })
      .user("z")
      .say("w", { usage: usage(30, 2) })
    expect(sizeOf(messages)).toEqual({ tokens: 32, counted: 32, estimated: 0 })
  })

  test("without any usage everything is estimated", () => {
    const { messages } = conversation().user("a".repeat(300)).say("b".repeat(600))
    expect(sizeOf(messages)).toEqual({ tokens: 300, counted: 0, estimated: 300 })
  })

  test("a usage of nothing is no usage", () => {
    const { messages } = conversation()
      .user("a".repeat(300))
      .say("b".repeat(600), { usage: usage(0, 0) })
    expect(sizeOf(messages)).toEqual({ tokens: 300, counted: 0, estimated: 300 })
  })

  test("attachments count as they are rendered; what is not sent counts nothing", () => {
    const attachment = { type: "hook_output", hook: "lint", content: "clean ".repeat(50) } as const
    const { messages } = conversation()
      .attach(attachment)
      .progress()
      .system("for the person")
      .user("elsewhere", { isSidechain: true })
      .say("API Error", { model: "<synthetic>", isApiErrorMessage: true, usage: usage(9_999, 9) })
    expect(sizeOf(messages).tokens).toBe(Math.ceil(estimator().blocks(renderAttachment(attachment))))
  })

  test("nothing is nothing", () => {
    expect(sizeOf([])).toEqual({ tokens: 0, counted: 0, estimated: 0 })
  })
})

describe("TOK-2 parallel tool calls, stored as several messages of one response", () => {
  const RESULT = "r".repeat(300)
  const resultTokens = textTokens(300)

  test("the anchor is the first message of the response: results between the pieces count, siblings do not", () => {
    const { messages } = conversation()
      .user("go")
      .call("Read", { file_path: "a".repeat(2_000) }, { id: "msg_x", usage: usage(1_000, 80) })
      .result(RESULT)
      .call("Read", { file_path: "b".repeat(2_000) }, { id: "msg_x", usage: usage(1_000, 80) })
      .result(RESULT)
      .call("Grep", { pattern: "c".repeat(2_000) }, { id: "msg_x", usage: usage(1_000, 80) })
    expect(sizeOf(messages)).toEqual({ tokens: 1_080 + 2 * resultTokens, counted: 1_080, estimated: 2 * resultTokens })
  })

  test("pieces that repeat a growing usage: the largest is the whole response", () => {
    const { messages } = conversation()
      .user("go")
      .call("Read", {}, { id: "msg_x", usage: usage(1_000, 5) })
      .result(RESULT)
      .call("Read", {}, { id: "msg_x", usage: usage(1_000, 120) })
    expect(sizeOf(messages)).toMatchObject({ counted: 1_120, estimated: resultTokens })
  })

  test("a sibling that carries no usage of its own is not counted again", () => {
    const { messages } = conversation()
      .user("go")
      .call("Read", {}, { id: "msg_x", usage: usage(1_000, 80) })
      .result(RESULT)
      .call("Read", { file_path: "b".repeat(2_000) }, { id: "msg_x" })
    expect(sizeOf(messages)).toEqual({ tokens: 1_080 + resultTokens, counted: 1_080, estimated: resultTokens })
  })

  test("where only a later piece carries usage, the results before it count, too", () => {
    const { messages } = conversation()
      .user("go ".repeat(1_000))
      .call("Read", { file_path: "a".repeat(2_000) }, { id: "msg_x" })
      .result(RESULT)
      .call("Read", {}, { id: "msg_x", usage: usage(1_000, 80) })
      .result(RESULT)
    expect(sizeOf(messages)).toEqual({ tokens: 1_080 + 2 * resultTokens, counted: 1_080, estimated: 2 * resultTokens })
  })

  test("another response is a new anchor", () => {
    const { messages } = conversation()
      .user("go")
      .call("Read", {}, { id: "msg_x", usage: usage(1_000, 80) })
      .result(RESULT)
      .say("done", { id: "msg_y", usage: usage(1_300, 9) })
    expect(sizeOf(messages)).toEqual({ tokens: 1_309, counted: 1_309, estimated: 0 })
  })
})

describe("TOK-1 what makes a count void", () => {
  test("after a reset, as at a boundary, only what comes is counted", () => {
    const meter = new ContextMeter(estimator())
    const before = conversation()
      .user("x")
      .say("y", { id: "msg_x", usage: usage(150_000, 80) })
    for (const message of before.messages) meter.add(message)
    meter.reset()
    expect(meter.size()).toEqual({ tokens: 0, counted: 0, estimated: 0 })
    for (const message of conversation().user("s".repeat(300)).messages) meter.add(message)
    expect(meter.size()).toEqual({ tokens: 100, counted: 0, estimated: 100 })
  })

  test("in a conversation a boundary voids the count, of kept messages too", async () => {
    const layer = { name: "compacting", beforeRequest: async () => ({ drafts: drafts.splice(0) }) }
    const drafts: never[] = []
    const chat = await openTestConversation({ layers: [layer] })
    await chat.add({ role: "user", content: "go" })
    const kept = await chat.record({
      id: "msg_1",
      model: "claude-opus-4-6",
      content: [{ type: "text", text: "kept" }],
      stop_reason: "end_turn",
      usage: usage(150_000, 10),
    })
    expect(engineOf(chat).views.context.size().counted).toBe(150_010)
    drafts.push(
      {
        type: "system",
        subtype: "compact_boundary",
        compactMetadata: { trigger: "auto", preTokens: 150_010, preservedMessages: { uuids: [kept] } },
      } as never,
      { type: "user", isCompactSummary: true, message: { role: "user", content: "Summary." } } as never,
    )
    await chat.add({ role: "user", content: "next" })
    await chat.prepare()
    const size = engineOf(chat).views.context.size()
    expect(size.counted).toBe(0)
    expect(size.tokens).toBeGreaterThan(0)
    expect(size.tokens).toBeLessThan(200)
  })

  test("what a decision took out is taken off until the next usage tells", () => {
    const meter = new ContextMeter(estimator())
    for (const message of conversation()
      .user("x")
      .say("y", { usage: usage(5_000, 0) }).messages)
      meter.add(message)
    meter.remove(1_200.5)
    expect(meter.size()).toEqual({ tokens: 3_800, counted: 5_000, estimated: -1_200 })
    meter.add(conversation().say("z", { id: "msg_new", usage: usage(3_900, 5) }).messages[0]!)
    expect(meter.size()).toEqual({ tokens: 3_905, counted: 3_905, estimated: 0 })
  })

  test("it never falls below nothing", () => {
    const meter = new ContextMeter(estimator())
    meter.remove(50)
    expect(meter.size().tokens).toBe(0)
  })
})

describe("TOK-5 what an anchor teaches", () => {
  test("how large the messages since the last one really were", () => {
    const meter = new ContextMeter(estimator())
    const { messages } = conversation()
      .user("x")
      .say("y", { id: "msg_1", usage: usage(1_000, 50) })
      .user("c".repeat(300))
      .say("z", { id: "msg_2", usage: usage(1_130, 5) })
    const lessons = messages.map((message) => meter.add(message))
    expect(lessons.slice(0, 3)).toEqual([undefined, undefined, undefined])
    expect(lessons[3]).toMatchObject({ actual: 80, measure: { bytes: { text: 300, json: 0 }, texts: 1 } })
  })

  test.each([
    ["took something out of the context", 100],
    ["that was undone put something back", -100],
  ])("nothing, where a decision %s in between", (_name, removed) => {
    const meter = new ContextMeter(estimator())
    const { messages } = conversation()
      .user("x")
      .say("y", { id: "msg_1", usage: usage(1_000, 50) })
      .user("c")
    for (const message of messages) meter.add(message)
    meter.remove(removed)
    expect(meter.add(conversation().say("z", { id: "msg_2", usage: usage(1_130, 5) }).messages[0]!)).toBeUndefined()
  })
})

describe("TOK-1, TOK-2 message by message", () => {
  const step = fc.oneof(
    fc.string({ maxLength: 50 }).map((text) => ({ kind: "user" as const, text })),
    fc.record({
      kind: fc.constant("call" as const),
      id: fc.constantFrom("msg_a", "msg_b", "msg_c"),
      usage: fc.option(fc.nat(5_000), { nil: undefined }),
    }),
    fc.record({ kind: fc.constant("result" as const), text: fc.string({ maxLength: 50 }) }),
    fc.constant({ kind: "progress" as const }),
  )

  /** TOK-1 and TOK-2 as specified: go back, find the anchor, add up what follows it. */
  function byTheBook(messages: readonly Message[]): number {
    const rules = estimator()
    const responseOf = (message?: Message) => (message?.type === "assistant" ? message.message : undefined)
    const countOf = (message: Message) => usageTotal(responseOf(message)?.usage ?? usage(0, 0))
    const newest = messages.findLastIndex((message) => countOf(message) > 0)
    const anchor = responseOf(messages[newest])
    const first = anchor ? messages.findIndex((message) => responseOf(message)?.id === anchor.id) : -1
    const counted = Math.max(0, ...messages.filter((m) => responseOf(m)?.id === anchor?.id).map(countOf))
    const estimated = messages
      .slice(first + 1)
      .filter((message) => anchor === undefined || responseOf(message)?.id !== anchor.id)
      .flatMap((message) => (message.type === "user" || message.type === "assistant" ? [message] : []))
      .reduce((sum, { message: { content } }) => {
        const blocks =
          typeof content === "string" ? (content === "" ? [] : [{ type: "text" as const, text: content }]) : content
        return sum + rules.blocks(blocks)
      }, 0)
    return (anchor ? counted : 0) + Math.ceil(estimated - 1e-9)
  }

  test("the meter says at every message what going back over the whole list says", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
        const builder = conversation()
        const meter = new ContextMeter(estimator())
        const ended: string[] = []
        let current: string | undefined
        for (const [number, given] of steps.entries()) {
          if (given.kind === "user") builder.user(given.text)
          else if (given.kind === "result") builder.result(given.text)
          else if (given.kind === "progress") builder.progress()
          else {
            // parts of one response are adjacent, with at most results between them
            if (given.id !== current && current !== undefined) ended.push(current)
            current = ended.includes(given.id) ? `${given.id}_${number}` : given.id
            const response = given.usage === undefined ? { id: current } : { id: current, usage: usage(given.usage, 1) }
            builder.call("Read", { file_path: "f".repeat(number) }, response)
          }
          meter.add(builder.messages.at(-1)!)
          expect(meter.size().tokens).toBe(contextSize(builder.messages, estimator()).tokens)
          expect(Math.abs(meter.size().tokens - byTheBook(builder.messages))).toBeLessThanOrEqual(1) // rounding error
        }
      }),
      { numRuns: size(100, 500), seed: 1 },
    )
  })
})
