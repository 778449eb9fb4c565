/** Handles requests: access is checked first, then the path decides. */

import { hash } from "node:crypto"
import type { IncomingMessage, ServerResponse } from "node:http"
import { errorKind, errorReason, escapeInvisible } from "@strata/core/base"
import type { ConversationStatus } from "../clients/plan.ts"
import { checkAccess } from "./access.ts"
import { type ApiError, overloaded, permissionError, sendError } from "./api-error.ts"
import { withinLimit } from "./limits.ts"
import { answerMessages, type MessagesRoute } from "./messages-route.ts"
import { breakOff, type ProxiedRequest, passThrough } from "./pass-through.ts"
import type { Upstream } from "./upstream.ts"

// Renders a page with a row for each conversation. It is a single text without scripts or external content, and browsers do not cache it.

const STYLE = `:root{color-scheme:light dark;font:14px/1.5 system-ui,sans-serif}
body{margin:2rem}table{border-collapse:collapse}
th,td{padding:.3rem .8rem;text-align:left;border-bottom:1px solid #8884;vertical-align:top}
.n{text-align:right;font-variant-numeric:tabular-nums}small{opacity:.7}`

export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": `default-src 'none'; style-src 'sha256-${hash("sha256", STYLE, "base64")}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  "cache-control": "no-store",
  "referrer-policy": "no-referrer", // the address contains the secret
  "x-content-type-options": "nosniff",
}

export const STATUS_HEADERS: Readonly<Record<string, string>> = {
  "content-type": "application/json",
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
}

const COLUMNS = ["Conversation", "Client", "Requests", "Sent", "Direct", "From cache", "Cost", "Direct", "Decisions"]
const NUMBERS = new Set([2, 3, 4, 5, 6, 7])
const REFRESH_SECONDS = 5

