import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import Anthropic from "@anthropic-ai/sdk"
import fc from "fast-check"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { size } from "../../core/test/size.ts"
import { closeStrata, withStrata } from "../src/anthropic.ts"

const RUNS = Number(process.env.FUZZ_RUNS ?? size(6, 25))
const MODEL = "claude-opus-5-5"
const TOOLS = [{ name: "look", input_schema: { type: "object" as const } }]

let dir: string
let count = 0
const newId = () => `conversation-${count++}`
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "strata-streams-"))
})
afterEach(async () => {
  await closeStrata()
  rmSync(dir, { recursive: true, force: true })
})

type Kind = "text" | "thinking" | "Recall" | "look"
type Round = readonly Kind[]
type Event = Record<string, unknown> & { readonly type: string }

/** The events of a response. */
function eventsOf(round: Round, number: number): readonly Event[] {
  const usage = { input_tokens: 100 + number, cache_read_input_tokens: 10 * number, output_tokens: 1 }
  const message = { id: `msg_${number}`, type: "message", role: "assistant", model: MODEL, content: [] }
  const isCalling = round.some((kind) => kind === "Recall" || kind === "look")
  return [
    { type: "message_start", message: { ...message, stop_reason: null, stop_sequence: null, usage } },
    { type: "ping" },
    ...round.flatMap((kind, index) => blockEvents(kind, index, number)),
    {
      type: "message_delta",
      delta: { stop_reason: isCalling ? "tool_use" : "end_turn", stop_sequence: null },
      usage: { output_tokens: 7 },
    },
    { type: "message_stop" },
  ]
}

function blockEvents(kind: Kind, index: number, number: number): readonly Event[] {
  const start = (content_block: unknown): Event => ({ type: "content_block_start", index, content_block })
  const delta = (value: unknown): Event => ({ type: "content_block_delta", index, delta: value })
  const stop: Event = { type: "content_block_stop", index }
  if (kind === "text")
    return [start({ type: "text", text: "" }), delta({ type: "text_delta", text: `said ${number}.${index}` }), stop]
  if (kind === "thinking")
    return [
      start({ type: "thinking", thinking: "", signature: "" }),
      delta({ type: "thinking_delta", thinking: "hm" }),
      delta({ type: "signature_delta", signature: `s${number}${index}` }),
      stop,
    ]
  const input = kind === "Recall" ? '{"search":"port"}' : '{"at":1}'
  return [
    start({ type: "tool_use", id: `toolu_${kind}_${number}_${index}_abcdefghijklm`, name: kind, input: {} }),
    delta({ type: "input_json_delta", partial_json: input.slice(0, 5) }),
    delta({ type: "input_json_delta", partial_json: input.slice(5) }),
    stop,
  ]
}

