/** LOOP-5: one test per failure of the API. Temporary failures are retried visibly, permanent ones are not. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { setImmediate as nextTurn } from "node:timers/promises"
import { describe, expect, onTestFinished, test, vi } from "vitest"
import type { Fault, FaultRule } from "../../../../sim/src/faults.ts"
import { scripted, simulator } from "../../../../sim/test/simulator.ts"
import {
  AuthenticationError,
  ConnectionLostError,
  InvalidModelRequestError,
  ModelAbortedError,
  OverloadedError,
  PromptTooLongError,
  RateLimitedError,
  SpendLimitError,
} from "../../../src/model/errors.ts"
import { ask, LONG_TEXT, modelAt, noWaiting, play } from "./model.ts"

const failing = (...faults: FaultRule[]) => simulator({ responder: scripted(LONG_TEXT, LONG_TEXT, LONG_TEXT), faults })

describe("LOOP-5 temporary failures are retried", () => {
  test.each<[string, Fault, string]>([
    ["a rate limit", { kind: "rate-limit" }, "rate limit (429)"],
    ["overload", { kind: "overloaded" }, "overloaded (529)"],
    ["a server error", { kind: "server-error" }, "server error (500)"],
    ["a server's timeout", { kind: "timeout", afterMs: 0 }, "server error (504)"],
    ["an error event in the stream", { kind: "stream-error", afterEvents: 6 }, "overloaded"],
    ["a connection cut in the stream", { kind: "cut-socket", afterEvents: 6 }, "connection lost: "],
    ["a connection cut before", { kind: "cut-socket", afterEvents: 0 }, "connection lost: "],
    ["a stream that ends too soon", { kind: "early-end", afterEvents: 6 }, "connection lost: the answer ended early"],
    ["a stream that ends at once", { kind: "early-end", afterEvents: 1 }, "connection lost: "],
  ])("%s", async (_, fault, reason) => {
    const sim = await failing({ fault, times: 2 })
    const { text, retries, response, error } = await play(modelAt(sim))
    expect(error).toBeUndefined()
    expect(retries.map(({ attempt }) => attempt)).toEqual([1, 2])
    for (const retry of retries) expect(retry.reason).toContain(reason)
    expect(text).toBe(LONG_TEXT)
    expect(response?.content).toMatchObject([{ text: LONG_TEXT }])
    expect(sim.log).toHaveLength(3)
  })

  test("retry-after is honoured; without it our own backoff applies", async () => {
    const sim = await failing(
      { fault: { kind: "rate-limit", retryAfterSeconds: 7 }, nth: 1 },
      { fault: { kind: "overloaded" }, nth: 2 },
    )
    const { waited, options } = noWaiting()
    const { retries } = await play(modelAt(sim, options))
    expect(waited).toEqual([7000, 1000])
    expect(retries.map(({ delayMs }) => delayMs)).toEqual(waited)
  })

  test("a client's own timeout", async () => {
    const sim = await failing({ fault: { kind: "no-answer" }, times: 1 })
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    onTestFinished(() => void vi.useRealTimers())
    const playing = play(modelAt(sim, { timeoutMs: 200_000 }))
    while (sim.held === 0) await nextTurn()
    vi.advanceTimersByTime(200_000)
    const { retries, text } = await playing
    expect(retries[0]?.reason).toBe("connection lost: Request timed out.")
    expect(text).toBe(LONG_TEXT)
  })

  test("a server that is not there", async () => {
    const server = createServer().listen(0, "127.0.0.1")
    await new Promise((resolve) => server.once("listening", resolve))
    const { port } = server.address() as AddressInfo
    await new Promise((resolve) => server.close(resolve))
    const url = `http://127.0.0.1:${port}`
    const { waited, options } = noWaiting()
    const { error, retries } = await play(modelAt({ url } as never, options))
    expect(error).toMatchObject({ name: "ConnectionLostError", isUnreachable: true, attempts: 4 })
    expect(error).toHaveProperty("message", expect.stringContaining(`cannot be reached at ${url} after 4 attempts`))
    expect(retries[0]).toMatchObject({ reason: `no server at ${url}: ECONNREFUSED` })
    expect(waited).toHaveLength(3)
  })
})

describe("LOOP-5 retries come to an end", () => {
  test.each<[Fault, new (...args: never[]) => Error]>([
    [{ kind: "rate-limit" }, RateLimitedError],
    [{ kind: "overloaded" }, OverloadedError],
    [{ kind: "server-error" }, OverloadedError],
    [{ kind: "stream-error" }, OverloadedError],
    [{ kind: "cut-socket" }, ConnectionLostError],
    [{ kind: "early-end" }, ConnectionLostError],
  ])("%j", async (fault, kind) => {
    const sim = await failing({ fault })
    const { error, retries } = await play(modelAt(sim, { maxAttempts: 3 }))
    expect(error).toBeInstanceOf(kind)
    expect(error).toMatchObject({ attempts: 3, message: expect.stringContaining("after 3 attempts") })
    expect(retries).toHaveLength(2)
    expect(sim.log).toHaveLength(3)
  })

  test("a wait that is too long is not started, and the error says how long it is", async () => {
    const sim = await failing({ fault: { kind: "rate-limit", retryAfterSeconds: 3600 } })
    const { error, retries } = await play(modelAt(sim))
    expect(retries).toEqual([])
    expect(error).toMatchObject({ retryAfterMs: 3_600_000, message: expect.stringContaining("in 3,600 seconds") })
  })
})

describe("LOOP-5 permanent failures are not retried", () => {
  test("a wrong key, which is not repeated in the error", async () => {
    const apiKey = "sk-ant-the-wrong-one"
    const sim = await simulator({ apiKeys: ["sk-right"] })
    const { error, retries } = await play(modelAt(sim, { apiKey }))
    expect(error).toBeInstanceOf(AuthenticationError)
    expect(`${JSON.stringify(error)} ${error}`).not.toContain(apiKey)
    expect(retries).toEqual([])
    expect(sim.log).toHaveLength(1)
  })

  test("no key: nothing is sent", async () => {
    const sim = await simulator()
    const { error } = await play(modelAt(sim, { apiKey: "" }))
    expect(error).toBeInstanceOf(AuthenticationError)
    expect(sim.log).toHaveLength(0)
  })

  test("an invalid request, with the API's message and the request id", async () => {
    const sim = await simulator()
    const { error, retries } = await play(modelAt(sim), { ...ask(), colour: "red" } as never)
    expect(error).toBeInstanceOf(InvalidModelRequestError)
    expect(error).toMatchObject({ status: 400, providerMessage: "colour: Extra inputs are not permitted" })
    expect((error as InvalidModelRequestError).requestId).toMatch(/^req_/)
    expect(retries).toEqual([])
  })

  test("a spend limit", async () => {
    const sim = await failing({ fault: { kind: "rate-limit", retryAfterSeconds: null } })
    const { error, retries } = await play(modelAt(sim))
    expect(error).toBeInstanceOf(SpendLimitError)
    expect(retries).toEqual([])
  })

  test("a prompt too long, with its numbers", async () => {
    const sim = await simulator({ models: { "claude-opus-5": { window: 1000 } } })
    const words = "word ".repeat(2000)
    const { error, retries } = await play(modelAt(sim), ask({ messages: [{ role: "user", content: words }] }))
    expect(error).toBeInstanceOf(PromptTooLongError)
    const { tokens, limit, gap } = error as PromptTooLongError
    expect(limit).toBe(1000)
    expect(tokens).toBeGreaterThan(2000)
    expect(gap).toBe(tokens! - 1000)
    expect(retries).toEqual([])
  })

  test("a body too large counts as too long", async () => {
    const sim = await simulator({ maxRequestBytes: 1000 })
    const { error } = await play(modelAt(sim), ask({ messages: [{ role: "user", content: "word ".repeat(2000) }] }))
    expect(error).toBeInstanceOf(PromptTooLongError)
  })
})

describe("LOOP-4 stopping", () => {
  test("in the middle of a stream", async () => {
    const sim = await failing({ fault: { kind: "slow-stream", delayMs: 1000 } })
    const tick = setInterval(() => sim.clock.advance(1000), 1)
    const stop = new AbortController()
    const seen: string[] = []
    const consume = async () => {
      for await (const event of modelAt(sim).stream(ask(), { signal: stop.signal })) {
        seen.push(event.type)
        stop.abort()
      }
    }
    await expect(consume()).rejects.toBeInstanceOf(ModelAbortedError)
    clearInterval(tick)
    expect(seen).toEqual(["text"])
    expect(sim.log).toHaveLength(1)
  })

  test("before the answer begins", async () => {
    const sim = await failing({ fault: { kind: "no-answer" } })
    const stop = new AbortController()
    const playing = play(modelAt(sim), ask(), { signal: stop.signal })
    while (sim.held === 0) await nextTurn()
    stop.abort()
    const { error, retries } = await playing
    expect(error).toBeInstanceOf(ModelAbortedError)
    expect(retries).toEqual([])
  })

  test("while it waits to retry", async () => {
    const sim = await failing({ fault: { kind: "rate-limit", retryAfterSeconds: 200 } })
    const stop = new AbortController()
    const { setTimeout: wait } = await import("node:timers/promises")
    const delay = (ms: number, signal?: AbortSignal) => {
      setImmediate(() => stop.abort())
      return wait(ms, undefined, { signal })
    }
    const { error, retries } = await play(modelAt(sim, { delay }), ask(), { signal: stop.signal })
    expect(error).toBeInstanceOf(ModelAbortedError)
    expect(retries).toHaveLength(1)
    expect(sim.log).toHaveLength(1)
  })

  test("a consumer that leaves ends the request", async () => {
    const sim = await failing({ fault: { kind: "slow-stream", delayMs: 1000 } })
    const tick = setInterval(() => sim.clock.advance(1000), 1)
    for await (const event of modelAt(sim).stream(ask())) if (event.type === "text") break
    clearInterval(tick)
    expect(sim.log).toHaveLength(1)
  })

  test("counting fails in the same way, once", async () => {
    const sim = await simulator()
    await expect(modelAt(sim).count({ ...ask(), messages: [] })).rejects.toBeInstanceOf(InvalidModelRequestError)
    await expect(modelAt(sim).count(ask(), { signal: AbortSignal.abort() })).rejects.toBeInstanceOf(ModelAbortedError)
  })
})
