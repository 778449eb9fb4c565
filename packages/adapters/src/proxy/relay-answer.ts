/** Relays a response while assembling its message for the plan. */
import type { IncomingMessage } from "node:http"
import type { Readable } from "node:stream"
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib"
import { type AnswerHandlers, answerEvents, ContinuationRefused } from "../clients/http/answer-events.ts"
import { answerJson } from "../clients/http/answer-json.ts"
import type { ApiBody } from "../clients/plan.ts"
import { encodingsIn, readBytes } from "./body.ts"
import { endToEnd, type RawHeaders, without } from "./headers.ts"
import { beginAnswer, breakOff, type ClientConnection, passBody, write } from "./pass-through.ts"

/** Maximum size of a JSON response to parse. Longer ones are only relayed. */
const MAX_JSON_BYTES = 64 * 1024 * 1024

const DECODERS: Readonly<Record<string, () => Readable & NodeJS.WritableStream>> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
}

/** Handlers for a response. `again` sends the continuing request. */
export interface RelayHandlers extends Omit<AnswerHandlers, "again"> {
  again(answer: ApiBody): Promise<IncomingMessage | undefined>
}

export interface RelayOptions extends ClientConnection {
  readonly handlers: RelayHandlers
  /** Headers for the client. */
  readonly added: RawHeaders
}

export async function relayAnswer(answer: IncomingMessage, relay: RelayOptions): Promise<void> {
  const kind = isReadable(answer) ? (answer.headers["content-type"] ?? "") : ""
  if (/^text\/event-stream\b/i.test(kind)) return relayEvents(answer, relay)
  if (/^application\/json\b/i.test(kind)) return relayJson(answer, relay)
  begin(answer, relay, { isOther: false })
  await passBody(answer, relay)
  await relay.handlers.brokenOff(undefined)
}

async function relayEvents(answer: IncomingMessage, relay: RelayOptions): Promise<void> {
  const { handlers, response } = relay
  begin(answer, relay, { isOther: handlers.hiddenTool !== undefined })
  const again = async (message: ApiBody) => {
    const next = await handlers.again(message)
    if (!next || isSuccess(next)) return next && decoded(next)
    throw new ContinuationRefused(next.statusCode!, await bytesOf(decoded(next)))
  }
  try {
    for await (const bytes of answerEvents(decoded(answer), { ...handlers, again })) await write(bytes, relay)
    response.end()
  } catch {
    breakOff(response)
  }
}

/** Relays a JSON response as a whole, because it cannot be parsed before its last byte. */
async function relayJson(answer: IncomingMessage, relay: RelayOptions): Promise<void> {
  const { handlers, response } = relay
  const source = decoded(answer)
  const chunks: Buffer[] = []
  const passOn = async () => {
    begin(answer, relay, { isOther: false })
    await write(Buffer.concat(chunks), relay)
    await handlers.brokenOff(undefined)
  }
  let bytes = 0
  try {
    for await (const chunk of source as AsyncIterable<Buffer>) {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes <= MAX_JSON_BYTES) continue
      await passOn()
      return await passBody(source, relay)
    }
  } catch {
    if (!response.headersSent) await passOn()
    return breakOff(response)
  }
  await relayWhole(answer, Buffer.concat(chunks), relay)
}

async function relayWhole(answer: IncomingMessage, whole: Buffer, relay: RelayOptions): Promise<void> {
  const { handlers, response } = relay
  let last = answer
  const again = async (message: ApiBody) => {
    const next = await handlers.again(message)
    if (!next) return undefined
    last = next
    const bytes = await bytesOf(decoded(next))
    if (!isSuccess(next)) throw new ContinuationRefused(next.statusCode!, bytes)
    return bytes
  }
  try {
    const bytes = await answerJson(whole, { ...handlers, again })
    begin(answer, relay, { isOther: bytes !== whole })
    response.end(bytes)
  } catch (error) {
    if (!(error instanceof ContinuationRefused)) throw error
    begin(last, relay, { isOther: true })
    response.end(error.bytes)
  }
}

async function bytesOf(source: Readable): Promise<Buffer> {
  const read = await readBytes(source as AsyncIterable<Buffer>, { max: MAX_JSON_BYTES })
  return read.kind === "read" ? read.bytes : Buffer.alloc(0)
}

/** Sends the head of a response. `isOther`: the client does not receive the original bytes. */
function begin(
  answer: IncomingMessage,
  { response, added }: RelayOptions,
  { isOther }: { readonly isOther: boolean },
): void {
  const headers = endToEnd(answer.rawHeaders)
  const isChanged = isOther || (isReadable(answer) && encodingsOf(answer).length > 0)
  const ours = isChanged ? without(headers, ["content-encoding", "content-length"]) : headers
  beginAnswer(response, answer, [...ours, ...added])
}

export const isSuccess = ({ statusCode = 0 }: IncomingMessage): boolean => statusCode >= 200 && statusCode < 300

const encodingsOf = ({ headers }: IncomingMessage): readonly string[] =>
  encodingsIn(headers["content-encoding"]).filter((encoding) => encoding !== "identity")

const isReadable = (answer: IncomingMessage): boolean => encodingsOf(answer).every((encoding) => encoding in DECODERS)

/** Decompresses a response. The proxy requests uncompressed responses, but a server may compress anyway. */
function decoded(answer: IncomingMessage): Readable {
  return encodingsOf(answer)
    .toReversed()
    .reduce<Readable>((from, encoding) => {
      const to = DECODERS[encoding]!()
      from.on("error", (error) => to.destroy(error))
      return from.pipe(to) as Readable & NodeJS.WritableStream
    }, answer)
}