const written = (event: Event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`

interface Script {
  readonly rounds: readonly Round[]
  /** Number of events of the last response after which the connection is lost. */
  readonly cut?: number
  /** An error that the server reports instead. */
  readonly error?: "event" | "status"
}

interface Sent {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[]
  readonly tools?: readonly { readonly name: string }[]
  readonly stream?: boolean
}

/** A server with one scripted response for each request, in chunks of any size. */
function playing({ rounds, cut, error }: Script, pieces: number) {
  const received: Sent[] = []
  const send: typeof fetch = async (_, init) => {
    const sent = JSON.parse(Buffer.from(init!.body as Uint8Array).toString()) as Sent
    received.push(sent)
    const number = Math.min(received.length, rounds.length) - 1
    const isLast = received.length === rounds.length
    const failure = { type: "error", error: { type: "overloaded_error", message: "too busy" } }
    if (isLast && error === "status" && number > 0) return Response.json(failure, { status: 529 })
    const events = eventsOf(rounds[number] ?? ["text"], number)
    if (!sent.stream) return Response.json(assembled(events))
    const isCut = isLast && cut !== undefined
    const sentEvents = isCut ? [...events.slice(0, cut), ...(error === "event" ? [failure as Event] : [])] : events
    const bytes = Buffer.from(sentEvents.map(written).join(""))
    let at = 0
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (at >= bytes.length)
          return isCut && error !== "event" ? controller.error(new Error("connection lost")) : controller.close()
        controller.enqueue(bytes.subarray(at, at + pieces))
        at += pieces
      },
    })
    return new Response(body, { headers: { "content-type": "text/event-stream" } })
  }
  const client = new Anthropic({ apiKey: "k", baseURL: "http://127.0.0.1:9", maxRetries: 0, fetch: send })
  return { received, client }
}

interface PlayedEvent {
  readonly type: string
  readonly index: number
  readonly content_block: Record<string, unknown>
  readonly delta: Record<string, string>
}

/** The message assembled from the events. */
function assembled(events: readonly Event[]): unknown {
  const [start] = events as unknown as [{ message: Record<string, unknown> & { usage: object } }]
  const content: Record<string, unknown>[] = []
  for (const event of events as unknown as readonly PlayedEvent[]) {
    if (event.type === "content_block_start") content.push({ ...event.content_block })
    if (event.type === "content_block_delta") {
      const block = content[event.index]!
      const { type: _, partial_json, ...parts } = event.delta
      if (partial_json) block.json = `${block.json ?? ""}${partial_json}`
      for (const [name, text] of Object.entries(parts)) block[name] = `${block[name] ?? ""}${text}`
    }
  }
  const last = events.at(-2) as unknown as { delta: object; usage: object }
  const whole = content.map(({ json, ...block }) => (json ? { ...block, input: JSON.parse(String(json)) } : block))
  return { ...start.message, ...last.delta, content: whole, usage: { ...start.message.usage, ...last.usage } }
}

const kinds = (...of: Kind[]) => fc.array(fc.constantFrom(...of), { maxLength: 3 })
const asking = fc
  .tuple(kinds("text", "thinking", "Recall"), kinds("text", "Recall"))
  .map(([before, after]): Round => [...before, "Recall", ...after])
const rounds = fc
  .tuple(fc.array(asking, { maxLength: 3 }), kinds("text", "thinking", "Recall", "look"))
  .map(([before, last]): readonly Round[] => [...before, ...(isOnlyRecall(last) ? [["text" as const]] : [last])])
const isOnlyRecall = (round: Round) => round.includes("Recall") && !round.includes("look")

/** The blocks that the client would have seen without Recall. */
const visible = (all: readonly Round[]) => all.flat().filter((kind) => kind !== "Recall")
const kindsIn = (content: readonly { type: string; name?: string }[]) =>
  content.map(({ type, name }) => (type === "tool_use" ? name : type))

describe("BEY-11 Recall in a client's stream", () => {
  test.each([true, false])("is answered inside it and never seen, streaming %s", async (isStreaming) => {
    await fc.assert(
      fc.asyncProperty(rounds, fc.integer({ min: 1, max: 400 }), async (script, pieces) => {
        const { received, client } = playing({ rounds: script }, pieces)
        const strata = withStrata(client, { dir, recall: "always", conversation: newId() })
        const messages: Anthropic.MessageParam[] = [{ role: "user", content: "Which port was it?" }]
        const ask = () => {
          const body = { model: MODEL, max_tokens: 500, tools: TOOLS, messages }
          return isStreaming ? strata.messages.stream(body).finalMessage() : strata.messages.create(body)
        }
        const answer = await ask()
        expect(received).toHaveLength(script.length)
        expect(kindsIn(answer.content)).toEqual(visible(script))
        const last = script.length - 1
        expect(answer.usage).toMatchObject({ input_tokens: 100 + last, output_tokens: 7 * script.length })
        expect(answer.stop_reason).toBe(script.at(-1)!.includes("look") ? "tool_use" : "end_turn")

        // the next request extends the previous one, and answers every call
        messages.push({ role: "assistant", content: answer.content })
        const calls = answer.content.filter((block) => block.type === "tool_use")
        const results = calls.map(({ id }) => ({ type: "tool_result" as const, tool_use_id: id, content: "8080" }))
        messages.push({ role: "user", content: [...results, { type: "text", text: "Go on." }] })
        await ask()
        const next = received.at(-1)!
        const bare = (sent: Sent) => JSON.stringify(sent.messages).replaceAll(/,"cache_control":\{[^}]*\}/g, "")
        expect(bare(next).startsWith(bare(received.at(-2)!).slice(0, -1))).toBe(true)
        expect(unanswered(next)).toEqual([])
        expect(next.tools?.map(({ name }) => name)).toEqual(["Recall", "look"])
      }),
      { numRuns: RUNS },
    )
  })

  test("cut at any event, the SDK gets an error of the API, and never our tool", async () => {
    const failing = fc.record({
      rounds,
      cut: fc.integer({ min: 0, max: 12 }),
      error: fc.constantFrom(undefined, "event" as const, "status" as const),
    })
    await fc.assert(
      fc.asyncProperty(failing, fc.integer({ min: 1, max: 400 }), async ({ error, ...script }, pieces) => {
        const { client } = playing({ ...script, ...(error ? { error } : {}) }, pieces)
        const strata = withStrata(client, { dir, recall: "always", conversation: newId() })
        const body = {
          model: MODEL,
          max_tokens: 500,
          tools: TOOLS,
          messages: [{ role: "user" as const, content: "Go." }],
        }
        const stream = strata.messages.stream(body)
        const seen: string[] = []
        stream.on("streamEvent", (event) => seen.push(JSON.stringify(event)))
        const failure = await stream.finalMessage().then(
          () => undefined,
          (reason: unknown) => reason,
        )
        const isWhole = error !== "status" && script.cut >= eventsOf(script.rounds.at(-1)!, 0).length
        const direct = await playing(
          { rounds: [script.rounds.at(-1)!], cut: script.cut, ...(error ? { error } : {}) },
          pieces,
        )
          .client.messages.stream(body)
          .finalMessage()
          .then(
            () => undefined,
            (reason: unknown) => reason,
          )
        if (script.rounds.length === 1) expect(String(failure)).toBe(String(direct))
        else if (isWhole) expect(failure).toBeUndefined()
        else expect(failure).toBeInstanceOf(Anthropic.APIError)
        expect(seen.join()).not.toContain("Recall")
      }),
      { numRuns: RUNS },
    )
  })

  test.each([true, false])(
    "where JSON is wanted, words before Recall are no part of it, streaming %s",
    async (isStreaming) => {
      const { received, client } = playing(
        { rounds: [["text", "Recall"], ["thinking", "text", "Recall"], ["text"]] },
        50,
      )
      const strata = withStrata(client, { dir, recall: "always", conversation: newId() })
      const messages: Anthropic.MessageParam[] = [{ role: "user", content: "Which port?" }]
      const ask = () => {
        const format = { type: "json_schema" as const, schema: { type: "object" } }
        const body = { model: MODEL, max_tokens: 500, tools: TOOLS, messages, output_config: { format } }
        return isStreaming ? strata.messages.stream(body).finalMessage() : strata.messages.create(body)
      }
      const { content } = await ask()
      expect(content).toMatchObject([{ type: "thinking" }, { type: "text", text: "said 2.0" }])
      messages.push({ role: "assistant", content }, { role: "user", content: "Go on." })
      await ask()
      expect(unanswered(received.at(-1)!)).toEqual([])
      expect(JSON.stringify(received.at(-1)!.messages)).toContain("said 0.0") // the model sees its own text
    },
  )

  test("a model that asks for ever ends with what it has", async () => {
    const { received, client } = playing({ rounds: Array.from({ length: 40 }, (): Round => ["text", "Recall"]) }, 100)
    const strata = withStrata(client, { dir, recall: "always" })
    const answer = await strata.messages
      .stream({ model: MODEL, max_tokens: 500, tools: TOOLS, messages: [{ role: "user", content: "Go." }] })
      .finalMessage()
    expect(answer.stop_reason).toBe("end_turn")
    expect(received.length).toBeLessThan(20)
    expect(JSON.stringify(received.at(-1))).toContain("often enough")
  })

  test("off with one option, and absent where the client has no tools or one of that name", async () => {
    const own = [{ name: "Recall", input_schema: { type: "object" as const } }]
    for (const [options, tools, sent] of [
      [{ recall: false }, TOOLS, ["look"]],
      [{}, undefined, undefined],
      [{}, own, ["Recall"]],
    ] as const) {
      const { received, client } = playing({ rounds: [["text"]] }, 100)
      const strata = withStrata(client, { dir, recall: "always", ...options, conversation: newId() })
      const messages = [{ role: "user" as const, content: "Go." }]
      await strata.messages.create({ model: MODEL, max_tokens: 500, messages, ...(tools ? { tools: [...tools] } : {}) })
      expect(received[0]!.tools?.map(({ name }) => name)).toEqual(sent)
    }
  })
})

/** Calls without a result in the next message. */
function unanswered({ messages }: Sent): readonly string[] {
  return messages.flatMap(({ content }, at) => {
    const next = JSON.stringify(messages[at + 1] ?? "")
    const blocks = Array.isArray(content) ? (content as { type: string; id: string }[]) : []
    return blocks.flatMap(({ type, id }) => (type === "tool_use" && !next.includes(`"tool_use_id":"${id}"`) ? id : []))
  })
}
