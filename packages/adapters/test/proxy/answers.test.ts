import { once } from "node:events"
import { setImmediate } from "node:timers/promises"
import { gzipSync, zstdCompressSync } from "node:zlib"
import Anthropic from "@anthropic-ai/sdk"
import { frozenClock, type SimulatorOptions, scriptedResponder, startSimulator } from "@strata/sim"
import { describe, expect, onTestFinished, test } from "vitest"
import { stringifyExact } from "../../../core/src/messages/exact-json.ts"
import {
  ANSWER_EVENTS,
  ANSWER_MESSAGE,
  ask,
  begin,
  eventText,
  HELLO,
  proxy,
  rawUpstream,
  remembering,
} from "./raw-upstream.ts"

const BODY = { model: "claude-opus-5", max_tokens: 100, messages: [{ role: "user" as const, content: "Hi" }] }
const STREAM = { "content-type": "text/event-stream; charset=utf-8" }

async function simulated(options: Partial<SimulatorOptions> = {}, plan = () => ({})) {
  const sim = await startSimulator({
    responder: scriptedResponder(["Hello there, how are you?"]),
    clock: frozenClock(),
    ...options,
  })
  onTestFinished(() => sim.close())
  const course = remembering(plan)
  const { url } = await proxy({ upstream: sim.url, plans: course.plans })
  const client = new Anthropic({ baseURL: url, apiKey: "sk-test", maxRetries: 0, openTelemetry: false })
  return { sim, client, url, ...course }
}

/** Responds with these bytes in one chunk. */
const streaming = (text: string | Buffer, headers: Readonly<Record<string, string>> = {}) =>
  rawUpstream((response) => response.writeHead(200, { ...STREAM, ...headers }).end(text))

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

describe("BEY-11: the official SDK through the proxy", () => {
  test("gets streamed and whole answers, and the plan has the same message", async () => {
    const { client, calls, sim } = await simulated()
    const streamed = await client.messages.stream(BODY).finalMessage()
    const whole = await client.messages.create(BODY)
    expect(calls.map(({ name }) => name)).toEqual(["take", "answered", "take", "answered"])
    const { parsed_output: _, ...message } = streamed // added by the SDK
    expect(plain(calls[1]!.value)).toEqual(plain(message))
    expect(plain(calls[3]!.value)).toEqual(plain({ ...whole }))
    expect(sim.stats().total.requests).toBe(2)
  })

  test("gets the bytes that it gets without the proxy", async () => {
    const direct = await startSimulator({ responder: scriptedResponder(["Hello there"]), clock: frozenClock() })
    onTestFinished(() => direct.close())
    const { url } = await simulated({ responder: scriptedResponder(["Hello there"]) })
    const body = JSON.stringify({ ...BODY, stream: true })
    const headers = { "x-api-key": "k", "anthropic-version": "2023-06-01", "content-type": "application/json" }
    const [through, straight] = [
      await ask(`${url}/v1/messages`, { headers, body }),
      await ask(`${direct.url}/v1/messages`, { headers, body }),
    ]
    expect(through.body.toString()).toBe(straight.body.toString())
    const withoutTimes = ({ headers: { date: _, connection: __, "keep-alive": ___, ...rest } }: typeof through) => rest
    expect(withoutTimes(through)).toEqual(withoutTimes(straight))
  })

  test("counts tokens and lists models", async () => {
    const { client, calls } = await simulated()
    expect(
      (await client.messages.countTokens({ model: BODY.model, messages: BODY.messages })).input_tokens,
    ).toBeGreaterThan(0)
    expect((await client.models.list()).data.length).toBeGreaterThan(0)
    expect(calls).toEqual([])
  })

  test.each([
    ["rate-limit", 429],
    ["overloaded", 529],
    ["server-error", 500],
  ] as const)("meets %s with its headers", async (kind, status) => {
    const { client, calls } = await simulated({ faults: [{ fault: { kind } }] })
    const error = await client.messages.create(BODY).catch((caught: unknown) => caught)
    expect(error).toMatchObject({ status })
    expect((error as InstanceType<typeof Anthropic.APIError>).headers?.get("request-id")).toMatch(/^req_/)
    if (status === 429) expect((error as InstanceType<typeof Anthropic.APIError>).headers?.get("retry-after")).toBe("1")
    expect(calls).toMatchObject([{ name: "take" }, { name: "refused", value: { status, error: { type: "error" } } }])
  })

  test.each(["cut-socket", "early-end", "stream-error"] as const)(
    "sees a stream end in %s, and the plan has what came",
    async (kind) => {
      const { client, calls } = await simulated({ faults: [{ fault: { kind, afterEvents: 5 } }] })
      await expect(client.messages.stream(BODY).finalMessage()).rejects.toThrow()
      expect(calls.map(({ name }) => name)).toEqual(["take", "brokeOff"])
      expect(calls[1]!.value).toMatchObject({
        role: "assistant",
        content: [{ type: "text", text: expect.stringMatching(/^Hello/) }],
      })
    },
  )

  test("aborts: the server stops at once, and the plan has what came", async () => {
    const { client, called, sim } = await simulated({ faults: [{ fault: { kind: "stall", afterEvents: 4 } }] })
    const stream = client.messages.stream(BODY)
    await once(stream as unknown as NodeJS.EventEmitter, "text")
    stream.abort()
    await stream.done().catch(() => {})
    expect(await called("brokeOff")).toMatchObject({ content: [{ type: "text" }] })
    await expect.poll(() => sim.held).toBe(0)
  })
})

