/** Unexpected streams of servers and behavior of programs: the SDK gets the same as without Strata, and the conversation continues. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import Anthropic from "@anthropic-ai/sdk"
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { isWhole } from "../../core/test/size.ts"
import { closeStrata, withStrata } from "../src/anthropic.ts"
import type { StrataOptions } from "../src/options.ts"

const MODEL = "claude-opus-5-5"
const TOOLS = [{ name: "look", input_schema: { type: "object" as const } }]

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "strata-odd-"))
})
afterEach(async () => {
  await closeStrata()
  rmSync(dir, { recursive: true, force: true })
})

type Block = Record<string, unknown> & { readonly type: string }
interface PlayedStream {
  readonly content: readonly Block[]
  readonly stop?: string
  /** Inserted between any two events. */
  readonly between?: string
}
interface Sent {
  readonly stream?: boolean
  readonly messages: readonly { readonly role: string; readonly content: unknown }[]
}

const textBlock = (text: string): Block => ({ type: "text", text })
const called = (id: string, name: string, input: object = {}): Block => ({ type: "tool_use", id, name, input })
const RECALL = called("toolu_01A2b3C4d5E6f7G8h9", "Recall", { search: "port" })

function streamOf({ content, stop, between = "" }: PlayedStream, id: string): string {
  const usage = { input_tokens: 10, output_tokens: 1 }
  const head = { id, type: "message", role: "assistant", model: MODEL, content: [], stop_reason: null, usage }
  const blocks = content.flatMap((block, index) => {
    const { input, text, ...rest } = block
    const empty = "text" in block ? { ...rest, text: "" } : "input" in block ? { ...rest, input: {} } : block
    const delta =
      "text" in block
        ? [{ type: "text_delta", text }]
        : "input" in block
          ? [{ type: "input_json_delta", partial_json: JSON.stringify(input) }]
          : []
    return [
      { type: "content_block_start", index, content_block: empty },
      ...delta.map((each) => ({ type: "content_block_delta", index, delta: each })),
      { type: "content_block_stop", index },
    ]
  })
  const stop_reason = stop ?? (content.some(({ type }) => type === "tool_use") ? "tool_use" : "end_turn")
  return [
    { type: "message_start", message: head },
    ...blocks,
    { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 7 } },
    { type: "message_stop" },
  ]
    .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n${between}`)
    .join("")
}

function server(...answers: PlayedStream[]) {
  const sent: Sent[] = []
  let held: { refuses: boolean; readonly begin: () => void; readonly ended: Promise<void> } | undefined
  /** Makes the next request too long. Those after it wait for `end`. */
  const hangs = () => {
    const [begun, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    held = { refuses: true, begin: begun.resolve, ended: ended.promise }
    return { begun: begun.promise, end: ended.resolve }
  }
  const send: typeof fetch = async (_, init) => {
    init?.signal?.throwIfAborted()
    const body = JSON.parse(String(Buffer.from(init!.body as Uint8Array))) as Sent
    sent.push(body)
    if (held?.refuses) {
      held.refuses = false
      const message = "prompt is too long: 300000 tokens > 200000 maximum"
      return Response.json({ type: "error", error: { type: "invalid_request_error", message } }, { status: 400 })
    }
    held?.begin()
    await held?.ended
    const played = answers[sent.length - 1] ?? { content: [textBlock("Fine.")] }
    const id = `msg_${sent.length}`
    if (body.stream)
      return new Response(streamOf(played, id), { headers: { "content-type": "text/event-stream; charset=utf-8" } })
    const isCalling = played.content.some(({ type }) => type === "tool_use")
    const stop_reason = played.stop ?? (isCalling ? "tool_use" : "end_turn")
    const usage = { input_tokens: 10, output_tokens: 8 }
    return Response.json({ id, type: "message", role: "assistant", model: MODEL, ...played, stop_reason, usage })
  }
  const plain = new Anthropic({ apiKey: "k", baseURL: "http://127.0.0.1:9", maxRetries: 0, fetch: send })
  const strata = (options: StrataOptions = {}) =>
    withStrata(plain, { dir, conversation: "one", recall: "always", ...options })
  return { sent, strata, hangs }
}

const asked = (messages: Anthropic.MessageParam[]) => ({ model: MODEL, max_tokens: 100, tools: TOOLS, messages })
const BEGUN: Anthropic.MessageParam = { role: "user", content: "The port is 4711. Which one is it?" }

/** Every call is answered in the next message, and nothing is empty. */
function isValid({ messages }: Sent): boolean {
  return messages.every(({ role, content }, at) => {
    const blocks = (typeof content === "string" ? [textBlock(content)] : content) as Block[]
    if (blocks.length === 0) return false
    const calls = blocks.filter(({ type }) => type === "tool_use").map(({ id }) => id)
    const next = JSON.stringify(messages[at + 1] ?? {})
    return role === "user" || calls.every((id) => next.includes(`"tool_use_id":"${id}"`))
  })
}

describe("BEY-11 odd streams", () => {
  test.each(["event: ping\ndata:\n\n", "event: ping\ndata: null\n\n", ": alive\n\n", "event: ping\ndata: pong\n\n"])(
    "a sign of life in any form, %j",
    async (between) => {
      const { strata } = server(
        { content: [textBlock("I look."), RECALL], between },
        { content: [textBlock("4711.")], between },
      )
      const answer = await strata()
        .messages.stream(asked([BEGUN]))
        .finalMessage()
      expect(answer.content.map((block) => block.type === "text" && block.text)).toEqual(["I look.", "4711."])
      const [row] = await strata().strata.status()
      expect(row!.sent).toBeGreaterThan(0) // the response was recorded
    },
  )

  test.each(["max_tokens", "refusal", "pause_turn", "model_context_window_exceeded"])(
    "an answer that ends with %s in a call of Recall",
    async (stop) => {
      for (const streams of [true, false]) {
        const { sent, strata } = server({ content: [RECALL], stop }, { content: [textBlock("Yes.")] })
        const client = strata({ conversation: `${stop}-${streams}` })
        const ask = (messages: Anthropic.MessageParam[]) =>
          streams ? client.messages.stream(asked(messages)).finalMessage() : client.messages.create(asked(messages))
        const answer = await ask([BEGUN])
        expect([answer.content, answer.stop_reason]).toEqual([[], stop])
        await ask([BEGUN, { role: "user", content: "Go on." }])
        expect(sent.map(isValid)).toEqual([true, true])
        await ask([BEGUN, { role: "assistant", content: [] }, { role: "user", content: "Go on." }])
        expect(sent.map(isValid)).toEqual([true, true, true])
      }
    },
  )

  test("a stream that a program never reads does not keep the next request from being managed", async () => {
    const { sent, strata } = server()
    const client = strata()
    const list: Anthropic.MessageParam[] = [BEGUN]
    const { content } = await client.messages.create(asked(list))
    list.push({ role: "assistant", content }, { role: "user", content: "Are you there?" })
    await client.messages.create({ ...asked(list), stream: true })
    await client.messages.create(asked([...list.slice(0, 2), { role: "user", content: "Hello?" }]))
    await client.messages.create(asked([...list.slice(0, 2), { role: "user", content: "Hello again?" }]))
    expect(sent).toHaveLength(4)
    const rows = await client.strata.status()
    expect(rows.map(({ requests, passedThrough }) => [requests, passedThrough])).toEqual([[4, undefined]])
  })

  test.runIf(isWhole)(
    "a program that goes away while Strata compacts does not wait for it, and can ask again",
    async () => {
      const { sent, strata, hangs } = server()
      const client = strata()
      const long = (number: number): Anthropic.MessageParam[] => [
        { role: "user", content: `Part ${number}. ${"words of a long text ".repeat(2_000)}` },
        { role: "assistant", content: `I have read part ${number}.` },
      ]
      const list: Anthropic.MessageParam[] = [
        ...[1, 2, 3, 4, 5, 6, 7, 8].flatMap(long),
        { role: "user", content: "And now?" },
      ]
      const isShorter = () => JSON.stringify(sent.at(-1)!.messages).length < JSON.stringify(list).length
      const gone = new AbortController()
      const compacting = hangs()
      const answer = client.messages.create(asked(list), { signal: gone.signal }).catch((error: unknown) => error)
      await compacting.begun
      gone.abort()
      expect(await answer).toBeInstanceOf(Anthropic.APIUserAbortError)
      compacting.end()
      // on a slow machine the first may still be ending; then one more is sent unchanged
      let asks = 0
      do expect((await client.messages.create(asked(list))).content).toMatchObject([{ text: "Fine." }])
      while (++asks < 5 && !isShorter())
      expect(isShorter()).toBe(true)
    },
  )

  test("tool runners of the SDK work, and never see Recall", async () => {
    const { sent, strata } = server(
      { content: [textBlock("I look."), RECALL, called("toolu_01B2b3C4d5E6f7G8h9", "look", { at: 1 })] },
      { content: [{ ...RECALL, id: "toolu_01C2b3C4d5E6f7G8h9" }] },
      { content: [textBlock("It is 4711.")] },
    )
    const look = betaTool({
      name: "look",
      description: "Looks.",
      inputSchema: { type: "object", properties: {} } as const,
      run: () => "seen",
    })
    const runner = strata().beta.messages.toolRunner({ ...asked([BEGUN]), tools: [look] } as never)
    const last = (await runner.runUntilDone()) as Anthropic.Beta.BetaMessage
    expect(last.content).toMatchObject([{ type: "text", text: "It is 4711." }])
    expect(sent.map(isValid)).toEqual([true, true, true])
  })

  test("a server that answers a request for a stream with JSON", async () => {
    const { strata } = server()
    const client = strata()
    const answer = await client.messages.create({ ...asked([BEGUN]), stream: true }).asResponse()
    expect(await answer.text()).toContain("Fine.")
  })

  test("ids of calls that are the same in every answer: the model sees what came of each call", async () => {
    const call = called("call_1", "look")
    const recall = { ...RECALL, id: "call_1" }
    const { sent, strata } = server(
      { content: [recall] },
      { content: [call] },
      { content: [textBlock("The first.")] },
      { content: [call] },
      { content: [textBlock("The second.")] },
    )
    const list: Anthropic.MessageParam[] = []
    for (const number of [1, 2]) {
      list.push({ role: "user", content: `Question ${number}?` })
      for (const isCall of [true, false]) {
        const { content } = await strata().messages.create(asked(list))
        list.push({ role: "assistant", content })
        if (!isCall) continue
        expect(content).toMatchObject([{ name: "look" }])
        const result = { type: "tool_result" as const, tool_use_id: "call_1", content: `Result ${number}.` }
        list.push({ role: "user", content: [result] })
      }
      expect(JSON.stringify(sent.at(-1)!.messages.at(-1))).toContain(`Result ${number}.`)
    }
    expect(sent.map(isValid)).toEqual([true, true, true, true, true])
  })
})
