/** Errors of the proxy itself in the API's shape, so that clients show their message. */
import type { ServerResponse } from "node:http"

export interface ApiError {
  readonly status: number
  readonly type: string
  readonly message: string
  /** For clients: `details.error_code`. */
  readonly code?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
}

export const tooLarge = (max: number): ApiError => ({
  status: 413,
  type: "request_too_large",
  message: `The request was not sent: it is larger than the proxy's limit of ${max} bytes.`,
})

export const overloaded = (why: string): ApiError => ({
  status: 529,
  type: "overloaded_error",
  message: `The request was not sent: ${why}. Try again in a moment.`,
  headers: { "retry-after": "1" },
})

export const permissionError = (message: string): ApiError => ({ status: 403, type: "permission_error", message })

export function sendError(response: ServerResponse, { status, type, message, code, headers }: ApiError): void {
  const body = JSON.stringify({
    type: "error",
    error: { type, message, ...(code ? { details: { error_code: code } } : {}) },
  })
  response.writeHead(status, { "content-type": "application/json", "cache-control": "no-store", ...headers })
  response.end(body)
}
