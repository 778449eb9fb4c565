/**
 * Splits a stream of server-sent events at their ends without changing a byte. Complete events pass at once. An incomplete one is held only
 * while it is short: it could be the last event of a response, which the proxy holds back.
 */

/** Larger than any `message_stop`. Longer events pass before they are complete. */
const MAX_HELD_BYTES = 4096
/** Longer events are relayed without being parsed. */
const MAX_EVENT_BYTES = 16 * 1024 * 1024

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const COLON = 0x3a

export interface EventChunk {
  readonly bytes: Buffer
  /** The data of the event that these bytes complete. */
  readonly data?: string
}

export class EventReader {
  /** Bytes of the current event, for parsing. */
  #event: Buffer[] = []
  #eventBytes = 0
  /** Bytes of the event that have not been passed on yet. */
  #held: Buffer[] = []
  #heldBytes = 0
  #isLineEmpty = true
  #isFirstLine = true
  #isComment = false
  #afterReturn = false
  #isLost = false
  readonly #isWhole: boolean

  /** `isWhole`: passes only complete events, so that they can be changed. */
  constructor({ isWhole = false }: { readonly isWhole?: boolean } = {}) {
    this.#isWhole = isWhole
  }

  /** Whether an event was too long to parse. */
  get isLost(): boolean {
    return this.#isLost
  }

  /** Returns the bytes that can pass now, in order. */
  push(chunk: Buffer): readonly EventChunk[] {
    const pieces: EventChunk[] = []
    let start = 0
    for (let at = 0; at < chunk.length; at++) {
      if (!this.#endsEvent(chunk[at]!)) continue
      if (chunk[at] === CARRIAGE_RETURN && chunk[at + 1] === LINE_FEED) this.#endsEvent(chunk[++at]!)
      this.#keep(chunk.subarray(start, at + 1))
      start = at + 1
      pieces.push(this.#complete())
    }
    this.#keep(chunk.subarray(start))
    if (this.#isWhole) return pieces
    const isBegun = this.#eventBytes > this.#heldBytes
    if (this.#heldBytes > 0 && (isBegun || this.#heldBytes > MAX_HELD_BYTES || this.#held.every(isBlank)))
      pieces.push({ bytes: this.rest() })
    return pieces
  }

  /** Returns the held bytes, at the end of the stream. */
  rest(): Buffer {
    const bytes = Buffer.concat(this.#held)
    this.#held = []
    this.#heldBytes = 0
    return bytes
  }

  #endsEvent(byte: number): boolean {
    const isSecondHalf = byte === LINE_FEED && this.#afterReturn
    this.#afterReturn = byte === CARRIAGE_RETURN
    if (isSecondHalf) return false
    if (byte !== LINE_FEED && byte !== CARRIAGE_RETURN) {
      if (this.#isLineEmpty && this.#isFirstLine) this.#isComment = byte === COLON
      this.#isLineEmpty = false
      return false
    }
    // a lone comment is a keep-alive and needs no empty line
    const isEnd = this.#isLineEmpty || (this.#isFirstLine && this.#isComment)
    this.#isLineEmpty = true
    this.#isFirstLine = isEnd
    return isEnd
  }

  #keep(bytes: Buffer): void {
    if (bytes.length === 0) return
    this.#held.push(bytes)
    this.#heldBytes += bytes.length
    this.#eventBytes += bytes.length
    if (this.#eventBytes > MAX_EVENT_BYTES) this.#isLost = true
    if (this.#isLost) this.#event = []
    else this.#event.push(bytes)
  }

  #complete(): EventChunk {
    const data = this.#isLost ? undefined : dataOf(Buffer.concat(this.#event).toString("utf8"))
    this.#event = []
    this.#eventBytes = 0
    const bytes = this.rest()
    return data === undefined ? { bytes } : { bytes, data }
  }
}

const isBlank = (bytes: Buffer): boolean => bytes.every((byte) => byte === LINE_FEED || byte === CARRIAGE_RETURN)

/** Events of the API that are part of a response. Others, such as `ping`, may have any data. */
const OF_ANSWER = /^(?:message|content_block)_|^error$/

/** The data of an event, or `undefined` if it is not part of a response. */
function dataOf(event: string): string | undefined {
  const lines = event.replace(/^\uFEFF/, "").split(/\r\n|\n|\r/)
  const valuesOf = (field: string) =>
    lines.flatMap((line) => (line.startsWith(`${field}:`) ? [line.slice(field.length + 1).replace(/^ /, "")] : []))
  const data = valuesOf("data")
  const name = valuesOf("event").at(-1)
  return data.length === 0 || (name !== undefined && !OF_ANSWER.test(name)) ? undefined : data.join("\n")
}
