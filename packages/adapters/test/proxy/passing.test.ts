import { once } from "node:events"
import { createServer, request } from "node:http"
import type { AddressInfo } from "node:net"
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib"
import { describe, expect, onTestFinished, test } from "vitest"
import { ask, begin, HELLO, type Json, proxy, rawUpstream, remembering } from "./raw-upstream.ts"

const none = () => remembering(() => undefined)

/** Header names, without those of a connection. */
const names = (raw: readonly string[]) =>
  raw
    .filter((_, at) => at % 2 === 0)
    .filter((name) => !/^(?:host|connection|keep-alive|strata-proxy-hops)$/i.test(name))

describe("BEY-11: what passes as it is", () => {
  test("method, path, query, headers and body of a request; status, headers and body of its answer", async () => {
    const upstream = await rawUpstream((response) => {
      response.sendDate = false
      response.writeHead(418, "Short and stout", [
        "X-Odd",
        "1",
        "x-odd",
        "2",
        "Set-Cookie",
        "a=b",
        "Content-Length",
        "2",
      ])
      response.end("\u0000é", "latin1")
    })
    const { url } = await proxy({ upstream: upstream.url, plans: none().plans })
    const headers = ["X-Api-Key", "k", "anthropic-beta", "one", "Anthropic-Beta", "two,three", "X-New-Thing", "é"]
    const sent = Buffer.from([0, 255, 1, 254])
    const answer = await ask(`${url}/v9/any//thing%2F?beta=true&x=%20`, {
      method: "PATCH",
      headers: [...headers, "Host", "127.0.0.1", "Content-Length", "4"],
      body: sent,
    })
    const [got] = upstream.received
    expect(got).toMatchObject({ method: "PATCH", url: "/v9/any//thing%2F?beta=true&x=%20", body: sent })
    expect(got!.rawHeaders.slice(0, 2)).toEqual(["Host", new URL(upstream.url).host])
    expect(got!.rawHeaders.slice(2, 10)).toEqual(headers)
    expect(names(got!.rawHeaders)).toEqual([...names(headers), "Content-Length"])
    expect(answer).toMatchObject({ status: 418, isComplete: true })
    expect(names(answer.rawHeaders)).toEqual(["X-Odd", "x-odd", "Set-Cookie", "Content-Length"])
  })

  test("a base path of the upstream is in front of it", async () => {
    const upstream = await rawUpstream((response) => response.end("ok"))
    const { url } = await proxy({ upstream: `${upstream.url}/anthropic/`, plans: none().plans })
    await ask(url, { method: "HEAD" })
    await ask(`${url}/?x`, { method: "GET" })
    await ask(`${url}/v1/messages?beta=true`, { body: HELLO })
    const got = upstream.received.map(({ method, url }) => `${method} ${url}`)
    expect(got).toEqual(["HEAD /anthropic/", "GET /anthropic/?x", "POST /anthropic/v1/messages?beta=true"])
    expect(upstream.received[0]!.rawHeaders.join()).not.toMatch(/content-length|transfer-encoding/i)
  })

  test("count_tokens, models, batches and files get no plan", async () => {
    const upstream = await rawUpstream((response) => response.end("{}"))
    const { plans, calls } = remembering()
    const { url } = await proxy({ upstream: upstream.url, plans })
    for (const path of ["/v1/messages/count_tokens", "/v1/messages/batches", "/v1/files", "/v1/messages/"])
      await ask(url + path, { body: HELLO })
    await ask(`${url}/v1/messages`, { method: "GET" })
    expect(upstream.received).toHaveLength(5)
    expect(calls).toEqual([])
  })

  test("an upload and its answer stream both ways at once", async () => {
    const server = createServer((incoming, response) => incoming.pipe(response)).listen(0, "127.0.0.1")
    onTestFinished(() => void server.close())
    await once(server, "listening")
    const { url } = await proxy({
      upstream: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      plans: none().plans,
    })
    const outgoing = request(`${url}/v1/files`, { method: "POST", agent: false })
    outgoing.write("first")
    const [answer] = (await once(outgoing, "response")) as [NodeJS.ReadableStream]
    const next = async () => String((await once(answer, "data"))[0])
    expect(await next()).toBe("first")
    outgoing.write("second")
    expect(await next()).toBe("second")
    outgoing.end()
    answer.resume()
    await once(answer, "end")
  })

  test("a request that no one manages keeps its bytes and its accept-encoding, and its compressed answer", async () => {
    const packed = gzipSync("an answer")
    const upstream = await rawUpstream((response) =>
      response.writeHead(200, { "content-encoding": "gzip" }).end(packed),
    )
    const { url } = await proxy({ upstream: upstream.url, plans: none().plans })
    const body = gzipSync(HELLO)
    const answer = await ask(`${url}/v1/messages`, {
      headers: { "content-encoding": "gzip", "accept-encoding": "gzip, zstd" },
      body,
    })
    expect(upstream.received[0]!.headers).toMatchObject({ "accept-encoding": "gzip, zstd", "content-encoding": "gzip" })
    expect(upstream.received[0]!.body.equals(body)).toBe(true)
    expect(answer.headers["content-encoding"]).toBe("gzip")
    expect(answer.body.equals(packed)).toBe(true)
  })

  test.each([
    ["gzip", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
    ["zstd", zstdCompressSync],
    ["gzip, br", (bytes: string) => brotliCompressSync(gzipSync(bytes))],
  ])("a body packed with %s is read, and sent as it came if the plan says so", async (encoding, pack) => {
    const upstream = await rawUpstream((response) => response.end("{}"))
    const { plans, calls } = remembering()
    const { url } = await proxy({ upstream: upstream.url, plans })
    const body = pack(HELLO)
    await ask(`${url}/v1/messages?beta=true`, { headers: { "content-encoding": encoding }, body })
    expect(calls[0]!.value).toMatchObject({ body: JSON.parse(HELLO), query: "?beta=true" })
    expect((calls[0]!.value as { raw: Buffer }).raw.toString()).toBe(HELLO)
    expect(upstream.received[0]!.body.equals(body)).toBe(true)
    expect(upstream.received[0]!.headers["content-encoding"]).toBe(encoding)
  })

  test.each([
    ["no JSON", Buffer.from('{"model": '), {}],
    ["a list", Buffer.from("[]"), {}],
    ["no UTF-8", Buffer.from([0x22, 0xff, 0x22]), {}],
    ["an unknown encoding", Buffer.from(HELLO), { "content-encoding": "pigeon" }],
    ["an encoding it does not have", Buffer.from(HELLO), { "content-encoding": "gzip" }],
    ["nothing", Buffer.alloc(0), {}],
  ])("a body that is %s passes untouched", async (_, body, headers) => {
    const upstream = await rawUpstream((response) => response.writeHead(400).end("no"))
    const { plans, calls } = remembering()
    const { url } = await proxy({ upstream: upstream.url, plans })
    const answer = await ask(`${url}/v1/messages`, { headers, body })
    expect(upstream.received[0]!.body.equals(body)).toBe(true)
    expect(answer).toMatchObject({ status: 400, body: Buffer.from("no") })
    expect(calls).toEqual([])
  })

  test("a body beyond the limit is refused in the API's words, packed or not", async () => {
    const upstream = await rawUpstream((response) => response.end("{}"))
    const { plans, calls } = remembering()
    const { url } = await proxy({ upstream: upstream.url, plans, limits: { bodyBytes: 1_000_000 } })
    const large = JSON.stringify({ messages: "x".repeat(5_000_000) })
    for (const [headers, body] of [
      [{}, large],
      [{ "content-encoding": "gzip" }, gzipSync(large)],
    ] as const) {
      const answer = await ask(`${url}/v1/messages`, { headers, body })
      expect(answer.status).toBe(413)
      expect(JSON.parse(answer.body.toString())).toMatchObject({ type: "error", error: { type: "request_too_large" } })
    }
    expect([upstream.received, calls]).toEqual([[], []])
    expect((await ask(`${url}/v1/messages`, { body: HELLO })).status).toBe(200)
  })

  test("a replaced body has its own length and no encoding; everything else is the client's", async () => {
    const upstream = await rawUpstream((response) => response.end("{}"))
    const { plans } = remembering(({ body }) => ({ body: { ...body, max_tokens: 7, note: "ü" } }))
    const { url } = await proxy({ upstream: upstream.url, plans })
    await ask(`${url}/v1/messages?beta=true`, {
      headers: {
        ...{ "X-Api-Key": "k", "content-encoding": "gzip", "Anthropic-Beta": "a,b", "accept-encoding": "br" },
        "Strata-Conversation": "mine",
      },
      body: gzipSync(HELLO),
    })
    const { headers, body, url: path } = upstream.received[0]!
    expect(JSON.parse(body.toString())).toEqual({ ...(JSON.parse(HELLO) as Json), max_tokens: 7, note: "ü" })
    expect(headers).toMatchObject({
      "x-api-key": "k",
      "anthropic-beta": "a,b",
      "accept-encoding": "identity",
      "content-length": String(body.length),
    })
    expect(headers).not.toHaveProperty("content-encoding")
    expect(headers).not.toHaveProperty("strata-conversation") // the header is for Strata only
    expect(path).toBe("/v1/messages?beta=true")
  })

  test("a connection that the server has closed while it was idle costs no request", async () => {
    let requests = 0
    const upstream = await rawUpstream((response) => {
      // the second request on a connection finds it closed
      if (++requests === 2) return response.socket?.destroy()
      return response.end("{}")
    })
    const { url } = await proxy({ upstream: upstream.url, plans: remembering().plans })
    for (const _ of [1, 2]) expect((await ask(`${url}/v1/messages`, { body: HELLO })).status).toBe(200)
    expect(upstream.received.map(({ body }) => body.toString())).toEqual([HELLO, HELLO, HELLO])
  })

  test("a client that leaves ends its request at the server at once", async () => {
    const left = Promise.withResolvers<void>()
    const upstream = await rawUpstream((response) => {
      response.on("close", () => left.resolve())
      response.write("begun")
    })
    const { url } = await proxy({ upstream: upstream.url, plans: none().plans })
    const { answer, leave } = await begin(`${url}/v1/models`, { method: "GET" })
    answer.on("error", () => {})
    leave()
    await left.promise
  })

  test("an answer that is cut is cut for the client, after all the bytes that came", async () => {
    const half = Buffer.alloc(3_000_000, "half")
    const upstream = await rawUpstream((response) => {
      response.writeHead(200, { "content-length": "9000000" })
      response.write(half, () => response.socket?.destroySoon())
    })
    const { url } = await proxy({ upstream: upstream.url, plans: none().plans })
    const answer = await ask(`${url}/v1/models`, { method: "GET" })
    expect(answer).toMatchObject({ status: 200, isComplete: false })
    expect(answer.body.equals(half)).toBe(true)
  })

  test("headers longer than Node's own limit", async () => {
    const long = "x".repeat(40_000)
    const upstream = await rawUpstream((response) => response.writeHead(200, { "x-long": long }).end())
    const { url } = await proxy({ upstream: upstream.url, plans: none().plans })
    const answered = new Promise<string | undefined>((resolve, reject) => {
      const asked = request(`${url}/v1/models`, { agent: false, maxHeaderSize: 100_000 }, (answer) => {
        answer.resume()
        resolve(answer.headers["x-long"] as string)
      })
      asked.on("error", reject).end()
    })
    expect(await answered).toBe(long)
  })
})
