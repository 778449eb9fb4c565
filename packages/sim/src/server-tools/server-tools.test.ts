/** Server tools are run by the server: search and fetch on its own pages, code execution refused with an error block. */
import { describe, expect, test } from "vitest"
import { inProcess, sentBack } from "../../test/in-process.ts"
import { client, simulator } from "../../test/simulator.ts"
import { helpfulResponder, responderByName } from "../responders/index.ts"

const search = { type: "web_search_20250305", name: "web_search" }
const fetching = { type: "web_fetch_20250910", name: "web_fetch" }
const body = (content: string, tools: readonly object[], more: object = {}) => ({
  model: "claude-opus-5",
  max_tokens: 1000,
  messages: [{ role: "user", content }],
  tools,
  ...more,
})
const resultOf = (content: readonly object[]) =>
  (sentBack(content as never) as readonly { type: string; content?: unknown }[]).find(({ type }) =>
    type.endsWith("_tool_result"),
  )

describe("BEY-8 server tools", () => {
  test.each(["worker", "helpful", "extractive", "fabricating"])(
    "BEY-8 %s searches the web when it is asked",
    async (name) => {
      const sim = inProcess(responderByName(name))
      const first = body("Search the web for prompt caching.", [search])
      const answer = await sim.ask(first)
      const [use, found, ...rest] = sentBack(answer.content)
      expect(use).toMatchObject({ type: "server_tool_use", name: "web_search", input: { query: "prompt caching" } })
      expect(use?.id).toMatch(/^srvtoolu_/)
      expect(found).toMatchObject({
        type: "web_search_tool_result",
        tool_use_id: use?.id,
        content: [
          { type: "web_search_result", url: "https://docs.example.com/prompt-caching", page_age: "May 12, 2026" },
        ],
      })
      expect(rest.at(-1)?.type).toBe("text")
      expect(answer).toMatchObject({
        stop_reason: "end_turn",
        usage: { server_tool_use: { web_search_requests: 1, web_fetch_requests: 0 } },
      })
      const again = {
        ...first,
        messages: [
          ...first.messages,
          { role: "assistant", content: sentBack(answer.content) },
          { role: "user", content: "Thanks" },
        ],
      }
      expect(await sim.ask(again)).toMatchObject({ type: "message" })
    },
  )

  test("BEY-8 the SDK reads a streamed search, and the bill has its price", async () => {
    const sim = await simulator({ responder: helpfulResponder() })
    const message = await client(sim)
      .messages.stream(body("Search the web for weather in Paris.", [search]) as never)
      .finalMessage()
    expect(message.content).toMatchObject([
      { type: "server_tool_use", name: "web_search", input: { query: "weather in Paris" } },
      { type: "web_search_tool_result", content: [{ title: "Weather in Paris" }] },
      { type: "text" },
    ])
    expect(message.usage.server_tool_use).toEqual({ web_search_requests: 1, web_fetch_requests: 0 })
    expect(sim.stats().total.dollars).toBeGreaterThan(0.01)
  })

  test("BEY-8 a forced search uses the question as its query", async () => {
    const forced = { tool_choice: { type: "tool", name: "web_search" } }
    const { content } = await inProcess(helpfulResponder()).ask(body("Tool use in TypeScript", [search], forced))
    expect(content.map(({ type }) => type)).toEqual(["server_tool_use", "other", "text"])
  })

  test("BEY-8 a page is fetched if its address is in the conversation", async () => {
    const sim = inProcess(helpfulResponder())
    const page = "https://docs.example.com/tool-use"
    const { content, usage } = await sim.ask(body(`Fetch ${page}`, [fetching]))
    expect(resultOf(content)).toMatchObject({
      type: "web_fetch_tool_result",
      content: {
        type: "web_fetch_result",
        url: page,
        content: { type: "document", title: "Tool use in three steps", source: { type: "text" } },
      },
    })
    expect(usage.server_tool_use).toEqual({ web_search_requests: 0, web_fetch_requests: 1 })
  })

  test.each([
    {
      why: "an address the person may not give",
      tool: { url_sources: { user_input: { type: "none" } } },
      code: "url_not_in_prior_context",
    },
    { why: "a blocked domain", tool: { blocked_domains: ["example.com"] }, code: "url_not_allowed" },
    { why: "a domain that is not allowed", tool: { allowed_domains: ["other.com"] }, code: "url_not_allowed" },
  ])("BEY-8 a fetch is refused for $why", async ({ tool, code }) => {
    const { content } = await inProcess(helpfulResponder()).ask(
      body("Fetch https://docs.example.com/tool-use", [{ ...fetching, ...tool }]),
    )
    expect(resultOf(content)?.content).toEqual({ type: "web_fetch_tool_result_error", error_code: code })
  })

  test.each([
    { version: "20250522", name: "code_execution" },
    { version: "20250825", name: "bash_code_execution" },
  ])("BEY-8 code execution $version is refused with the error block of the API", async ({ version, name }) => {
    const tool = { type: `code_execution_${version}`, name: "code_execution" }
    const { content } = await inProcess(helpfulResponder()).ask(body("Run this code: print(1)", [tool]))
    expect(content[0]).toMatchObject({ type: "server_tool_use", name })
    expect(resultOf(content)).toMatchObject({
      type: `${name}_tool_result`,
      content: { type: `${name}_tool_result_error`, error_code: "unavailable" },
    })
  })

  test("BEY-8 the server's tool search loads a deferred tool, which the responder then calls", async () => {
    const refund = {
      name: "refund_customer",
      description: "Refunds a customer",
      input_schema: { type: "object", properties: {} },
      defer_loading: true,
    }
    const find = { type: "tool_search_tool_bm25_20251119", name: "tool_search_tool_bm25" }
    const { content } = await inProcess(responderByName("worker")).ask(
      body("Use a tool to refund a customer.", [find, refund]),
    )
    expect(resultOf(content)?.content).toEqual({
      type: "tool_search_tool_search_result",
      tool_references: [{ type: "tool_reference", tool_name: "refund_customer" }],
    })
    expect(content.at(-1)).toMatchObject({ type: "tool_use", name: "refund_customer" })
  })
})
