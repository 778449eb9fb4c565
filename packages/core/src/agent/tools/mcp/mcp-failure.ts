/** Why a server cannot be reached, as part of a sentence for a person. Codes of libraries are translated. */
import { messageOf } from "../../../base/errors.ts"

/** Codes of the system, for a request over the network. */
const NETWORK: Readonly<Record<string, (url: URL) => string>> = {
  ECONNREFUSED: ({ host }) => `nothing answers at ${host}`,
  ENOTFOUND: ({ hostname }) => `there is no host named ${hostname}`,
  EAI_AGAIN: ({ hostname }) => `the name ${hostname} could not be looked up`,
  ECONNRESET: ({ host }) => `${host} closed the connection`,
  ETIMEDOUT: ({ host }) => `${host} did not answer`,
  UND_ERR_CONNECT_TIMEOUT: ({ host }) => `${host} did not answer`,
}

/** Codes of the client library. */
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
    const message = messageOf(cause ?? error)
    if (messageOf(error) === "fetch failed") return `${new URL(url).host} cannot be reached (${message})`
  }
  return PROTOCOL[String(code)] ?? messageOf(error)
}

/** A connection that was tried at several addresses fails with one error for each. */
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

const LOST = new Set(["NOT_CONNECTED", "CONNECTION_CLOSED", "SEND_FAILED"]) // codes of the client library

/** The connection is gone. Over HTTP: the server cannot be reached, or does not know the session. */
export function isLost(error: unknown): boolean {
  const { code } = error as { readonly code?: unknown }
  return LOST.has(String(code)) || isUnknownSession(error) || isFetchFailure(error)
}

/** The server cannot have carried out the call: it was never sent, or refused because of its session. */
export function wasNotRun(error: unknown): boolean {
  const { code, cause } = error as { readonly code?: unknown; readonly cause?: unknown }
  return code === "NOT_CONNECTED" || isUnknownSession(error) || networkCode(cause) === "ECONNREFUSED"
}

/** 404 by the protocol. Some servers answer 400 and say so in words. */
function isUnknownSession(error: unknown): boolean {
  const { status } = error as { readonly status?: unknown }
  return status === 404 || (status === 400 && /session|not initialized/i.test(messageOf(error)))
}

const isFetchFailure = (error: unknown): boolean => error instanceof TypeError && error.message === "fetch failed"
