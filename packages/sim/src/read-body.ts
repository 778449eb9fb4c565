/** Reads a request body: not more than the limit, and JSON. */
import { ApiError, invalidRequest } from "./api-error.ts"

export const DEFAULT_MAX_REQUEST_BYTES = 32 * 1024 * 1024

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
