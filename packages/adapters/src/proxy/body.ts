/** Reads a request's body, as received and decompressed. Both are limited. */
import { isUtf8 } from "node:buffer"
import type { IncomingMessage } from "node:http"
import { promisify } from "node:util"
import { brotliDecompress, gunzip, inflate, zstdDecompress } from "node:zlib"
import type { ParsedBodies } from "../clients/http/parsed-bodies.ts"

const DECODERS: Readonly<Record<string, (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>>> = {
  gzip: promisify(gunzip),
  "x-gzip": promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
  zstd: promisify(zstdDecompress),
  identity: async (bytes) => bytes,
}

/** Total bytes of running requests. */
export class ByteBudget {
  #bytes = 0
  readonly #max: number

  constructor(max: number) {
    this.#max = max
  }

  take(bytes: number): "taken" | "full" {
    if (this.#bytes + bytes > this.#max) return "full"
    this.#bytes += bytes
    return "taken"
  }

  release(bytes: number): void {
    this.#bytes -= bytes
  }
}

export type ReadBodyResult =
  | {
      readonly kind: "read"
      /** The bytes as received. */
      readonly sent: Buffer
      /** Decompressed and parsed, if it is a JSON object. */
      readonly json: { readonly raw: Buffer; readonly body: Readonly<Record<string, unknown>> } | undefined
      /** Releases the bytes when the request is over. */
      release(): void
    }
  | { readonly kind: "too large" | "full" }

export async function readBody(
  request: IncomingMessage,
  { max, held, known }: { readonly max: number; readonly held: ByteBudget; readonly known: ParsedBodies },
): Promise<ReadBodyResult> {
  const read = await readBytes(request, { max, held })
  if (read.kind !== "read") return read
  const sent = read.bytes
  const plain = await decode(sent, request.headers["content-encoding"], max)
  const unpacked = plain.kind === "decoded" && plain.bytes !== sent ? plain.bytes.length : 0
  const isFull = held.take(unpacked) === "full"
  if (isFull || plain.kind === "too large") {
    held.release(sent.length)
    return { kind: isFull ? "full" : "too large" }
  }
  const body = plain.kind === "decoded" ? jsonObject(plain.bytes, (bytes) => known.parse(bytes)) : undefined
  const json = plain.kind === "decoded" && body !== undefined ? { raw: plain.bytes, body } : undefined
  return { kind: "read", sent, json, release: () => held.release(sent.length + unpacked) }
}

export type ReadBytesResult =
  | { readonly kind: "read"; readonly bytes: Buffer }
  | { readonly kind: "too large" }
  | { readonly kind: "full" }

/** Reads a body up to a limit. The rest of a body that is too large is consumed too, or its client would never read the response. */
export async function readBytes(
  source: AsyncIterable<Buffer>,
  { max, held }: { readonly max: number; readonly held?: ByteBudget },
): Promise<ReadBytesResult> {
  const chunks: Buffer[] = []
  let bytes = 0
  let problem: "too large" | "full" | undefined
  try {
    for await (const chunk of source) {
      if (problem !== undefined) continue
      if (bytes + chunk.length > max) problem = "too large"
      else if (held?.take(chunk.length) === "full") problem = "full"
      if (problem !== undefined) {
        chunks.length = 0
        continue
      }
      bytes += chunk.length
      chunks.push(chunk)
    }
  } catch (error) {
    held?.release(bytes)
    throw error
  }
  if (problem === undefined) return { kind: "read", bytes: Buffer.concat(chunks, bytes) }
  held?.release(bytes)
  return { kind: problem }
}

export type DecodeResult =
  | { readonly kind: "decoded"; readonly bytes: Buffer }
  | { readonly kind: "too large" }
  | { readonly kind: "unreadable" }

export async function decode(bytes: Buffer, encodings: string | undefined, max: number): Promise<DecodeResult> {
  let decoded = bytes
  for (const encoding of encodingsIn(encodings).toReversed()) {
    const decoder = DECODERS[encoding]
    if (decoder === undefined) return { kind: "unreadable" }
    try {
      decoded = await decoder(decoded, { maxOutputLength: max })
    } catch (error) {
      return { kind: (error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE" ? "too large" : "unreadable" }
    }
  }
  return { kind: "decoded", bytes: decoded }
}

export const encodingsIn = (header: string | undefined): readonly string[] =>
  (header ?? "")
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((encoding) => encoding !== "")

/** `undefined` if it is not a JSON object. Bytes that are not valid UTF-8 are not parsed either, because re-encoding would change them. */
export function jsonObject(
  bytes: Buffer,
  parse = (utf8: Buffer): unknown => JSON.parse(utf8.toString("utf8")),
): Readonly<Record<string, unknown>> | undefined {
  if (!isUtf8(bytes)) return undefined
  try {
    const value = parse(bytes)
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}
