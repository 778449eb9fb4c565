/**
 * LOOP-5: a server that stalls, never answers or never ends. Each case ends within a bounded number of requests, on a clock that the test
 * moves.
 */
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { describe, expect, onTestFinished, test } from "vitest"
import type { EndlessKind, Fault, FaultRule } from "../../../../sim/src/faults.ts"
import type { Simulator } from "../../../../sim/src/start.ts"
import { scripted, simulator } from "../../../../sim/test/simulator.ts"
import { manualClock } from "../../../src/base/clock.ts"
import {
  EndlessAnswerError,
  InvalidModelRequestError,
  ModelAbortedError,
  OverloadedError,
  PromptTooLongError,
  RateLimitedError,
  StalledError,
} from "../../../src/model/errors.ts"
import { isWhole, size } from "../../size.ts"
import { ask, LONG_TEXT, modelAt, play } from "./model.ts"

const MANY = 20_000 // ms; the test machine may be slow, and an endless stream sends megabytes

const failing = (...faults: FaultRule[]) => simulator({ responder: scripted(LONG_TEXT, LONG_TEXT, LONG_TEXT), faults })

/** A clock that runs only while the server delays a request. */
function clockFor(sim: Simulator) {
  const clock = manualClock()
  const began = clock.now().getTime()
  const tick = setInterval(() => {
    if (sim.held > 0) clock.advance(10_000)
  }, 5)
  onTestFinished(() => clearInterval(tick))
  return { clock, seconds: () => (clock.now().getTime() - began) / 1_000 }
}

describe("LOOP-5 a stream that stalls", () => {
  test.each<[string, Fault, string, number]>([
    ...size<[string, Fault, string, number][]>(
      [],
      [["no headers", { kind: "no-answer" }, "no answer for 240 seconds", 3 * 240]],
    ),
    ["nothing after the first event", { kind: "stall", afterEvents: 1 }, "stalled for 90 seconds", 3 * 90],
    ["in the middle of a text", { kind: "stall", afterEvents: 6 }, "stalled for 90 seconds", 3 * 90],
  ])("%s: three attempts, then a clear error", async (_, fault, reason, max) => {
    const sim = await failing({ fault })
    const { clock, seconds } = clockFor(sim)
    const { error, retries } = await play(modelAt(sim, { clock }))
    expect(error).toBeInstanceOf(StalledError)
    expect(error).toMatchObject({
      attempts: 3,
      message: expect.stringMatching(/after 3 attempts.*characters had arrived/),
    })
    expect(retries.map((retry) => retry.reason)).toEqual([reason, reason])
    expect(seconds()).toBeGreaterThanOrEqual(max)
    expect(seconds()).toBeLessThan(max + 120)
  })

  test("once: the next attempt answers", async () => {
    const sim = await failing({ fault: { kind: "stall", afterEvents: 6 }, times: 1 })
    const { text, retries, error } = await play(modelAt(sim, clockFor(sim)))
    expect(error).toBeUndefined()
    expect(retries).toHaveLength(1)
    expect(text).toBe(LONG_TEXT)
  })

  test.runIf(isWhole)("pings keep a connection alive, but not for ever", async () => {
    const sim = await failing({ fault: { kind: "stall", afterEvents: 6, pings: true } })
    const clock = manualClock()
    const tick = setInterval(() => {
      sim.clock.advance(15_000)
      clock.advance(15_000)
    }, 20)
    onTestFinished(() => clearInterval(tick))
    const limits = { stallMs: 600_000, idleMs: 300_000 }
    const { error } = await play(modelAt(sim, { clock, limits, maxAttempts: 1 }))
    expect(error).toMatchObject({ stall: "no-content", message: expect.stringContaining("600 seconds") })
  })

  test("after the last piece: the answer is complete and counts at once", async () => {
    const events = 2 + 1 + Math.ceil(LONG_TEXT.length / 24) + 1 + 1 // up to message_delta
    const sim = await failing({ fault: { kind: "stall", afterEvents: events } })
    const { clock, seconds } = clockFor(sim)
    const { response, error, retries } = await play(modelAt(sim, { clock }))
    expect(error).toBeUndefined()
    expect(response).toMatchObject({ stop_reason: "end_turn", content: [{ text: LONG_TEXT }] })
    expect(retries).toEqual([])
    expect(seconds()).toBeLessThanOrEqual(20)
  })

  test("LOOP-4 an abort ends a stalled stream at once", async () => {
    const sim = await failing({ fault: { kind: "stall", afterEvents: 6 } })
    const stop = new AbortController()
    const watch = setInterval(() => sim.held > 0 && stop.abort(), 1)
    onTestFinished(() => clearInterval(watch))
    const { error } = await play(modelAt(sim, { clock: manualClock() }), ask(), { signal: stop.signal })
    expect(error).toBeInstanceOf(ModelAbortedError)
  })

  test("a reader that takes its time is not a stall", async () => {
    const sim = await failing()
    const clock = manualClock()
    let text = ""
    for await (const event of modelAt(sim, { clock }).stream(ask())) {
      clock.advance(3_600_000 / 10)
      if (event.type === "text") text += event.text
    }
    expect(text).toBe(LONG_TEXT)
  })
})

