/** What a request must pass before its content is looked at: its host, its key, its size, and that it is JSON. */
import { ApiError, invalidRequest } from "./api-error.ts"

export const DEFAULT_MAX_REQUEST_BYTES = 32 * 1024 * 1024

const LOOPBACK_HOST = /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?$/i

/** A web page that reaches the port by a name of its own (DNS rebinding) is turned away. */
export function checkHost(host: string | undefined): void {
  if (!host || !LOOPBACK_HOST.test(host))
    throw new ApiError(403, "The simulator answers on the loopback interface only.")
}

/** `x-api-key` wins where both headers are present, as it does with the API. */
export function checkKey(headers: Headers, allowed: readonly string[] | undefined): void {
  const bearer = /^Bearer\s+(.+)$/i.exec(headers.get("authorization") ?? "")?.[1]
  const key = headers.get("x-api-key") ?? bearer
  if (!key) throw new ApiError(401, "x-api-key header is required")
  if (allowed && !allowed.includes(key)) throw new ApiError(401, "invalid x-api-key")
}

export async function readJson(request: Request, maxBytes: number): Promise<unknown> {
  const text = await readText(request, maxBytes)
  try {
    return JSON.parse(text) as unknown
  } catch {
    throw invalidRequest("The request body is not valid JSON.")
  }
}

/** A body that is too large is read to its end all the same: a client that is still sending would not see the answer. */
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
