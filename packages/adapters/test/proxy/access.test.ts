import { once } from "node:events"
import { connect } from "node:net"
import { describe, expect, test } from "vitest"
import { newSecret, startProxy } from "../../src/proxy/index.ts"
import { ask, HELLO, proxy, rawUpstream, remembering, SECRET } from "./raw-upstream.ts"

async function closed() {
  const upstream = await rawUpstream((response) => response.end("{}"))
  const lines: string[] = []
  const { plans } = remembering()
  const started = await proxy({ upstream: upstream.url, plans, onLog: (line) => lines.push(line) })
  return { upstream, lines, ...started }
}

describe("BEY-11: who may use the proxy", () => {
  test.each([
    ["a wrong secret", `/${newSecret()}/v1/models`, {}],
    ["no secret", "/v1/models", {}],
    ["a part of the secret", `/${SECRET.slice(0, -1)}/v1/models`, {}],
    ["the secret and more", `/${SECRET}x/v1/models`, {}],
    ["the secret in the query", `/?${SECRET}/v1/models`, {}],
    ["another host: a page whose name leads here", `/${SECRET}/v1/models`, { host: "evil.example" }],
    ["a host that only begins like this machine", `/${SECRET}/v1/models`, { host: "127.0.0.1.evil.example" }],
    ["a page, by its origin", `/${SECRET}/v1/models`, { origin: "https://evil.example" }],
    ["a page on this machine", `/${SECRET}/v1/models`, { origin: "http://127.0.0.1:8080" }],
    ["a picture on a page", `/${SECRET}/v1/models`, { "sec-fetch-site": "cross-site" }],
    ["a page that frames the status", `/${SECRET}/_strata/`, { "sec-fetch-site": "same-site" }],
  ])("%s is refused", async (_, path, headers) => {
    const { upstream, lines, port } = await closed()
    const answer = await ask(`http://127.0.0.1:${port}${path}`, { method: "GET", headers })
    expect(answer.status).toBe(403)
    expect(JSON.parse(answer.body.toString())).toMatchObject({ type: "error", error: { type: "permission_error" } })
    expect(upstream.received).toEqual([])
    expect(answer.body.toString() + JSON.stringify(answer.headers)).not.toContain(SECRET)
    expect(Object.keys(answer.headers).filter((name) => name.startsWith("access-control"))).toEqual([])
    await expect.poll(() => lines).toHaveLength(1)
    expect(lines[0]).not.toContain(SECRET)
  })

  test("a preflight is refused, so no page can send a key", async () => {
    const { upstream, url } = await closed()
    const answer = await ask(`${url}/v1/messages`, { method: "OPTIONS" })
    expect(answer.status).toBe(403)
    expect(upstream.received).toEqual([])
  })

  test("two hosts, or a whole address in place of a path, are refused", async () => {
    const { upstream, port } = await closed()
    for (const head of [
      `GET /${SECRET}/v1/models HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\n`,
      `GET http://127.0.0.1/${SECRET}/v1/models HTTP/1.1\r\nHost: 127.0.0.1\r\n`,
    ]) {
      const socket = connect(port, "127.0.0.1")
      socket.write(`${head}Connection: close\r\n\r\n`)
      const chunks: Buffer[] = []
      socket.on("data", (chunk: Buffer) => chunks.push(chunk))
      await once(socket, "close")
      expect(Buffer.concat(chunks).toString()).toMatch(/^HTTP\/1\.1 40[03] /)
    }
    expect(upstream.received).toEqual([])
  })

  test("a program with the secret gets in, under each name of this machine", async () => {
    const { upstream, url, port } = await closed()
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, "[::1]:80"])
      expect((await ask(`${url}/v1/models`, { method: "GET", headers: { host } })).status).toBe(200)
    expect(upstream.received.map((one) => one.url)).toEqual(["/v1/models", "/v1/models", "/v1/models"])
  })

  test("secret, key and bearer are in no log line, error or upstream path", async () => {
    const { plans } = remembering(() => {
      throw new Error("broken: sk-ant-key")
    })
    const lines: string[] = []
    const upstream = await rawUpstream((response) => response.socket?.destroy())
    const { url } = await proxy({ upstream: upstream.url, plans, onLog: (line) => lines.push(line) })
    const headers = { "x-api-key": "sk-ant-key", authorization: "Bearer sk-ant-bearer" }
    const answers = [
      await ask(`${url}/v1/messages?key=sk-ant-key`, { headers, body: HELLO }),
      await ask(`${url}/v1/files?key=sk-ant-key`, { method: "GET", headers }),
    ]
    await expect.poll(() => lines).toHaveLength(2)
    const output = lines.join() + answers.map(({ body, headers }) => body.toString() + JSON.stringify(headers)).join()
    expect(output).not.toMatch(new RegExp(`sk-ant|${SECRET}`))
    expect(answers.map(({ status }) => status)).toEqual([502, 502])
  })

  test("it does not start with a secret that can be guessed, a strange upstream or itself as upstream", async () => {
    const { plans } = remembering()
    const start = (upstream: string, secret = newSecret(), port = 0) => startProxy({ upstream, plans, secret, port })
    await expect(start("http://127.0.0.1:1", "short")).rejects.toThrow(/16 to 200/)
    await expect(start("ftp://127.0.0.1")).rejects.toThrow(/http:\/\/ or https:/)
    await expect(start("https://me:password@127.0.0.1")).rejects.toThrow(/without a name/)
    const { port, url } = await closed()
    await expect(start("https://api.anthropic.com", newSecret(), port)).rejects.toThrow(/another program/)
    const free = await startProxy({ upstream: url, plans, secret: newSecret() })
    await free.close()
    await expect(start(`http://localhost:${free.port}/x`, newSecret(), free.port)).rejects.toThrow(/the proxy itself/)
  })

  test("proxies in a circle refuse the request", async () => {
    const { plans } = remembering(() => undefined)
    const first = await startProxy({ upstream: "http://127.0.0.1:1", plans, secret: SECRET })
    await first.close()
    const second = await proxy({ upstream: first.url, plans })
    const again = await proxy({ upstream: second.url, plans, port: first.port })
    const answer = await ask(`${again.url}/v1/messages`, { body: HELLO })
    expect(answer.status).toBe(508)
    expect(answer.body.toString()).toContain("would loop")
  })
})
