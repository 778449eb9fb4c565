import { once } from "node:events"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { gzipSync } from "node:zlib"
import { describe, expect, it, onTestFinished } from "vitest"
import { isWhole } from "../../../../test/size.ts"
import { call, testContext, textIn } from "../../../../test/tool-context.ts"
import { isPrivateAddress } from "./http-get.ts"
import { type WebFetchOptions, webFetchTool } from "./web-fetch.ts"

async function serve(listener: RequestListener, address = "127.0.0.1"): Promise<string> {
  const server = createServer(listener)
  server.listen(0, address)
  await once(server, "listening")
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://${address}:${(server.address() as AddressInfo).port}`
}

const page = (body: string | Buffer, type = "text/html; charset=utf-8", headers = {}): Promise<string> =>
  serve((_, response) => response.writeHead(200, { "content-type": type, ...headers }).end(body))

const fetchLocal = (url: string, options: WebFetchOptions = {}) =>
  call(webFetchTool({ allowPrivateAddresses: true, ...options }), { url })

describe("WebFetch", () => {
  it("returns HTML as text, with the address and the title", async () => {
    const url = await page("<title>Hello</title><p>World, <a href='/more'>more</a></p>")
    expect(await fetchLocal(url)).toEqual({ content: `${url}/\n\nHello\n\nWorld, [more](${url}/more)` })
  })

  it("returns other text as it is", async () => {
    const url = await page('{ "a": "<b>" }', "application/vnd.api+json")
    expect(textIn(await fetchLocal(url))).toBe(`${url}/\n\n{ "a": "<b>" }`)
  })

  it("reads the character set of header, page and byte order mark, and packed answers", async () => {
    expect(
      textIn(await fetchLocal(await page(Buffer.from("caf\xe9", "latin1"), "text/plain; charset=ISO-8859-1"))),
    ).toContain("café")
    const meta = Buffer.from("<meta name=x><meta charset='latin1'><p>caf\xe9", "latin1")
    expect(textIn(await fetchLocal(await page(meta, "text/html")))).toContain("café")
    expect(textIn(await fetchLocal(await page(Buffer.from("\uFEFFcafé", "utf16le"), "text/plain")))).toContain("café")
    expect(textIn(await fetchLocal(await page("café", "text/plain; charset=no-such")))).toContain("café")
    const packed = await page(gzipSync("café"), "text/plain", { "content-encoding": "gzip" })
    expect(textIn(await fetchLocal(packed))).toContain("café")
  })

  it("refuses what is not text, with its type and size", async () => {
    const url = await page(Buffer.alloc(2_048), "image/png", { "content-length": 2_048 })
    const image = await fetchLocal(url)
    expect(image.isError).toBe(true)
    expect(textIn(image)).toContain("is not text: image/png, 2,048 bytes (HTTP 200 OK)")
    expect(textIn(await fetchLocal(await page(Buffer.from("a\0b"), "text/plain")))).toContain("is not text")
  })

  it.runIf(isWhole)("LOOP-3: bounds size, also of what was packed, and the text", async () => {
    const long = await fetchLocal(await page("x".repeat(10_000), "text/plain"), { maxBytes: 1_000 })
    expect(textIn(long)).toContain("longer than 1000 bytes")
    expect(textIn(long).length).toBeLessThan(1_200)
    const bomb = await page(gzipSync(Buffer.alloc(20_000_000, "x")), "text/plain", { "content-encoding": "gzip" })
    expect(textIn(await fetchLocal(bomb, { maxBytes: 1_000 })).length).toBeLessThan(1_200)
    const wordy = textIn(await fetchLocal(await page("y".repeat(900), "text/plain"), { maxCharacters: 100 }))
    expect(wordy).toContain("[… 800 more characters left out …]")
  })

  it("L1-1 returns a long page whole where large results are put aside", async () => {
    const url = await page("y".repeat(200_000), "text/plain")
    expect(textIn(await fetchLocal(url)).length).toBeLessThan(41_000)
    const tool = webFetchTool({ allowPrivateAddresses: true })
    const whole = await call(tool, { url }, testContext({ offloadsResults: () => true }))
    expect(textIn(whole)).toBe(`${url}/\n\n${"y".repeat(200_000)}`)
  })

  it("LOOP-3: bounds time, of a silent server and of one that never ends", async () => {
    const silent = await serve(() => undefined)
    expect(textIn(await fetchLocal(silent, { timeoutMs: 20 }))).toBe(`${silent} did not answer whole within 0.02 s.`)
    const endless = await serve((_, response) => response.writeHead(200, { "content-type": "text/plain" }).write("a"))
    expect((await fetchLocal(endless, { timeoutMs: 20 })).isError).toBe(true)
  })

  it("LOOP-3: an abort ends it", async () => {
    const abort = new AbortController()
    const url = await serve(() => abort.abort())
    const result = await call(
      webFetchTool({ allowPrivateAddresses: true }),
      { url },
      testContext({ signal: abort.signal }),
    )
    expect(result).toEqual({ content: `Interrupted while fetching ${url}.`, isError: true })
  })

  it("reports HTTP errors with the beginning of their page, and servers that are not there", async () => {
    const url = await serve((_, response) =>
      response.writeHead(404, { "content-type": "text/html" }).end("<h1>Gone fishing</h1>"),
    )
    const missing = await fetchLocal(url)
    expect(missing).toEqual({ content: `HTTP 404 Not Found for ${url}/\n# Gone fishing`, isError: true })
    expect(textIn(await fetchLocal("http://127.0.0.1:9"))).toContain("could not be fetched (ECONNREFUSED)")
  })

  it("follows redirects at most five times", async () => {
    const url = await serve((request, response) => {
      const left = Number(request.url!.slice(1))
      if (left === 0) response.writeHead(200, { "content-type": "text/plain" }).end("arrived")
      else response.writeHead(302, { location: `/${left - 1}` }).end()
    })
    expect(textIn(await fetchLocal(`${url}/5`))).toBe(`${url}/0\n\narrived`)
    expect(textIn(await fetchLocal(`${url}/6`))).toContain("more than 5 redirects")
  })

  it("lets a reader answer what was asked, where there is one", async () => {
    const url = await page("<p>The answer is 42.</p>")
    const readPage: NonNullable<WebFetchOptions["readPage"]> = async ({ prompt, text }) => `${prompt} ${text}`
    const tool = webFetchTool({ allowPrivateAddresses: true, readPage })
    expect(textIn(await call(tool, { url, prompt: "Which?" }))).toBe("Which? The answer is 42.")
    expect(textIn(await call(tool, { url }))).toContain(url)
  })

  it("PERM-1: asks with the address, and its rules can be asked again at each hop", async () => {
    const target = await page("secret")
    const url = await serve((_, response) => response.writeHead(307, { location: target }).end())
    expect(webFetchTool().question!({ url }, testContext())).toEqual({
      kind: "network",
      summary: `fetch ${url}`,
      subject: url,
    })
    const allowUrl = (hop: URL) => hop.origin === url
    expect(textIn(await fetchLocal(url, { allowUrl }))).toBe(`Not fetched: ${target}/ is not allowed.`)
  })
})

