/** What happens to a request: who asks is checked first, then its path decides. */

import { hash } from "node:crypto"
import type { IncomingMessage, ServerResponse } from "node:http"
import { errorKind, errorReason, escapeInvisible } from "@strata/core/base"
import type { ConversationStatus } from "../callers/plan.ts"
import { type ApiError, overloaded, permissionError, sendError } from "./api-error.ts"
import { admit } from "./doors/admission.ts"
import { withinLimit } from "./limits.ts"
import { answerMessages, type MessagesRoute } from "./messages-route.ts"
import { breakOff, type Passing, passThrough } from "./pass-through.ts"
import type { Upstream } from "./upstream.ts"

// A page with a row for each conversation. It is one text: no script, nothing from elsewhere, nothing kept by the browser.

const STYLE = `:root{color-scheme:light dark;font:14px/1.5 system-ui,sans-serif}
body{margin:2rem}table{border-collapse:collapse}
th,td{padding:.3rem .8rem;text-align:left;border-bottom:1px solid #8884;vertical-align:top}
.n{text-align:right;font-variant-numeric:tabular-nums}small{opacity:.7}`

export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": `default-src 'none'; style-src 'sha256-${hash("sha256", STYLE, "base64")}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  "cache-control": "no-store",
  "referrer-policy": "no-referrer", // the address has the secret in it
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
${rows.length === 0 ? "<p>No conversation has passed yet.</p>" : `<p>${totalOf(rows)}</p>${table}`}</body></html>`
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

/** Only conversations of which both are known: a sum beside another must be about the same. */
function totalOf(rows: readonly ConversationStatus[]): string {
  const priced = rows.filter(({ cost, directCost }) => cost !== undefined && directCost !== undefined)
  const sum = (of: (row: ConversationStatus) => number | undefined) => priced.reduce((all, row) => all + of(row)!, 0)
  const left = rows.length - priced.length
  const without = left === 0 ? "" : ` (without ${left} of unknown price)`
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
const OWN = /^\/_strata(?:\/|$)/
const MAX_LOGGED_CHARACTERS = 200

export interface ServerParts extends MessagesRoute {
  readonly upstream: Upstream
  readonly secret: string
  readonly onLog: (line: string) => void
}

/** Requests that are under way. */
export class Requests {
  readonly #running = new Map<Promise<void>, AbortController>()
  readonly #parts: ServerParts
  #isClosing = false

  constructor(parts: ServerParts) {
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
        ? "too many requests are under way in the proxy"
        : undefined
    const closed = new Promise((resolve) => response.once("close", resolve)) // the last byte is on its way
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
      .catch(() => {}) // a log that cannot be written
    this.#running.set(running, gone)
  }

  /** From now on: a connection that is still open may bring more. */
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

interface Handled {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Why it cannot be sent now, if so. */
  readonly busy: string | undefined
  readonly signal: AbortSignal
}

/** A line for the log. It has no secret, no query and no header in it. */
async function handle({ request, response, busy, signal }: Handled, parts: ServerParts): Promise<string> {
  const refuse = (error: ApiError) => {
    request.resume()
    sendError(response, error)
    return `refused with ${error.status}: ${error.message}`
  }
  const admission = admit(request, parts.secret)
  if (admission.kind === "refused") return refuse(permissionError(admission.why))
  const { path, query } = admission
  const name = `${request.method} ${escapeInvisible(path).slice(0, MAX_LOGGED_CHARACTERS)}`
  if (OWN.test(path)) return `${name} ${await answerStatus(path, { request, response }, parts)}`
  if (busy !== undefined) return refuse(overloaded(busy))
  if (parts.upstream.isCircle(request.rawHeaders)) return refuse(CIRCLE)
  const passing: Passing = { request, response, path: path + query, upstream: parts.upstream, signal }
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

const CIRCLE: ApiError = {
  status: 508,
  type: "api_error",
  message:
    "The request was not sent: it goes in a circle. The proxy's upstream is the proxy itself. Name another upstream.",
}

const unreachable = (upstream: Upstream, error: unknown): ApiError => ({
  status: 502,
  type: "api_error",
  message: `The proxy has no answer from ${upstream.name} (${errorReason(error)}). Check the upstream's address and the network.`,
})

async function answerStatus(
  path: string,
  { request, response }: Pick<Handled, "request" | "response">,
  { plans, limits, clock }: ServerParts,
): Promise<number> {
  const error = (status: number, type: string, message: string) => {
    request.resume()
    sendError(response, { status, type, message })
    return status
  }
  if (request.method !== "GET" && request.method !== "HEAD")
    return error(405, "invalid_request_error", "The status can only be read: use GET.")
  const isPage = path === "/_strata" || path === "/_strata/"
  if (!isPage && path !== "/_strata/status")
    return error(404, "not_found_error", "There is /_strata/ and /_strata/status.")
  const rows = await withinLimit(() => plans.status(), { ms: limits.planMs, clock })
  if (rows.kind !== "done") {
    const why = rows.kind === "late" ? "it took too long" : errorKind(rows.error)
    return error(500, "api_error", `The status cannot be read: ${why}.`)
  }
  response.writeHead(200, isPage ? PAGE_HEADERS : STATUS_HEADERS)
  response.end(isPage ? statusPage(rows.value) : JSON.stringify({ conversations: rows.value }))
  return 200
}
