/** One test per fault, as the official SDK sees it. */
import Anthropic from "@anthropic-ai/sdk"
import { describe, expect, test } from "vitest"
import { client, hello, post, postJson, scripted, simulator } from "../test/simulator.ts"
import type { FaultRule } from "./faults.ts"

const LONG = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
const body = { model: "claude-opus-5", max_tokens: 100, messages: [{ role: "user" as const, content: "Hello" }] }
const failing = (...faults: FaultRule[]) => simulator({ responder: scripted(LONG, LONG, LONG), faults })

const thrownBy = async (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  )

describe("BEY-8 faults", () => {
  test("rate limit: 429 with retry-after, which the SDK obeys", async () => {
    const sim = await failing({ fault: { kind: "rate-limit", retryAfterSeconds: 7 }, nth: 1 })
    const error = (await thrownBy(client(sim).messages.create(body))) as InstanceType<typeof Anthropic.RateLimitError>
    expect(error).toBeInstanceOf(Anthropic.RateLimitError)
    expect(error.headers?.get("retry-after")).toBe("7")
    expect(error.apiMessage).toMatch(/^This request would exceed your organization's rate limit/)
    expect((await client(sim).messages.create(body)).stop_reason).toBe("end_turn")
  })

  test("rate limit without retry-after", async () => {
    const sim = await failing({ fault: { kind: "rate-limit", retryAfterSeconds: null } })
    const response = await post(sim, body)
    expect(response.status).toBe(429)
    expect(response.headers.has("retry-after")).toBe(false)
  })

  test("the SDK retries a 429 until it is answered", async () => {
    const sim = await failing({ fault: { kind: "rate-limit", retryAfterSeconds: 0.01 }, times: 2 })
    const message = await client(sim, { maxRetries: 2 }).messages.create(body)
    expect(message.stop_reason).toBe("end_turn")
    expect(sim.log.map(({ status }) => status)).toEqual([429, 429, 200])
  })

  test("overloaded: 529", async () => {
    const sim = await failing({ fault: { kind: "overloaded" } })
    const error = await thrownBy(client(sim).messages.create(body))
    expect(error).toBeInstanceOf(Anthropic.InternalServerError)
    expect(error).toMatchObject({ status: 529, type: "overloaded_error", apiMessage: "Overloaded" })
  })

  test("server error: 500", async () => {
    const sim = await failing({ fault: { kind: "server-error" } })
    expect(await thrownBy(client(sim).messages.create(body))).toMatchObject({ status: 500, type: "api_error" })
  })

  test("timeout: the client gives up first, or gets 504 after the time", async () => {
    const sim = await failing({ fault: { kind: "timeout" } })
    expect(await thrownBy(client(sim).messages.create(body, { timeout: 50 }))).toBeInstanceOf(
      Anthropic.APIConnectionTimeoutError,
    )
    const waiting = thrownBy(client(sim).messages.create(body))
    const tick = setInterval(() => sim.clock.advance(600_000), 10)
    expect(await waiting).toMatchObject({ status: 504, type: "timeout_error" })
    clearInterval(tick)
  })

  test("stream error: a good beginning, then an error event, which the SDK does not retry", async () => {
    const sim = await failing({ fault: { kind: "stream-error", afterEvents: 5 } })
    const error = await thrownBy(client(sim, { maxRetries: 2 }).messages.stream(body).finalMessage())
    expect(error).toBeInstanceOf(Anthropic.APIError)
    expect(error).toMatchObject({ status: undefined, type: "overloaded_error" })
    expect(sim.log).toHaveLength(1)
  })

  test("cut socket in a stream: some text, then the connection is gone", async () => {
    const sim = await failing({ fault: { kind: "cut-socket", afterEvents: 5 } })
    const stream = client(sim).messages.stream(body)
    let text = ""
    stream.on("text", (more) => {
      text += more
    })
    // once the stream has begun the SDK throws its base class, not an APIConnectionError
    expect(await thrownBy(stream.finalMessage())).toBeInstanceOf(Anthropic.AnthropicError)
    expect(LONG.startsWith(text)).toBe(true)
    expect(text.length).toBeGreaterThan(0)
  })

  test("cut socket without a stream", async () => {
    const sim = await failing({ fault: { kind: "cut-socket" } })
    expect(await thrownBy(client(sim).messages.create(body))).toBeInstanceOf(Anthropic.APIConnectionError)
  })

  test("early end: the stream ends after its first event", async () => {
    const sim = await failing({ fault: { kind: "early-end", afterEvents: 1 } })
    const error = await thrownBy(client(sim).messages.stream(body).finalMessage())
    expect(error).toBeInstanceOf(Anthropic.AnthropicError)
    expect(error).not.toBeInstanceOf(Anthropic.APIError)
  })

  test("slow stream: nothing comes until the clock moves", async () => {
    const sim = await failing({ fault: { kind: "slow-stream", delayMs: 60_000 } })
    const stream = client(sim).messages.stream(body)
    const tick = setInterval(() => sim.clock.advance(60_000), 1)
    expect(await stream.finalText()).toBe(LONG)
    clearInterval(tick)
    expect(sim.clock.now() - Date.UTC(2026, 10, 15)).toBeGreaterThan(5 * 60_000)
  })

  test("failed compaction on demand: no block, and no error", async () => {
    const sim = await failing({ fault: { kind: "failed-compaction" } })
    const message = await postJson(sim, hello({ compaction: { type: "summarize" } }), { betas: ["compact-2026-09-04"] })
    expect(message).toMatchObject({ content: [], stop_reason: "end_turn" })
  })
})

describe("BEY-8 when faults happen", () => {
  const statuses = async (rules: FaultRule[], requests: object[], seed = 1) => {
    const sim = await simulator({ faults: rules, seed })
    const seen: number[] = []
    for (const request of requests) seen.push((await post(sim, request)).status)
    return seen
  }
  const hellos = (count: number) => Array.from({ length: count }, () => hello())
  const overloaded = { kind: "overloaded" } as const

  test("on the nth request", async () => {
    expect(await statuses([{ fault: overloaded, nth: 2 }], hellos(3))).toEqual([200, 529, 200])
  })

  test("a limited number of times", async () => {
    expect(await statuses([{ fault: overloaded, times: 2 }], hellos(3))).toEqual([529, 529, 200])
  })

  test("above a number of tokens", async () => {
    const long = hello({ messages: [{ role: "user", content: "word ".repeat(200) }] })
    expect(await statuses([{ fault: overloaded, overTokens: 100 }], [hello(), long, hello()])).toEqual([200, 529, 200])
  })

  test("with a probability, the same for the same seed", async () => {
    const rules = [{ fault: overloaded, probability: 0.5 }]
    const first = await statuses(rules, hellos(20), 7)
    expect(new Set(first)).toEqual(new Set([200, 529]))
    expect(await statuses(rules, hellos(20), 7)).toEqual(first)
  })

  test("never on an invalid request, which does not count", async () => {
    const invalid = hello({ colour: "red" })
    expect(await statuses([{ fault: overloaded, nth: 1 }], [invalid, hello(), hello()])).toEqual([400, 529, 200])
  })

  test("the first rule that applies wins, and rules can change", async () => {
    const sim = await simulator({ faults: [{ fault: { kind: "server-error" }, times: 1 }, { fault: overloaded }] })
    expect((await post(sim, hello())).status).toBe(500)
    expect((await post(sim, hello())).status).toBe(529)
    sim.faults.set([])
    expect((await post(sim, hello())).status).toBe(200)
  })
})
