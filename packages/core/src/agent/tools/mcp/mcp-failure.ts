/** Describes why a server cannot be reached, as part of a sentence for the user. Translates error codes of libraries. */
import { errorMessage } from "../../../base/errors.ts"

/** System error codes of network requests. */
const NETWORK: Readonly<Record<string, (url: URL) => string>> = {
  ECONNREFUSED: ({ host }) => `nothing answers at ${host}`,
  ENOTFOUND: ({ hostname }) => `there is no host named ${hostname}`,
  EAI_AGAIN: ({ hostname }) => `the name ${hostname} could not be looked up`,
  ECONNRESET: ({ host }) => `${host} closed the connection`,
  ETIMEDOUT: ({ host }) => `${host} did not answer`,
  UND_ERR_CONNECT_TIMEOUT: ({ host }) => `${host} did not answer`,
}

/** Error codes of the client library. */
const PROTOCOL: Readonly<Record<string, string>> = {
  CONNECTION_CLOSED: "it ended before it answered",
  CLIENT_HTTP_UNEXPECTED_CONTENT: "it answers, but not as an MCP server does",
  ERR_INVALID_URL: "its url is not valid",
}

export function failureReason(error: unknown, url?: string): string {
  const { code, status, cause } = error as {
    readonly code?: unknown
    readonly status?: unknown
    readonly cause?: unknown
  }
  if (typeof status === "number" && status >= 400) return httpReason(status)
  if (url !== undefined && URL.canParse(url)) {
    const known = NETWORK[String(networkCode(error) ?? networkCode(cause))]
    if (known) return known(new URL(url))
    const message = errorMessage(cause ?? error)
    if (errorMessage(error) === "fetch failed") return `${new URL(url).host} cannot be reached (${message})`
  }
  return PROTOCOL[String(code)] ?? errorMessage(error)
}

/** The error code of a network error. A connection that was tried at several addresses has one error for each. */
function networkCode(error: unknown): unknown {
  const { code, errors } = (error ?? {}) as { readonly code?: unknown; readonly errors?: readonly { code?: unknown }[] }
  return code ?? errors?.[0]?.code
}

function httpReason(status: number): string {
  if (status === 401 || status === 403)
    return `it refuses access (HTTP ${status}). Put a key into its headers: "Authorization": "Bearer \${NAME}"`
  if (status === 404) return "there is no MCP server at this address (HTTP 404)"
  if (status >= 500) return `it has an error of its own (HTTP ${status})`
  return `it refuses the connection (HTTP ${status})`
}

const LOST = new Set(["NOT_CONNECTED", "CONNECTION_CLOSED", "SEND_FAILED"]) // error codes of the client library

/** Whether the connection is lost. Over HTTP: the server cannot be reached, or does not know the session. */
export function isLost(error: unknown): boolean {
  const { code } = error as { readonly code?: unknown }
  return LOST.has(String(code)) || isUnknownSession(error) || isFetchFailure(error)
}

/** Whether the server cannot have run the call: it was never sent, or refused because of its session. */
export function wasNotRun(error: unknown): boolean {
  const { code, cause } = error as { readonly code?: unknown; readonly cause?: unknown }
  return code === "NOT_CONNECTED" || isUnknownSession(error) || networkCode(cause) === "ECONNREFUSED"
}

/** Whether the server does not know the session: 404 in the protocol, and 400 with an explanation from some servers. */
function isUnknownSession(error: unknown): boolean {
  const { status } = error as { readonly status?: unknown }
  return status === 404 || (status === 400 && /session|not initialized/i.test(errorMessage(error)))
}

const isFetchFailure = (error: unknown): boolean => error instanceof TypeError && error.message === "fetch failed"