describe("WebFetch stays out of private networks", () => {
  const tool = webFetchTool()

  it("PERM-1: refuses loopback by address, by name, and in other spellings", async () => {
    let requests = 0
    const url = await serve((_, response) => {
      requests++
      response.end("secret")
    })
    const { port } = new URL(url)
    for (const host of ["127.0.0.1", "localhost", "[::1]", "0", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]"]) {
      const result = await call(tool, { url: `http://${host}:${port}/` })
      expect(result.isError).toBe(true)
      expect(textIn(result)).toContain("is this machine or a private network")
    }
    expect(requests).toBe(0)
  })

  it("PERM-1: refuses a name with a private address, also if it has public ones; it is resolved once, when it connects", async () => {
    const asked: string[] = []
    const resolve = async (name: string) => {
      asked.push(name)
      return ["93.184.216.34", "10.0.0.1"]
    }
    const result = await call(webFetchTool({ resolve }), { url: "http://example.test/" })
    expect(textIn(result)).toContain("example.test (10.0.0.1) is this machine or a private network")
    expect(asked).toEqual(["example.test"])
  })

  it.each(["127.0.0.2", "inside.test"])("PERM-1: refuses it after a redirect too: %s", async (host) => {
    let requests = 0
    const secret = await serve(() => requests++, "127.0.0.2")
    const target = `http://${host}:${new URL(secret).port}/`
    const url = await serve((_, response) => response.writeHead(302, { location: target }).end())
    const resolve = async (name: string) => [name === "inside.test" ? "127.0.0.2" : "127.0.0.1"]
    const outside = `http://outside.test:${new URL(url).port}/`
    const result = await fetchLocal(outside, { allowPrivateAddresses: ["127.0.0.1"], resolve })
    expect(textIn(result)).toMatch(/^Not fetched: .*127\.0\.0\.2.* is this machine or a private network/)
    expect(requests).toBe(0)
  })

  it("refuses other protocols, passwords and what is no URL", async () => {
    expect(textIn(await call(tool, { url: "file:///etc/passwd" }))).toContain("only http and https")
    expect(textIn(await call(tool, { url: "http://a:b@example.test/" }))).toContain("password")
    expect(textIn(await call(tool, { url: "not a url" }))).toContain("is not a URL")
    const redirect = await serve((_, response) => response.writeHead(302, { location: "file:///etc/passwd" }).end())
    expect(textIn(await fetchLocal(redirect))).toContain("only http and https")
  })

  it.each([
    "127.0.0.1",
    "10.1.2.3",
    "172.31.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.100.100.200",
    "0.0.0.0",
    "255.255.255.255",
  ])("%s is private", (address) => expect(isPrivateAddress(address)).toBe(true))
  it.each([
    "::1",
    "::",
    "fe80::1%eth0",
    "fd00:ec2::254",
    "::ffff:10.0.0.1",
    "64:ff9b::a00:1",
    "2002:a00:1::",
    "[::1]",
    "nonsense",
  ])("%s is private", (address) => expect(isPrivateAddress(address)).toBe(true))
  it.each(["8.8.8.8", "172.32.0.1", "2606:4700::1111", "::ffff:8.8.8.8"])("%s is public", (address) =>
    expect(isPrivateAddress(address)).toBe(false),
  )
})
