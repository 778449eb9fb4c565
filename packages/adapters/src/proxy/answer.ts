/** Passes an answer on, while its message is put together for the plan. */
import type { IncomingMessage } from "node:http"
import type { Readable } from "node:stream"
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib"
import { type AnswerCourse, answerEvents, RefusedAgain } from "../callers/http/answer-events.ts"
import { answerJson } from "../callers/http/answer-json.ts"
import type { Body } from "../callers/plan.ts"
import { encodingsIn, readBytes } from "./body.ts"
import { endToEnd, type RawHeaders, without } from "./headers.ts"
import { beginAnswer, breakOff, type Client, passBody, write } from "./pass-through.ts"

/** Of an answer that is one JSON text. What is longer is passed on, and not read. */
const MAX_JSON_BYTES = 64 * 1024 * 1024

const DECODERS: Readonly<Record<string, () => Readable & NodeJS.WritableStream>> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
}

/** What becomes of an answer. `again` gives the one that continues it. */
export interface Course extends Omit<AnswerCourse, "again"> {
  again(answer: Body): Promise<IncomingMessage | undefined>
}

export interface Relay extends Client {
  readonly course: Course
  /** Headers for the client. */
  readonly added: RawHeaders
}

export async function relayAnswer(answer: IncomingMessage, relay: Relay): Promise<void> {
  const kind = isReadable(answer) ? (answer.headers["content-type"] ?? "") : ""
  if (/^text\/event-stream\b/i.test(kind)) return relayEvents(answer, relay)
  if (/^application\/json\b/i.test(kind)) return relayJson(answer, relay)
  begin(answer, relay, { isOther: false })
  await passBody(answer, relay)
  await relay.course.brokenOff(undefined)
}

async function relayEvents(answer: IncomingMessage, relay: Relay): Promise<void> {
  const { course, response } = relay
  begin(answer, relay, { isOther: course.hiddenTool !== undefined })
  const again = async (message: Body) => {
    const next = await course.again(message)
    if (!next || isGood(next)) return next && decoded(next)
    throw new RefusedAgain(next.statusCode!, await bytesOf(decoded(next)))
  }
  try {
    for await (const bytes of answerEvents(decoded(answer), { ...course, again })) await write(bytes, relay)
    response.end()
  } catch {
    breakOff(response)
  }
}

/** A text of JSON means nothing before its last byte, so it passes as a whole. */
async function relayJson(answer: IncomingMessage, relay: Relay): Promise<void> {
  const { course, response } = relay
  const source = decoded(answer)
  const chunks: Buffer[] = []
  const passOn = async () => {
    begin(answer, relay, { isOther: false })
    await write(Buffer.concat(chunks), relay)
    await course.brokenOff(undefined)
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

async function relayWhole(answer: IncomingMessage, whole: Buffer, relay: Relay): Promise<void> {
  const { course, response } = relay
  let last = answer
  const again = async (message: Body) => {
    const next = await course.again(message)
    if (!next) return undefined
    last = next
    const bytes = await bytesOf(decoded(next))
    if (!isGood(next)) throw new RefusedAgain(next.statusCode!, bytes)
    return bytes
  }
  try {
    const bytes = await answerJson(whole, { ...course, again })
    begin(answer, relay, { isOther: bytes !== whole })
    response.end(bytes)
  } catch (error) {
    if (!(error instanceof RefusedAgain)) throw error
    begin(last, relay, { isOther: true })
    response.end(error.bytes)
  }
}

async function bytesOf(source: Readable): Promise<Buffer> {
  const read = await readBytes(source as AsyncIterable<Buffer>, { max: MAX_JSON_BYTES })
  return read.kind === "read" ? read.bytes : Buffer.alloc(0)
}

/** The head of an answer. `isOther`: the client does not get the bytes that came. */
function begin(answer: IncomingMessage, { response, added }: Relay, { isOther }: { readonly isOther: boolean }): void {
  const headers = endToEnd(answer.rawHeaders)
  const isChanged = isOther || (isReadable(answer) && encodingsOf(answer).length > 0)
  const ours = isChanged ? without(headers, ["content-encoding", "content-length"]) : headers
  beginAnswer(response, answer, [...ours, ...added])
}

export const isGood = ({ statusCode = 0 }: IncomingMessage): boolean => statusCode >= 200 && statusCode < 300

const encodingsOf = ({ headers }: IncomingMessage): readonly string[] =>
  encodingsIn(headers["content-encoding"]).filter((encoding) => encoding !== "identity")

const isReadable = (answer: IncomingMessage): boolean => encodingsOf(answer).every((encoding) => encoding in DECODERS)

/** The proxy asks for an answer that is not compressed. A server that compresses it nevertheless is read all the same. */
function decoded(answer: IncomingMessage): Readable {
  return encodingsOf(answer)
    .toReversed()
    .reduce<Readable>((from, encoding) => {
      const to = DECODERS[encoding]!()
      from.on("error", (error) => to.destroy(error))
      return from.pipe(to) as Readable & NodeJS.WritableStream
    }, answer)
}
