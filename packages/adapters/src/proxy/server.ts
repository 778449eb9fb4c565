/** What happens to a request: who asks is checked first, then its path decides. */
import type { IncomingMessage, ServerResponse } from "node:http"
import { escaped, kindOfError, reasonOf } from "@strata/core/base"
import { type ApiError, overloaded, permissionError, sendError } from "./api-error.ts"
import { admit } from "./doors/admission.ts"
import { withinLimit } from "./limits.ts"
import { answerMessages, type MessagesRoute } from "./messages-route.ts"
import { breakOff, type Passing, passThrough } from "./pass-through.ts"
import { PAGE_HEADERS, STATUS_HEADERS, statusPage } from "./status-page.ts"
import type { Upstream } from "./upstream.ts"

const MESSAGES = "/v1/messages"
const OWN = /^\/_strata(?:\/|$)/
const MOST_LOGGED_CHARACTERS = 200

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
        return `failed: ${kindOfError(error)}`
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
  const name = `${request.method} ${escaped(path).slice(0, MOST_LOGGED_CHARACTERS)}`
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
    return `${name} failed: ${reasonOf(error)}`
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
  message: `The proxy has no answer from ${upstream.name} (${reasonOf(error)}). Check the upstream's address and the network.`,
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
    const why = rows.kind === "late" ? "it took too long" : kindOfError(rows.error)
    return error(500, "api_error", `The status cannot be read: ${why}.`)
  }
  response.writeHead(200, isPage ? PAGE_HEADERS : STATUS_HEADERS)
  response.end(isPage ? statusPage(rows.value) : JSON.stringify({ conversations: rows.value }))
  return 200
}
