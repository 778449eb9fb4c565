/**
 * Passes an answer on while a side reader puts its message together. The client gets every byte as it comes, but the last piece only after
 * the plan has the message: so a client that asks again at once finds it there.
 */
import type { IncomingMessage } from "node:http"
import type { Readable } from "node:stream"
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib"
import { parseExact } from "@strata/core/internal/messages/exact-json"
import { AssembledMessage, type Message } from "./assembled-message.ts"
import { encodingsIn } from "./body.ts"
import { EventReader, type Piece } from "./event-reader.ts"
import { endToEnd, type RawHeaders, without } from "./headers.ts"
import { beginAnswer, breakOff, type Client, write } from "./pass-through.ts"

/** Of an answer that is one JSON text. What is longer is passed on, and not read. */
const MOST_JSON_BYTES = 64 * 1024 * 1024

const DECODERS: Readonly<Record<string, () => Readable & NodeJS.WritableStream>> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
}

/** What becomes of an answer. Exactly one of the two is called, and awaited before the client gets the end. */
export interface Listener {
  whole(message: Message): Promise<void>
  brokenOff(partial: Message | undefined): Promise<void>
}

export interface Relay extends Client {
  readonly listener: Listener
  /** Headers for the client. */
  readonly added: RawHeaders
}

export async function relayAnswer(
  answer: IncomingMessage,
  { response, listener, added, signal }: Relay,
): Promise<void> {
  const { source, isDecoded, isReadable } = decoded(answer)
  const headers = endToEnd(answer.rawHeaders)
  beginAnswer(response, answer, [
    ...(isDecoded ? without(headers, ["content-encoding", "content-length"]) : headers),
    ...added,
  ])
  const reader = isReadable ? readerFor(answer.headers["content-type"]) : new UnreadAnswer()
  let isTold = false
  const tell = async (message: Message | undefined) => {
    if (isTold) return
    isTold = true
    await (message === undefined ? listener.brokenOff(reader.soFar()) : listener.whole(message))
  }
  const client = { response, signal }
  try {
    for await (const chunk of source as AsyncIterable<Buffer>)
      for (const { bytes, isLast } of reader.push(chunk)) {
        if (isLast) await tell(reader.whole())
        await write(bytes, client)
      }
    const rest = reader.end()
    await tell(reader.whole())
    await write(rest, client)
    response.end()
  } catch {
    await tell(undefined)
    if (!signal.aborted) response.write(reader.end())
    breakOff(response)
  }
}

interface Passed {
  readonly bytes: Buffer
  /** The message is complete, once these have passed. */
  readonly isLast: boolean
}

interface AnswerReader {
  /** What can pass now. */
  push(chunk: Buffer): readonly Passed[]
  /** What was held back. */
  end(): Buffer
  whole(): Message | undefined
  soFar(): Message | undefined
}

function readerFor(contentType = ""): AnswerReader {
  if (/^text\/event-stream\b/i.test(contentType)) return new EventAnswer()
  if (/^application\/json\b/i.test(contentType)) return new JsonAnswer()
  return new UnreadAnswer()
}

class EventAnswer implements AnswerReader {
  readonly #events = new EventReader()
  readonly #message = new AssembledMessage()
  #isStopped = false

  push(chunk: Buffer): readonly Passed[] {
    const pieces = this.#events.push(chunk)
    if (this.#events.isLost) this.#message.giveUp()
    return pieces.map((piece) => ({ bytes: piece.bytes, isLast: this.#isStop(piece) }))
  }

  end(): Buffer {
    return this.#events.rest()
  }

  /** Before the last event it is not whole, even if nothing seems to be missing. */
  whole(): Message | undefined {
    return this.#isStopped ? this.#message.whole() : undefined
  }

  soFar(): Message | undefined {
    return this.#message.soFar()
  }

  #isStop({ data }: Piece): boolean {
    if (data === undefined || this.#message.take(data) === undefined) return false
    this.#isStopped = true
    return true
  }
}

/** A text of JSON means nothing before its last byte, so only the newest chunk is held back. */
class JsonAnswer implements AnswerReader {
  #chunks: Buffer[] | undefined = []
  #bytes = 0
  #newest: Buffer = Buffer.alloc(0)
  #isEnded = false

  push(chunk: Buffer): readonly Passed[] {
    this.#bytes += chunk.length
    if (this.#bytes > MOST_JSON_BYTES) this.#chunks = undefined
    this.#chunks?.push(chunk)
    const bytes = this.#newest
    this.#newest = chunk
    return [{ bytes, isLast: false }]
  }

  end(): Buffer {
    this.#isEnded = true
    return this.#newest
  }

  whole(): Message | undefined {
    return this.#isEnded && this.#chunks ? messageIn(Buffer.concat(this.#chunks).toString("utf8")) : undefined
  }

  soFar(): undefined {}
}

class UnreadAnswer implements AnswerReader {
  push(chunk: Buffer): readonly Passed[] {
    return [{ bytes: chunk, isLast: false }]
  }

  end(): Buffer {
    return Buffer.alloc(0)
  }

  whole(): undefined {}
  soFar(): undefined {}
}

function messageIn(text: string): Message | undefined {
  try {
    const value = parseExact(text) as Message | null
    return value?.type === "message" ? value : undefined
  } catch {
    return undefined
  }
}

/** The proxy asks for an answer that is not compressed. A server that compresses it nevertheless is read all the same. */
function decoded(answer: IncomingMessage): { source: Readable; isDecoded: boolean; isReadable: boolean } {
  const encodings = encodingsIn(answer.headers["content-encoding"]).filter((encoding) => encoding !== "identity")
  const decoders = encodings.toReversed().map((encoding) => DECODERS[encoding])
  if (decoders.includes(undefined)) return { source: answer, isDecoded: false, isReadable: false }
  const source = decoders.reduce<Readable>((from, decoder) => {
    const to = decoder!()
    from.on("error", (error) => to.destroy(error))
    return from.pipe(to) as Readable & NodeJS.WritableStream
  }, answer)
  return { source, isDecoded: encodings.length > 0, isReadable: true }
}