describe("BEY-11: an answer that is parsed while it is relayed", () => {
  test("everything in a stream is put together: unknown blocks, deltas and events too, inputs letter by letter", async () => {
    const text = eventText(ANSWER_EVENTS)
    const { url: upstream } = await streaming(text)
    const { plans, calls } = remembering()
    const { url } = await proxy({ upstream, plans })
    const answer = await ask(`${url}/v1/messages`, { body: HELLO })
    expect(answer.body.toString()).toBe(text)
    expect(plain(calls[1]!.value)).toEqual(ANSWER_MESSAGE)
    expect(stringifyExact(calls[1]!.value)).toContain('"input":{"b": 1.0, "a":"ü"}')
  })

  test.each([
    ["gzip", gzipSync],
    ["zstd", zstdCompressSync],
  ])(
    "a server that packs it with %s against our wish is read, and the client gets it plain",
    async (encoding, pack) => {
      const text = eventText(ANSWER_EVENTS)
      const { url: upstream } = await streaming(pack(text), { "content-encoding": encoding })
      const { plans, calls } = remembering()
      const { url } = await proxy({ upstream, plans })
      const answer = await ask(`${url}/v1/messages`, { body: HELLO })
      expect(answer.headers).not.toHaveProperty("content-encoding")
      expect(answer.body.toString()).toBe(text)
      expect(calls.map(({ name }) => name)).toEqual(["take", "answered"])
    },
  )

  test("events pass as they come; the last one waits for the plan", async () => {
    const more = Promise.withResolvers<void>()
    const kept = Promise.withResolvers<void>()
    const [first, last] = [eventText(ANSWER_EVENTS.slice(0, 3)), eventText(ANSWER_EVENTS.slice(3))]
    const upstream = await rawUpstream(async (response) => {
      response.writeHead(200, STREAM).write(first)
      await more.promise
      response.end(last)
    })
    const { plans, called } = remembering(() => ({ answered: () => kept.promise }))
    const { url } = await proxy({ upstream: upstream.url, plans })
    const { answer } = await begin(`${url}/v1/messages`, { body: HELLO })
    let got = ""
    answer.on("data", (chunk: Buffer) => {
      got += chunk.toString()
    })
    await expect.poll(() => got).toBe(first)
    more.resolve()
    await called("answered")
    await expect.poll(() => got).toBe(eventText(ANSWER_EVENTS.slice(0, -1)))
    kept.resolve()
    await once(answer, "end")
    expect(got).toBe(first + last)
  })

  test("the end of a whole answer waits for the plan, too", async () => {
    const upstream = await rawUpstream((response) =>
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(ANSWER_MESSAGE)),
    )
    const kept = Promise.withResolvers<void>()
    const { plans, called } = remembering(() => ({ answered: () => kept.promise }))
    const { url } = await proxy({ upstream: upstream.url, plans })
    let hasAnswer = false
    const answer = ask(`${url}/v1/messages`, { body: HELLO }).finally(() => {
      hasAnswer = true
    })
    expect(plain(await called("answered"))).toEqual(ANSWER_MESSAGE)
    // a request without a plan passes meanwhile
    expect(await ask(`${url}/v1/models`, { method: "GET" })).toMatchObject({ status: 200, isComplete: true })
    expect(hasAnswer).toBe(false)
    kept.resolve()
    expect(JSON.parse((await answer).body.toString())).toEqual(ANSWER_MESSAGE)
  })

  test.each([
    ["a page of a hotel's network", "text/html", "<p>Log in</p>"],
    ["JSON that is no message", "application/json", '{"type":"completion"}'],
    ["half a text of JSON", "application/json", '{"type":"mess'],
    ["a stream of something else", "text/event-stream", "data: [DONE]\n\n"],
    ["nothing", "text/event-stream", ""],
  ])("%s passes, and is no answer", async (_, type, text) => {
    const upstream = await rawUpstream((response) => response.writeHead(200, { "content-type": type }).end(text))
    const { plans, calls } = remembering()
    const { url } = await proxy({ upstream: upstream.url, plans })
    const answer = await ask(`${url}/v1/messages`, { body: HELLO })
    expect(answer).toMatchObject({ status: 200, isComplete: true, body: Buffer.from(text) })
    expect(calls).toMatchObject([{ name: "take" }, { name: "brokeOff", value: undefined }])
  })

  test("a stream that breaks in the middle of an event breaks there for the client", async () => {
    const text = eventText(ANSWER_EVENTS).slice(0, -10)
    const upstream = await rawUpstream((response) => {
      response.writeHead(200, STREAM).write(text, () => response.socket?.destroySoon())
    })
    const { plans, calls } = remembering()
    const { url } = await proxy({ upstream: upstream.url, plans })
    const answer = await ask(`${url}/v1/messages`, { body: HELLO })
    expect(answer).toMatchObject({ isComplete: false, body: Buffer.from(text) })
    expect(calls.map(({ name }) => name)).toEqual(["take", "brokeOff"])
    expect(plain(calls[1]!.value)).toEqual(ANSWER_MESSAGE) // all blocks arrived, but without the end of the message
  })

  test("a slow client slows the server, and nothing piles up in between", async () => {
    const event = `event: ping\ndata: ${JSON.stringify({ type: "ping", padding: "x".repeat(60_000) })}\n\n`
    let written = 0
    const upstream = await rawUpstream(async (response) => {
      const gone = new AbortController()
      response.on("close", () => gone.abort()).writeHead(200, STREAM)
      for (let count = 0; count < 2000; count++) {
        written += event.length
        if (!response.write(event)) await once(response, "drain", { signal: gone.signal })
      }
    })
    const { plans, called } = remembering()
    const { url } = await proxy({ upstream: upstream.url, plans })
    const { answer, leave } = await begin(`${url}/v1/messages`, { body: HELLO })
    answer.pause().on("error", () => {})
    const hasStopped = async () => {
      const before = written
      await setImmediate()
      return written === before && written > 0
    }
    await expect.poll(hasStopped, { interval: 200, timeout: 60_000 }).toBe(true)
    expect(written).toBeLessThan(60_000_000)
    leave()
    await called("brokeOff")
  })
})