describe("LOOP-5 a stream without an end", () => {
  test.each<[EndlessKind, string]>([
    ["text", "passed 100,000 characters"],
    ["thinking", "passed 100,000 characters"],
    ["tool-input", "passed 100,000 characters"],
    ["blocks", "content blocks"],
    ...size<[EndlessKind, string][]>(
      [],
      [
        ["pings", "8 MB without any content"],
        ["line", "8 MB without any content"],
      ],
    ),
  ])(
    "%s: cut once, not tried again",
    async (what, words) => {
      const sim = await failing({ fault: { kind: "endless", what } })
      const { error, retries } = await play(modelAt(sim))
      expect(error).toBeInstanceOf(EndlessAnswerError)
      expect((error as Error).message).toContain(words)
      expect(retries).toEqual([])
      expect(sim.log).toHaveLength(1)
    },
    MANY,
  )

  test("a trickle ends with the time for one answer", async () => {
    const sim = await failing({ fault: { kind: "slow-stream", delayMs: 80_000 } })
    const clock = manualClock()
    const tick = setInterval(() => {
      sim.clock.advance(80_000)
      clock.advance(40_000)
    }, 20)
    onTestFinished(() => clearInterval(tick))
    const { error } = await play(modelAt(sim, { clock, limits: { responseMs: 200_000, idleMs: 10_000_000 } }))
    expect(error).toMatchObject({ name: "EndlessAnswerError", message: expect.stringContaining("3 minutes") })
  })
})

describe("LOOP-5 odd answers have bounded, clear outcomes", () => {
  async function serverWith(listener: RequestListener) {
    let requests = 0
    const server = createServer((request, response) => {
      requests++
      listener(request, response)
    }).listen(0, "127.0.0.1")
    await new Promise((resolve) => server.once("listening", resolve))
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    const { port } = server.address() as AddressInfo
    return { at: { url: `http://127.0.0.1:${port}` } as Simulator, requests: () => requests }
  }

  test("a page in place of a stream", async () => {
    const { at, requests } = await serverWith((_, response) =>
      response.writeHead(200, { "content-type": "text/html" }).end("<html><body>Log in</body></html>"),
    )
    const { error } = await play(modelAt(at))
    expect(error).toBeInstanceOf(InvalidModelRequestError)
    expect((error as Error).message).toContain("answers with text/html")
    expect(requests()).toBe(1)
  })

  test("a 500 with a page: its text, not its markup", async () => {
    const { at } = await serverWith((_, response) =>
      response
        .writeHead(500, { "content-type": "text/html" })
        .end(`<!DOCTYPE html><html><style>p{}</style><p>Bad gateway</p>${"x".repeat(100_000)}</html>`),
    )
    const { error } = await play(modelAt(at, { maxAttempts: 2 }))
    expect(error).toBeInstanceOf(OverloadedError)
    expect((error as OverloadedError).providerMessage).toMatch(/Bad gateway/)
    expect((error as OverloadedError).providerMessage).not.toMatch(/<p>|p\{\}/)
    expect((error as OverloadedError).providerMessage!.length).toBeLessThan(2_100)
  })

  test(
    "an error page without an end",
    async () => {
      const { at, requests } = await serverWith((_, response) => {
        response.writeHead(500, { "content-type": "text/plain" })
        const piece = "x".repeat(1024 * 1024)
        const send = () => {
          while (!response.destroyed && response.write(piece));
        }
        response.on("drain", send)
        send()
      })
      const { error } = await play(modelAt(at))
      expect(error).toBeInstanceOf(EndlessAnswerError)
      expect(requests()).toBe(1)
    },
    MANY,
  )

  test("redirects in a circle", async () => {
    const { at, requests } = await serverWith((request, response) =>
      response.writeHead(307, { location: request.url ?? "/" }).end(),
    )
    const { error, retries } = await play(modelAt(at))
    expect(error).toBeInstanceOf(InvalidModelRequestError)
    expect((error as Error).message).toContain("redirects without an end")
    expect(retries).toEqual([])
    expect(requests()).toBeLessThan(30)
  })

  test("invalid JSON in a stream is retried, a bounded number of times", async () => {
    const { at, requests } = await serverWith((_, response) =>
      response.writeHead(200, { "content-type": "text/event-stream" }).end("event: message_start\ndata: {oops\n\n"),
    )
    const { error } = await play(modelAt(at))
    expect(error).toMatchObject({ name: "ConnectionLostError" })
    expect(requests()).toBe(8)
  })

  test.each([
    ["1e9", "later", 1],
    ["Infinity", "later", 1],
    ["-5", "in a minute", 8],
    ["Wed, 21 Oct 2015 07:28:00 GMT", "in a minute", 8],
    ["nonsense", "in a minute", 8],
  ])("retry-after: %s", async (value, when, max) => {
    const { at, requests } = await serverWith((_, response) =>
      response
        .writeHead(429, { "content-type": "application/json", "retry-after": value })
        .end('{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}'),
    )
    const { error } = await play(modelAt(at))
    expect(error).toBeInstanceOf(RateLimitedError)
    expect((error as Error).message).toMatch(new RegExp(`slow down.*Try again ${when}`))
    expect(requests()).toBe(max)
  })
})

describe("LOOP-5 a refusal keeps the API's words", () => {
  test.each([
    ["tools.0.custom.name: String is too long: 80 characters > 64", InvalidModelRequestError],
    ["prompt is too long: 215000 tokens > 200000 maximum", PromptTooLongError],
    ["prompt is too long for the plan of sk-ant-secret-key-1234", PromptTooLongError],
  ])("%s", async (message, kind) => {
    const sim = await failing({ fault: { kind: "invalid-request", message } })
    const { error } = await play(modelAt(sim))
    expect(error).toBeInstanceOf(kind)
    const words = message.replace(/sk-ant\S+/, "[key removed]")
    expect((error as Error).message).toContain(words)
    expect(error).toMatchObject({ status: 400, requestId: expect.stringMatching(/^req_/) })
  })
})
