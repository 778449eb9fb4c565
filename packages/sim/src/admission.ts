/** The checks before the content of a request: its host, its key, its size, and that it is JSON. */
import { ApiError, invalidRequest } from "./api-error.ts"

/** The header that carries the token of the control endpoints. */
export const TOKEN_HEADER = "x-sim-token"

export const DEFAULT_MAX_REQUEST_BYTES = 32 * 1024 * 1024

const LOOPBACK_HOST = /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?$/i

/** Refuses web pages that reach the port through their own host name (DNS rebinding). */
export function checkHost(host: string | undefined): void {
  if (!host || !LOOPBACK_HOST.test(host))
    throw new ApiError(403, "The simulator answers only on the loopback interface.")
}

/** `x-api-key` wins if both headers are present, as in the API. */
export function checkKey(headers: Headers, allowed: readonly string[] | undefined): void {
  const bearer = /^Bearer\s+(.+)$/i.exec(headers.get("authorization") ?? "")?.[1]
  const key = headers.get("x-api-key") ?? bearer
  if (!key) throw new ApiError(401, "x-api-key header is required")
  if (allowed && !allowed.includes(key)) throw new ApiError(401, "invalid x-api-key")
}

export async function readJson(request: Request, maxBytes: number): Promise<unknown> {
  const text = await readText(request, maxBytes)
  const json = parsed(text)
  // half a character can only come as an escape: the body itself is UTF-8
  if (/\\u[dD]/.test(text) && hasHalfCharacter(json)) {
    throw invalidRequest("The request body is not valid JSON: no low surrogate in string")
  }
  return json
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    throw invalidRequest("The request body is not valid JSON.")
  }
}

function hasHalfCharacter(json: unknown): boolean {
  const open = [json]
  while (open.length > 0) {
    const value = open.pop()
    if (typeof value === "string" && !value.isWellFormed()) return true
    if (typeof value !== "object" || value === null) continue
    if (Object.keys(value).some((key) => !key.isWellFormed())) return true
    open.push(...Object.values(value))
  }
  return false
}

/** Reads even a body that is too large to its end: a client that is still sending would not see the error. */
async function readText(request: Request, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength
    if (size <= maxBytes) chunks.push(chunk)
  }
  if (size > maxBytes) throw new ApiError(413, "Request exceeds the maximum allowed number of bytes.")
  return Buffer.concat(chunks).toString("utf8")
}
