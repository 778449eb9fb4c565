/**
 * Cuts a stream of server-sent events at their ends, without changing a byte. Complete events pass at once. An incomplete one waits only
 * while it is short: it could be the last event of an answer, which the proxy holds back.
 */

/** More than any `message_stop` has. A longer event passes as it comes. */
const MAX_HELD_BYTES = 4096
/** A longer event is passed on, and not read. */
const MAX_EVENT_BYTES = 16 * 1024 * 1024

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const COLON = 0x3a

export interface Piece {
  readonly bytes: Buffer
  /** The data of the event that these bytes complete. */
  readonly data?: string
}

export class EventReader {
  /** The event so far, for reading. */
  #event: Buffer[] = []
  #eventBytes = 0
  /** What of it has not passed yet. */
  #held: Buffer[] = []
  #heldBytes = 0
  #isLineEmpty = true
  #isFirstLine = true
  #isComment = false
  #afterReturn = false
  #isLost = false
  readonly #isWhole: boolean

  /** `isWhole`: events are passed only as a whole, so that they can be changed. */
  constructor({ isWhole = false }: { readonly isWhole?: boolean } = {}) {
    this.#isWhole = isWhole
  }

  /** An event was too long to read. */
  get isLost(): boolean {
    return this.#isLost
  }

  /** What can pass now, in order. */
  push(chunk: Buffer): readonly Piece[] {
    const pieces: Piece[] = []
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

  /** What is still held: at the end of the stream it passes too. */
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
    // a comment alone is a sign of life: it needs no empty line
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

  #complete(): Piece {
    const data = this.#isLost ? undefined : dataOf(Buffer.concat(this.#event).toString("utf8"))
    this.#event = []
    this.#eventBytes = 0
    const bytes = this.rest()
    return data === undefined ? { bytes } : { bytes, data }
  }
}

const isBlank = (bytes: Buffer): boolean => bytes.every((byte) => byte === LINE_FEED || byte === CARRIAGE_RETURN)

/** Events of the API that are part of an answer. Others, such as `ping`, can have any data. */
const OF_ANSWER = /^(?:message|content_block)_|^error$/

/** `undefined`: no part of an answer. */
function dataOf(event: string): string | undefined {
  const lines = event.replace(/^\uFEFF/, "").split(/\r\n|\n|\r/)
  const valuesOf = (field: string) =>
    lines.flatMap((line) => (line.startsWith(`${field}:`) ? [line.slice(field.length + 1).replace(/^ /, "")] : []))
  const data = valuesOf("data")
  const name = valuesOf("event").at(-1)
  return data.length === 0 || (name !== undefined && !OF_ANSWER.test(name)) ? undefined : data.join("\n")
}