export function statusPage(rows: readonly ConversationStatus[]): string {
  const head = COLUMNS.map((name, at) => `<th${numeric(at)}>${name}</th>`).join("")
  const table = `<table><thead><tr>${head}</tr></thead><tbody>${rows.map(rowOf).join("")}</tbody></table>`
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="${REFRESH_SECONDS}">
<title>Strata proxy</title><style>${STYLE}</style></head><body><h1>Strata proxy</h1>
${rows.length === 0 ? "<p>No conversations yet.</p>" : `<p>${totalCosts(rows)}</p>${table}`}</body></html>`
}

const numeric = (column: number): string => (NUMBERS.has(column) ? ' class="n"' : "")

function rowOf(row: ConversationStatus): string {
  const state = row.off !== undefined ? `off: ${row.off}` : row.isObserved ? "observed" : ""
  const cells = [
    `${safe(row.title)}<br><small>${safe(row.id)}${state === "" ? "" : ` · ${safe(state)}`}</small>`,
    safe(row.client),
    String(row.requests),
    tokens(row.sent),
    tokens(row.direct),
    `${Math.round(row.cacheRead * 100)}%`,
    dollars(row.cost),
    dollars(row.directCost),
    row.decisions.map(safe).join("<br>"),
  ]
  return `<tr>${cells.map((cell, at) => `<td${numeric(at)}>${cell}</td>`).join("")}</tr>`
}

/** Sums only conversations for which both costs are known, so that the two sums are comparable. */
function totalCosts(rows: readonly ConversationStatus[]): string {
  const priced = rows.filter(({ cost, directCost }) => cost !== undefined && directCost !== undefined)
  const sum = (of: (row: ConversationStatus) => number | undefined) => priced.reduce((all, row) => all + of(row)!, 0)
  const unpriced = rows.length - priced.length
  const without = unpriced === 0 ? "" : ` (without ${unpriced} of unknown price)`
  return `${dollars(sum(({ cost }) => cost))}; direct ${dollars(sum(({ directCost }) => directCost))}${without}`
}

const tokens = (count: number): string => count.toLocaleString("en-US")
const dollars = (amount: number | undefined): string => (amount === undefined ? "unknown" : `$${amount.toFixed(2)}`)

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
}
const safe = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character]!)

const MESSAGES = "/v1/messages"
const STATUS_PATH = /^\/_strata(?:\/|$)/
const MAX_LOGGED_CHARACTERS = 200

export interface ServerOptions extends MessagesRoute {
  readonly upstream: Upstream
  readonly secret: string
  readonly onLog: (line: string) => void
}

/** The running requests. */
export class RunningRequests {
  readonly #running = new Map<Promise<void>, AbortController>()
  readonly #parts: ServerOptions
  #isClosing = false

  constructor(parts: ServerOptions) {
    this.#parts = parts
  }

  start(request: IncomingMessage, response: ServerResponse): void {
    const gone = new AbortController()
    response.on("error", () => gone.abort())
    response.on("close", () => {
      if (!response.writableFinished) gone.abort()
    })
    if (this.#isClosing) response.shouldKeepAlive = false
    const busy = this.#isClosing
      ? "the proxy is closing"
      : this.#running.size >= this.#parts.limits.requests
        ? "the proxy is handling too many requests"
        : undefined
    const closed = new Promise((resolve) => response.once("close", resolve)) // after the last byte was sent
    const running = handle({ request, response, busy, signal: gone.signal }, this.#parts)
      .catch((error: unknown) => {
        response.destroy()
        return `failed: ${errorKind(error)}`
      })
      .then(async (line) => {
        await closed
        this.#running.delete(running)
        this.#parts.onLog(line)
      })
      .catch(() => {}) // errors of the log are ignored
    this.#running.set(running, gone)
  }

  /** Refuses new requests from now on, because open connections may send more. */
  refuse(): void {
    this.#isClosing = true
  }

  async ended(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.keys())
  }

  abort(): void {
    for (const gone of this.#running.values()) gone.abort()
  }
}

interface HandledRequest {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Reason why it cannot be sent now, if any. */
  readonly busy: string | undefined
  readonly signal: AbortSignal
}

/** Handles a request and returns a log line without secrets, queries and headers. */
async function handle({ request, response, busy, signal }: HandledRequest, parts: ServerOptions): Promise<string> {
  const refuse = (error: ApiError) => {
    request.resume()
    sendError(response, error)
    return `refused with ${error.status}: ${error.message}`
  }
  const admission = checkAccess(request, parts.secret)
  if (admission.kind === "refused") return refuse(permissionError(admission.why))
  const { path, query } = admission
  const name = `${request.method} ${escapeInvisible(path).slice(0, MAX_LOGGED_CHARACTERS)}`
  if (STATUS_PATH.test(path)) return `${name} ${await answerStatus(path, { request, response }, parts)}`
  if (busy !== undefined) return refuse(overloaded(busy))
  if (parts.upstream.isLoop(request.rawHeaders)) return refuse(LOOP_ERROR)
  const passing: ProxiedRequest = { request, response, path: path + query, upstream: parts.upstream, signal }
  const isMessages = request.method === "POST" && path === MESSAGES
  try {
    return `${name} ${await (isMessages ? answerMessages(passing, parts) : passThrough(passing))}`
  } catch (error) {
    if (signal.aborted) return `${name} the client went away`
    if (response.headersSent) breakOff(response)
    else sendError(response, unreachable(parts.upstream, error))
    return `${name} failed: ${errorReason(error)}`
  }
}

const LOOP_ERROR: ApiError = {
  status: 508,
  type: "api_error",
  message:
    "The request was not sent: it would loop, because the proxy's upstream is the proxy itself. Choose another upstream.",
}

const unreachable = (upstream: Upstream, error: unknown): ApiError => ({
  status: 502,
  type: "api_error",
  message: `The proxy got no response from ${upstream.name} (${errorReason(error)}). Check the upstream's address and the network.`,
})

async function answerStatus(
  path: string,
  { request, response }: Pick<HandledRequest, "request" | "response">,
  { plans, limits, clock }: ServerOptions,
): Promise<number> {
  const error = (status: number, type: string, message: string) => {
    request.resume()
    sendError(response, { status, type, message })
    return status
  }
  if (request.method !== "GET" && request.method !== "HEAD")
    return error(405, "invalid_request_error", "The status is read-only. Use GET.")
  const isPage = path === "/_strata" || path === "/_strata/"
  if (!isPage && path !== "/_strata/status")
    return error(404, "not_found_error", "Not found. Use /_strata/ or /_strata/status.")
  const rows = await withinLimit(() => plans.status(), { ms: limits.planMs, clock })
  if (rows.kind !== "done") {
    const why = rows.kind === "late" ? "it took too long" : errorKind(rows.error)
    return error(500, "api_error", `The status cannot be read: ${why}.`)
  }
  response.writeHead(200, isPage ? PAGE_HEADERS : STATUS_HEADERS)
  response.end(isPage ? statusPage(rows.value) : JSON.stringify({ conversations: rows.value }))
  return 200
}
