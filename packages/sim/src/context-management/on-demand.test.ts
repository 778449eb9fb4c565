/** Compaction on demand: the block, its signature, and what is refused when it comes back. */
import Anthropic from "@anthropic-ai/sdk"
import { describe, expect, test } from "vitest"
import { client, hello, type Json, post, postJson, scripted, simulator } from "../../test/simulator.ts"
import { BETA } from "../api-dialect.ts"
import type { Simulator } from "../start.ts"

const ON_DEMAND = { betas: [BETA.compactOnDemand] }
const compaction = { type: "summarize" as const }
const talk = [
  { role: "user" as const, content: "Count the stones" },
  { role: "assistant" as const, content: "Seven." },
  { role: "user" as const, content: "And the trees" },
  { role: "assistant" as const, content: "Three." },
]
const compact = async (sim: Simulator) =>
  (await postJson(sim, hello({ messages: talk, compaction }), ON_DEMAND)).content[0]
const withSummary = () => simulator({ responder: scripted("<summary>Seven stones, three trees.</summary>") })
const answerTo = (sim: Simulator, ...messages: Json[]) => postJson(sim, hello({ messages }), ON_DEMAND)

describe("BEY-8 compaction on demand", () => {
  test("gives the summary in a signed block, and bills it as an iteration", async () => {
    const sim = await withSummary()
    const message = await client(sim).beta.messages.create({
      model: "claude-opus-5",
      max_tokens: 1000,
      messages: talk,
      compaction,
      betas: [BETA.compactOnDemand],
    })
    expect(message.content).toEqual([
      { type: "compaction", content: "Seven stones, three trees.", signature: expect.any(String) },
    ])
    expect(message.stop_reason).toBe("compaction")
    expect(message.usage).toMatchObject({ input_tokens: 0, output_tokens: 0, iterations: [{ type: "compaction" }] })
    expect(message.usage.iterations![0]!.input_tokens).toBeGreaterThan(20)
  })

  test("in a stream the block comes whole, without deltas", async () => {
    const sim = await withSummary()
    const text = await (await post(sim, hello({ messages: talk, compaction, stream: true }), ON_DEMAND)).text()
    expect(text).toMatch(
      /"content_block_start","index":0,"content_block":\{"type":"compaction","content":"Seven stones/,
    )
    expect(text).not.toMatch(/content_block_delta/)
  })

  test("a summary that does not fit max_tokens, or a responder that calls a tool: no block, and why", async () => {
    const asking = (max_tokens: number) => hello({ messages: talk, compaction, max_tokens })
    const wordy = await withSummary()
    expect(await postJson(wordy, asking(2), ON_DEMAND)).toMatchObject({ content: [], stop_reason: "max_tokens" })
    const busy = await simulator({
      responder: scripted([{ type: "tool_use", id: "toolu_1", name: "look", input: {} }]),
    })
    expect(await postJson(busy, asking(500), ON_DEMAND)).toMatchObject({ content: [], stop_reason: "tool_use" })
  })

  test("the conversation continues after the block", async () => {
    const sim = await withSummary()
    const block = await compact(sim)
    const message = await answerTo(sim, { role: "assistant", content: [block] }, { role: "user", content: "More?" })
    expect(message).toMatchObject({ stop_reason: "end_turn", usage: { iterations: [{ type: "message" }] } })
  })

  test("two assistant messages in a row are allowed after it", async () => {
    const sim = await withSummary()
    const block = await compact(sim)
    const rest = [
      { role: "assistant", content: "Three." },
      { role: "user", content: "More?" },
    ]
    expect(await answerTo(sim, { role: "assistant", content: [block] }, ...rest)).toMatchObject({ type: "message" })
  })

  test("it can be compacted again, with the block first", async () => {
    const sim = await withSummary()
    const block = await compact(sim)
    const messages = [
      { role: "assistant", content: [block] },
      { role: "user", content: "More?" },
    ]
    expect(await postJson(sim, hello({ messages, compaction }), ON_DEMAND)).toMatchObject({ stop_reason: "compaction" })
  })

  test("without the beta header the block is unknown", async () => {
    const sim = await withSummary()
    const block = await compact(sim)
    const { error } = await postJson(
      sim,
      hello({
        messages: [
          { role: "assistant", content: [block] },
          { role: "user", content: "?" },
        ],
      }),
    )
    expect(error.message).toMatch(/^messages\.0\.content\.0: Input tag 'compaction' found using 'type' does not match/)
  })

  test("a changed summary: compaction_content_mismatch", async () => {
    const sim = await withSummary()
    const block = { ...(await compact(sim)), content: "Eight stones." }
    const { error } = await answerTo(sim, { role: "assistant", content: [block] }, { role: "user", content: "?" })
    expect(error.details.error_code).toBe("compaction_content_mismatch")
    expect(error.message).toBe(
      "messages.0.content.0: the `content` of the `compaction` block does not match its `signature`",
    )
  })

  test("nothing after the block: compaction_nothing_to_summarize", async () => {
    const sim = await withSummary()
    const block = await compact(sim)
    const { error } = await postJson(
      sim,
      hello({ messages: [{ role: "assistant", content: [block] }], compaction }),
      ON_DEMAND,
    )
    expect(error.details.error_code).toBe("compaction_nothing_to_summarize")
    expect(error.message).toBe("compaction: there are no messages to summarize after the `compaction` block.")
  })

  test("the SDK has a class for each code", async () => {
    const sim = await withSummary()
    const block = await compact(sim)
    const error = await client(sim)
      .beta.messages.create({
        model: "claude-opus-5",
        max_tokens: 10,
        messages: [...talk, { role: "assistant", content: [block] }, { role: "user", content: "?" }],
        betas: [BETA.compactOnDemand],
      })
      .catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(Anthropic.BadRequestError)
    expect((error as Error).constructor.name).toBe("CompactionBlockMisplacedError")
  })

  test("count_tokens ignores `compaction` and counts the block", async () => {
    const sim = await withSummary()
    const { max_tokens: _, ...body } = hello({ messages: talk, compaction })
    const path = "/v1/messages/count_tokens"
    const whole = (await postJson(sim, body, { ...ON_DEMAND, path })).input_tokens
    const block = await compact(sim)
    const messages = [
      { role: "assistant", content: [block] },
      { role: "user", content: "More?" },
    ]
    const compacted = (await postJson(sim, { model: body.model, messages }, { ...ON_DEMAND, path })).input_tokens
    expect(whole).toBeGreaterThan(0)
    expect(compacted).toBeGreaterThan(0)
  })
})
