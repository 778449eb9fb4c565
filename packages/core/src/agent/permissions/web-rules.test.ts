/** The rules for WebFetch in an agent, with real servers on loopback under invented names. */
import { once } from "node:events"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { describe, expect, onTestFinished, test } from "vitest"
import { scratchDirectory } from "../../../test/tool-context.ts"
import { memoryStore } from "../../journal/in-memory/store.ts"
import type { Model } from "../../model/model.ts"
import { findModel } from "../../tokens/models.ts"
import { openAgent } from "../open-agent.ts"
import type { SingleAgentOptions } from "../options.ts"
import { webFetchTool } from "../tools/web/web-fetch.ts"

async function serve(listener: RequestListener): Promise<number> {
  const server = createServer(listener)
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

/** A model that fetches one page and ends. */
function fetching(url: string): Model {
  const name = "claude-opus-4-6"
  const usage = { input_tokens: 1_000, output_tokens: 10 }
  const call = { type: "tool_use", id: "toolu_1", name: "WebFetch", input: { url } }
  const turns = [[call], [{ type: "text", text: "Done." }]]
  return {
    name,
    provider: "test",
    facts: findModel(name).facts,
    async *stream() {
      const content = turns.shift()!
      const stop_reason = content[0] === call ? "tool_use" : "end_turn"
      yield { type: "response", response: { id: `msg_${turns.length}`, model: name, content, stop_reason, usage } }
    },
  }
}

/** Result that the model receives for a page under these rules. */
async function fetched(url: string, options: Partial<SingleAgentOptions>): Promise<string> {
  const root = scratchDirectory()
  const agent = await openAgent({
    model: fetching(url),
    cwd: root,
    dir: `${root}/home`,
    env: {},
    store: memoryStore(),
    tools: [webFetchTool({ allowPrivateAddresses: true, resolve: async () => ["127.0.0.1"] })],
    ...options,
  })
  onTestFinished(() => agent.close())
  for await (const event of agent.query("go")) if (event.type === "tool-result") return String(event.result.content)
  throw new Error("no result")
}

describe("PERM-1: rules for WebFetch hold for every redirect", () => {
  /** A server that all names resolve to. `/to/<host>` redirects there. */
  async function web(): Promise<{ port: number; asked: string[] }> {
    const asked: string[] = []
    const port = await serve((request, response) => {
      asked.push(request.headers.host!.replace(/:\d+$/, ""))
      const [, target] = /^\/to\/(.+)$/.exec(request.url!) ?? []
      if (target) response.writeHead(302, { location: `http://${target}:${port}/page` }).end()
      else response.writeHead(200, { "content-type": "text/plain" }).end("the page")
    })
    return { port, asked }
  }

  test.each(["evil.test", "EVIL.test", "evil.test.", "www.evil.test", "x@evil.test"])(
    "a denied domain is not reached by a redirect to %s, in bypass mode too",
    async (target) => {
      const { port, asked } = await web()
      const settings = { permissions: { deny: ["WebFetch(domain:evil.test)"] } }
      const text = await fetched(`http://good.test:${port}/to/${target}`, { mode: "bypass", settings })
      expect(text).toMatch(/^Not fetched: /)
      expect(asked).toEqual(["good.test"])
    },
  )

  test("a domain that must be asked about is handed back to the model, with its address", async () => {
    const { port, asked } = await web()
    const settings = { permissions: { allow: ["WebFetch(domain:good.test)"] } }
    const text = await fetched(`http://good.test:${port}/to/other.test`, { mode: "ask", settings })
    expect(text).toContain(`redirects to another server, which was not asked: http://other.test:${port}/page`)
    expect(asked).toEqual(["good.test"])
  })

  test("a redirect within the server the person allowed is followed, and so is one to an allowed domain", async () => {
    const { port, asked } = await web()
    const askPermission = async () => ({ allowed: true }) as const
    expect(await fetched(`http://good.test:${port}/to/good.test`, { askPermission })).toContain("the page")
    const settings = { permissions: { allow: ["WebFetch(domain:good.test)", "WebFetch(domain:*.fine.test)"] } }
    expect(await fetched(`http://good.test:${port}/to/a.fine.test`, { mode: "ask", settings })).toContain("the page")
    expect(asked).toEqual(["good.test", "good.test", "good.test", "a.fine.test"])
  })

  test.each(["http://evil.test.", "http://EVIL.test", "http://sub.evil.test"])(
    "the first address is compared in the same spelling: %s",
    async (address) => {
      const { port, asked } = await web()
      const settings = { permissions: { deny: ["WebFetch(domain:evil.test)"] } }
      expect(await fetched(`${address}:${port}/page`, { mode: "bypass", settings })).toContain("Not allowed")
      expect(asked).toEqual([])
    },
  )
})
