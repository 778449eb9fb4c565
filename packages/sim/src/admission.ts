/** The checks before the content of a request: its host, its key, its size, its encoding, and that it is JSON. */
import { Readable } from "node:stream"
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib"
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

/** A request's body, as the server or a `Request` has it. */
export interface SentBody {
  readonly chunks: AsyncIterable<Uint8Array>
  /** The header `content-encoding`. */
  readonly encoding: string | null | undefined
}

export const bodyOf = ({ body, headers }: Request): SentBody => ({
  chunks: body ?? ReadableStream.from([]),
  encoding: headers.get("content-encoding"),
})

export async function readJson(body: SentBody, maxBytes: number): Promise<unknown> {
  const text = (await readBytes(body, maxBytes)).toString("utf8")
  const json = parsed(text)
  // half a character can only come as an escape: the body itself is UTF-8
  if ((text.includes("\\ud") || text.includes("\\uD")) && hasHalfCharacter(json)) {
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
export async function readBytes({ chunks: sent, encoding }: SentBody, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of sent) {
    size += chunk.byteLength
    if (size <= maxBytes) chunks.push(chunk)
  }
  if (size > maxBytes) throw new ApiError(413, "Request exceeds the maximum allowed number of bytes.")
  return decoded(Buffer.concat(chunks), encoding, maxBytes)
}

const DECODERS: ReadonlyMap<string, () => NodeJS.ReadWriteStream> = new Map([
  ["gzip", createGunzip],
  ["x-gzip", createGunzip],
  ["deflate", createInflate],
  ["br", createBrotliDecompress],
])

/** Undoes the encodings, last one first. Stops at the limit: a small body can unpack to gigabytes. */
async function decoded(bytes: Buffer, header: SentBody["encoding"], maxBytes: number): Promise<Buffer> {
  const encodings = (header ?? "")
    .toLowerCase()
    .split(",")
    .flatMap((name) => name.trim() || [])
  let plain = bytes
  for (const encoding of encodings.toReversed()) {
    if (encoding === "identity") continue
    const decoder = DECODERS.get(encoding)
    if (!decoder) throw new ApiError(400, `content-encoding: "${encoding}" is not supported`)
    plain = await unpacked(plain, decoder, maxBytes)
  }
  return plain
}

async function unpacked(bytes: Buffer, decoder: () => NodeJS.ReadWriteStream, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of Readable.from([bytes]).compose(decoder()) as AsyncIterable<Buffer>) {
      size += chunk.byteLength
      if (size > maxBytes) break
      chunks.push(chunk)
    }
  } catch {
    throw invalidRequest("The request body could not be decoded with its content-encoding.")
  }
  if (size > maxBytes) {
    throw new ApiError(413, "Request exceeds the maximum allowed number of bytes after decoding.", {
      code: "request_body_too_large_after_decoding",
    })
  }
  return Buffer.concat(chunks)
}