describe("BEY-11: a request that is refused", () => {
  const refusing = (statuses: readonly number[]) => {
    const left = [...statuses]
    return rawUpstream((response) => {
      const status = left.shift() ?? 200
      if (status === 200) return response.writeHead(200, STREAM).end(eventText(ANSWER_EVENTS))
      const error = { type: "error", error: { type: "invalid_request_error", message: `refusal ${status}` } }
      return response
        .writeHead(status, { "content-type": "application/json", "retry-after": "9", "x-left": String(left.length) })
        .end(JSON.stringify(error))
    })
  }

  test("is sent again with the plan's other body, and the client does not see it", async () => {
    const upstream = await refusing([400])
    const { plans, calls } = remembering(() => ({
      body: { messages: [] },
      refused: async () => ({ second: 1, messages: [] }),
    }))
    const { url } = await proxy({ upstream: upstream.url, plans })
    const answer = await ask(`${url}/v1/messages?beta=true`, { headers: { "x-api-key": "k" }, body: HELLO })
    expect(answer).toMatchObject({ status: 200, body: Buffer.from(eventText(ANSWER_EVENTS)) })
    expect(upstream.received.map(({ body }) => body.toString())).toEqual([
      '{"messages":[]}',
      '{"second":1,"messages":[]}',
    ])
    expect(upstream.received[1]).toMatchObject({ url: "/v1/messages?beta=true", headers: { "x-api-key": "k" } })
    expect(calls.map(({ name }) => name)).toEqual(["take", "refused", "answered"])
    expect(calls[1]!.value).toMatchObject({ status: 400, error: { error: { message: "refusal 400" } } })
  })

  test("a second time reaches the client", async () => {
    const upstream = await refusing([400, 429])
    const { plans, calls } = remembering(() => ({ refused: async () => ({}) }))
    const { url } = await proxy({ upstream: upstream.url, plans })
    const answer = await ask(`${url}/v1/messages`, { body: HELLO })
    expect(answer).toMatchObject({ status: 429, headers: { "retry-after": "9", "x-left": "0" } })
    expect(upstream.received).toHaveLength(2)
    expect(calls.map(({ name }) => name)).toEqual(["take", "refused", "refused"])
    expect(calls[2]!.value).toMatchObject({ status: 429, isFinal: true })
  })

  test("with an error that is packed is understood, and passes packed", async () => {
    const packed = gzipSync('{"type":"error"}')
    const upstream = await rawUpstream((response) =>
      response.writeHead(529, { "content-encoding": "gzip" }).end(packed),
    )
    const { plans, calls } = remembering()
    const { url } = await proxy({ upstream: upstream.url, plans })
    const answer = await ask(`${url}/v1/messages`, { body: HELLO })
    expect(answer).toMatchObject({ status: 529, headers: { "content-encoding": "gzip" }, body: packed })
    expect(calls[1]).toEqual({ name: "refused", value: { status: 529, error: { type: "error" } } })
  })
})
