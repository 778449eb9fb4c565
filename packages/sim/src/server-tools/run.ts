/**
 * Runs the server tools that an answer calls. Search and fetch use the simulator's own pages. Code execution is refused, with the API's
 * error block. The limits of the declaration apply: domains, uses, and where a URL may come from.
 */

import { blocksOf, type Turn } from "../conversation.ts"
import { isDeferred } from "../deferred-tools.ts"
import type { OtherBlock } from "../responder.ts"
import type { Block, ToolParam } from "../wire.ts"
import { serverToolKind } from "./kinds.ts"
import { searchPages, type WebPage } from "./pages.ts"

const MAX_QUERY = 1000 // characters
const MAX_URL = 250
const MAX_TOOLS_FOUND = 5

export interface ServerCall {
  readonly id: string
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
}

export interface ServerContext {
  readonly tools: readonly ToolParam[]
  /** The conversation, including this answer so far. */
  readonly turns: readonly Turn[]
  readonly pages: readonly WebPage[]
  /** When the page is fetched, in milliseconds since 1970. */
  readonly now: number
}

/** The block that follows the call in the answer. */
export function runServerTool(call: ServerCall, context: ServerContext): OtherBlock {
  const tool = context.tools.find(({ name }) => name === call.name)
  switch (tool && serverToolKind(tool)) {
    case "web_search":
      return result("web_search_tool_result", call, search(call, tool!, context))
    case "web_fetch":
      return result("web_fetch_tool_result", call, fetchPage(call, tool!, context))
    case "tool_search":
      return result("tool_search_tool_result", call, searchTools(call, context))
    default:
      return result("code_execution_tool_result", call, {
        type: "code_execution_tool_result_error",
        error_code: "unavailable",
      })
  }
}

function result(type: string, { id }: ServerCall, content: unknown): OtherBlock {
  const caller = type.startsWith("web_") ? { caller: { type: "direct" } } : {}
  return { type, tool_use_id: id, content, ...caller }
}

function search({ name, input }: ServerCall, tool: ToolParam, { pages, turns }: ServerContext): unknown {
  const failed = (error_code: string) => ({ type: "web_search_tool_result_error", error_code })
  const query = `${input.query ?? ""}`
  if (query.trim() === "") return failed("invalid_tool_input")
  if (query.length > MAX_QUERY) return failed("query_too_long")
  if (isUsedUp(name, tool, turns)) return failed("max_uses_exceeded")
  return searchPages(
    pages.filter(({ url }) => isAllowed(url, tool)),
    query,
  ).map(({ url, title, text, age = null }) => ({
    type: "web_search_result",
    url,
    title,
    encrypted_content: Buffer.from(text).toString("base64"),
    page_age: age,
  }))
}

function fetchPage({ name, input }: ServerCall, tool: ToolParam, { pages, turns, now }: ServerContext): unknown {
  const failed = (error_code: string) => ({ type: "web_fetch_tool_result_error", error_code })
  const url = `${input.url ?? ""}`
  if (!URL.canParse(url)) return failed("invalid_tool_input")
  if (url.length > MAX_URL) return failed("url_too_long")
  if (isUsedUp(name, tool, turns)) return failed("max_uses_exceeded")
  if (!isAllowed(url, tool)) return failed("url_not_allowed")
  if (!isInContext(url, tool, turns)) return failed("url_not_in_prior_context")
  const page = pages.find((candidate) => candidate.url === url)
  if (!page) return failed("url_not_accessible")
  return {
    type: "web_fetch_result",
    url,
    retrieved_at: new Date(now).toISOString(),
    content: {
      type: "document",
      source: { type: "text", media_type: "text/plain", data: page.text },
      title: page.title,
      citations: tool.citations?.enabled ? { enabled: true } : null,
    },
  }
}

/** Counts the uses since the user's last message, because they belong to one request. */
function isUsedUp(name: string, { max_uses }: ToolParam, turns: readonly Turn[]): boolean {
  const last = turns.at(-1)
  const uses = (last?.role === "assistant" ? last.blocks : []).filter(
    ({ block }) => block.type === "server_tool_use" && block.name === name,
  )
  return typeof max_uses === "number" && uses.length >= max_uses
}

/** A domain covers its subdomains. */
function isAllowed(url: string, { allowed_domains, blocked_domains }: ToolParam): boolean {
  const host = URL.parse(url)?.hostname ?? ""
  const isIn = (domain: string) => {
    const name = domain.split("/")[0] ?? ""
    return host === name || host.endsWith(`.${name}`)
  }
  return allowed_domains ? allowed_domains.some(isIn) : !blocked_domains?.some(isIn)
}

/** A model may fetch only URLs that it has seen: in the user's messages, in results of the client's tools, or of the server's. */
function isInContext(url: string, { url_sources }: ToolParam, turns: readonly Turn[]): boolean {
  return turns.some(({ role, blocks }) =>
    blocks.some(({ block }) => {
      const source =
        role === "user" ? (block.type === "tool_result" ? "client_tool_results" : "user_input") : "server_tool_results"
      if (url_sources?.[source]?.type === "none") return false
      return role !== "assistant" || block.type.endsWith("_tool_result") ? JSON.stringify(block).includes(url) : false
    }),
  )
}

function searchTools({ name, input }: ServerCall, { tools }: ServerContext): unknown {
  const asked = `${input.pattern ?? input.query ?? ""}`
  const words = asked.toLowerCase().match(/[a-z]{3,}/g) ?? []
  const scored = tools.filter(isDeferred).map((tool) => {
    const own = `${tool.name} ${tool.description ?? ""}`.toLowerCase()
    return { name: tool.name, score: words.filter((word) => own.includes(word)).length }
  })
  if (asked === "") return { type: "tool_search_tool_result_error", error_code: "invalid_tool_input" }
  const found = scored
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score || a.name.localeCompare(name))
  return {
    type: "tool_search_tool_search_result",
    tool_references: found.slice(0, MAX_TOOLS_FOUND).map((tool) => ({ type: "tool_reference", tool_name: tool.name })),
  }
}

/** The blocks of an answer so far, as one turn of the assistant. */
export const answerTurn = (content: readonly Block[]): Turn => ({
  role: "assistant",
  blocks: blocksOf(content).map((block, position) => ({ block, message: 0, position })),
})
