import { once } from "node:events"
import { connect } from "node:net"
import { text } from "node:stream/consumers"
import { setImmediate } from "node:timers/promises"
import { gzipSync } from "node:zlib"
import { describe, expect, test } from "vitest"
import { manualClock } from "../../../core/src/base/clock.ts"
import { startProxy } from "../../src/proxy/index.ts"
import { ANSWER_EVENTS, ask, begin, eventText, HELLO, proxy, rawUpstream, remembering, SECRET } from "./raw-upstream.ts"

const STREAM = { "content-type": "text/event-stream" }
const MINUTE = 60_000
const never = () => new Promise<never>(() => {})

const answering = () => rawUpstream((response) => response.writeHead(200, STREAM).end(eventText(ANSWER_EVENTS)))

describe("BEY-11: a plan that fails", () => {
  test.each([
    ["throws", () => Promise.reject(new TypeError("quoting the conversation"))],
    [
      "throws at once",
      () => {
        throw new TypeError("quoting the conversation")
      },
    ],
  ])("%s: the client's own bytes are sent, and it is told", async (_, plan) => {
    const upstream = await answering()
    const lines: string[] = []
    const { plans } = remembering(plan)
    const { url } = await proxy({ upstream: upstream.url, plans, onLog: (line) => lines.push(line) })
    const answer = await ask(`${url}/v1/messages`, { headers: { "accept-encoding": "gzip" }, body: HELLO })
    expect(upstream.received[0]!.body.toString()).toBe(HELLO)
    expect(upstream.received[0]!.headers["accept-encoding"]).toBe("gzip")
    expect(answer).toMatchObject({ status: 200, headers: { "strata-passed-through": "a failure (TypeError)" } })
    await expect.poll(() => lines).toEqual(["POST /v1/messages 200, passed through: a failure (TypeError)"])
  })

  test("decides too late: the client does not wait, and the late plan is closed", async () => {
    const upstream = await answering()
    const clock = manualClock()
    const decided = Promise.withResolvers<object>()
    const { plans, called } = remembering(() => decided.promise)
    const { url } = await proxy({ upstream: upstream.url, plans, clock })
    const answer = ask(`${url}/v1/messages`, { body: HELLO })
    await called("take")
    clock.advance(MINUTE)
    expect((await answer).headers["strata-passed-through"]).toBe("no decision within 30 seconds")
    decided.resolve({ body: "{}" })
    expect(await called("brokeOff")).toBeUndefined()
    expect(upstream.received.map(({ body }) => body.toString())).toEqual([HELLO])
  })

  test.each([
    ["fails", () => Promise.reject(new Error("no"))],
    ["never ends", never],
  ])("%s when it is told the answer: the client gets it all the same", async (_, answered) => {
    const upstream = await answering()
    const clock = manualClock()
    const { plans, called } = remembering(() => ({ answered }))
    const { url } = await proxy({ upstream: upstream.url, plans, clock })
    const answer = ask(`${url}/v1/messages`, { body: HELLO })
    await called("answered")
    clock.advance(MINUTE)
    expect((await answer).body.toString()).toBe(eventText(ANSWER_EVENTS))
  })

  test("fails on a refusal: the client gets the refusal", async () => {
    const upstream = await rawUpstream((response) => response.writeHead(400).end("no"))
    const { plans } = remembering(() => ({ refused: () => Promise.reject(new Error("no")) }))
    const { url } = await proxy({ upstream: upstream.url, plans })
    expect(await ask(`${url}/v1/messages`, { body: HELLO })).toMatchObject({ status: 400, body: Buffer.from("no") })
  })

  test("a plan that passes a request says why, in a header that nothing can break out of", async () => {
    const upstream = await answering()
    const { plans } = remembering(() => ({ passedThrough: "disk full\r\nset-cookie: a=b — ü" }))
    const { url } = await proxy({ upstream: upstream.url, plans })
    const { headers } = await ask(`${url}/v1/messages`, { body: HELLO })
    expect(headers["strata-passed-through"]).toBe("disk full set-cookie: a=b")
    expect(headers).not.toHaveProperty("set-cookie")
  })

  test("a client that leaves while a plan is made: nothing is sent, and the plan is closed", async () => {
    const upstream = await answering()
    const decided = Promise.withResolvers<object>()
    const { plans, called } = remembering(() => decided.promise)
    const { url } = await proxy({ upstream: upstream.url, plans })
    const left = new AbortController()
    const answer = fetch(`${url}/v1/messages`, { method: "POST", body: HELLO, signal: left.signal }).catch(() => "left")
    const { signal } = (await called("take")) as { signal: AbortSignal }
    left.abort()
    if (!signal.aborted) await once(signal, "abort")
    decided.resolve({})
    await called("brokeOff")
    expect([await answer, upstream.received]).toEqual(["left", []])
  })

  test("a server that is not there: the plan is closed, the client gets an error in the API's shape", async () => {
    const { plans, calls } = remembering()
    const gone = await startProxy({ upstream: "http://127.0.0.1:1", plans, secret: SECRET })
    await gone.close()
    const { url } = await proxy({ upstream: `http://127.0.0.1:${gone.port}/key-in-path`, plans })
    const answer = await ask(`${url}/v1/messages`, { body: HELLO })
    expect(answer.status).toBe(502)
    const { error } = JSON.parse(answer.body.toString()) as { error: { type: string; message: string } }
    expect(error.type).toBe("api_error")
    expect(error.message).toMatch(/no response from http:\/\/127\.0\.0\.1:\d+ \(ECONNREFUSED\)/)
    expect(error.message).not.toContain("key-in-path")
    expect(calls).toMatchObject([{ name: "take" }, { name: "brokeOff", value: undefined }])
  })
})

