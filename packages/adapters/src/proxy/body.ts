/** Reads a request's body: the bytes as they came, and decompressed. Both have a limit. */
import { isUtf8 } from "node:buffer"
import type { IncomingMessage } from "node:http"
import { promisify } from "node:util"
import { brotliDecompress, gunzip, inflate, zstdDecompress } from "node:zlib"
import type { ParsedBodies } from "../callers/http/parsed-bodies.ts"

const DECODERS: Readonly<Record<string, (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>>> = {
  gzip: promisify(gunzip),
  "x-gzip": promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
  zstd: promisify(zstdDecompress),
  identity: async (bytes) => bytes,
}

/** Bytes of requests that are under way. */
export class HeldBytes {
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

  giveBack(bytes: number): void {
    this.#bytes -= bytes
  }
}

export type Body =
  | {
      readonly kind: "read"
      /** As it came. */
      readonly sent: Buffer
      /** Decompressed and parsed, if it is a JSON object. */
      readonly json: { readonly raw: Buffer; readonly body: Readonly<Record<string, unknown>> } | undefined
      /** When the request is over. */
      giveBack(): void
    }
  | { readonly kind: "too large" | "full" }

export async function readBody(
  request: IncomingMessage,
  { max, held, known }: { readonly max: number; readonly held: HeldBytes; readonly known: ParsedBodies },
): Promise<Body> {
  const read = await readBytes(request, { max, held })
  if (read.kind !== "read") return read
  const sent = read.bytes
  const plain = await decode(sent, request.headers["content-encoding"], max)
  const unpacked = plain.kind === "decoded" && plain.bytes !== sent ? plain.bytes.length : 0
  const isFull = held.take(unpacked) === "full"
  if (isFull || plain.kind === "too large") {
    held.giveBack(sent.length)
    return { kind: isFull ? "full" : "too large" }
  }
  const body = plain.kind === "decoded" ? jsonObject(plain.bytes, (bytes) => known.parse(bytes)) : undefined
  const json = plain.kind === "decoded" && body !== undefined ? { raw: plain.bytes, body } : undefined
  return { kind: "read", sent, json, giveBack: () => held.giveBack(sent.length + unpacked) }
}

export type ReadBytes =
  | { readonly kind: "read"; readonly bytes: Buffer }
  | { readonly kind: "too large" }
  | { readonly kind: "full" }

/** The rest of a body that is too large is taken in as well, or its client would never read the answer. */
export async function readBytes(
  source: AsyncIterable<Buffer>,
  { max, held }: { readonly max: number; readonly held?: HeldBytes },
): Promise<ReadBytes> {
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
    held?.giveBack(bytes)
    throw error
  }
  if (problem === undefined) return { kind: "read", bytes: Buffer.concat(chunks, bytes) }
  held?.giveBack(bytes)
  return { kind: problem }
}

export type Decoded =
  | { readonly kind: "decoded"; readonly bytes: Buffer }
  | { readonly kind: "too large" }
  | { readonly kind: "unreadable" }

export async function decode(bytes: Buffer, encodings: string | undefined, max: number): Promise<Decoded> {
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

/** `undefined` where it is not a JSON object. Bytes that are no UTF-8 would come out changed, so they are not read either. */
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