describe("BEY-11: bounds", () => {
  test("requests beyond the number at once are asked to come again, and the status still answers", async () => {
    const upstream = await rawUpstream((response) => response.writeHead(200, STREAM).write(": begun\n"))
    const { plans } = remembering()
    const { url } = await proxy({ upstream: upstream.url, plans, limits: { requests: 2, graceMs: 0 } })
    for (const _ of [1, 2]) (await begin(`${url}/v1/messages`, { body: HELLO })).answer.on("error", () => {})
    const third = await ask(`${url}/v1/messages`, { body: HELLO })
    expect(third).toMatchObject({ status: 529, headers: { "retry-after": "1" } })
    expect(JSON.parse(third.body.toString())).toMatchObject({ error: { type: "overloaded_error" } })
    expect((await ask(`${url}/_strata/status`, { method: "GET" })).status).toBe(200)
  })

  test("bodies under way have a limit together, and give their room back", async () => {
    const upstream = await answering()
    const decided = Promise.withResolvers<object>()
    const { plans, called } = remembering(() => decided.promise)
    const { url } = await proxy({ upstream: upstream.url, plans, limits: { heldBytes: HELLO.length + 10 } })
    const first = ask(`${url}/v1/messages`, { body: HELLO })
    await called("take")
    expect((await ask(`${url}/v1/messages`, { body: HELLO })).status).toBe(529)
    decided.resolve({})
    expect((await first).status).toBe(200)
    for (const _ of [1, 2, 3]) expect((await ask(`${url}/v1/messages`, { body: HELLO })).status).toBe(200)
  })

  test("a small body that unpacks to a large one counts as what it becomes", async () => {
    const { plans, calls } = remembering()
    const { url } = await proxy({ upstream: "http://127.0.0.1:1", plans, limits: { heldBytes: 100_000 } })
    const body = gzipSync(JSON.stringify({ messages: "x".repeat(1_000_000) }))
    const answer = await ask(`${url}/v1/messages`, { headers: { "content-encoding": "gzip" }, body })
    expect([answer.status, calls]).toEqual([529, []])
  })

  test("close refuses what comes on a connection that is still open", async () => {
    const more = Promise.withResolvers<void>()
    const upstream = await rawUpstream(async (response) => {
      await more.promise
      response.end("{}")
    })
    const { url, close } = await startProxy({ upstream: upstream.url, plans: remembering().plans, secret: SECRET })
    const socket = connect(Number(new URL(url).port), "127.0.0.1")
    const got = text(socket)
    const asked = `GET /${SECRET}/v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n`
    socket.write(asked)
    await expect.poll(() => upstream.received.length).toBe(1)
    const closing = close()
    socket.write(asked)
    for (let round = 0; round < 20; round++) await setImmediate() // both ends are in this process, so the bytes have arrived by then
    more.resolve()
    await closing
    const [first, ...others] = (await got).match(/^HTTP\/1.1 \d+/gm) ?? []
    expect(first).toBe("HTTP/1.1 200")
    expect(others).not.toContain("HTTP/1.1 200") // refused, or cut off with the connection
    expect(upstream.received).toHaveLength(1)
  })

  test("close lets a running answer end, and takes no new one", async () => {
    const more = Promise.withResolvers<void>()
    const upstream = await rawUpstream(async (response) => {
      response.writeHead(200, STREAM).write(eventText(ANSWER_EVENTS.slice(0, 3)))
      await more.promise
      response.end(eventText(ANSWER_EVENTS.slice(3)))
    })
    const { plans, calls } = remembering()
    const { url, close } = await startProxy({ upstream: upstream.url, plans, secret: SECRET, clock: manualClock() })
    const { answer } = await begin(`${url}/v1/messages`, { body: HELLO })
    const body = text(answer)
    const closing = close()
    await expect(ask(`${url}/v1/models`, { method: "GET" })).rejects.toThrow(/ECONNREFUSED/)
    more.resolve()
    expect(await body).toBe(eventText(ANSWER_EVENTS))
    await closing
    expect(calls.map(({ name }) => name)).toEqual(["take", "answered"])
  })

  test("close ends an answer that takes longer, and its plan has what came", async () => {
    const upstream = await rawUpstream((response) => {
      response.writeHead(200, STREAM).write(eventText(ANSWER_EVENTS.slice(0, 3)))
    })
    const clock = manualClock()
    const { plans, calls } = remembering()
    const { url, close } = await startProxy({ upstream: upstream.url, plans, secret: SECRET, clock })
    const { answer } = await begin(`${url}/v1/messages`, { body: HELLO })
    const ended = text(answer).catch(() => "cut")
    const closing = close()
    clock.advance(MINUTE)
    await closing
    expect(await ended).toBe("cut")
    expect(calls[1]).toMatchObject({ name: "brokeOff", value: { id: "msg_1" } })
  })
})
