/**
 * Parses the bodies of requests that grow. A client sends its whole conversation again with every request, and all but the end of it is what
 * it sent before. So messages whose bytes are known are not parsed again: they are the same objects. Treat them as read-only.
 */

/** Smaller ones are parsed faster than compared. */
const SMALLEST_BYTES = 64 * 1024
const MOST_BODIES = 64
const COMPARED_BYTES = 64 * 1024 // at a time

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]
const MESSAGES_KEY = '"messages"'
/** A letter written as an escape: it could spell the key once more. */
const ESCAPED_LETTERS = ["\\u006", "\\u007"]

type JsonObject = Readonly<Record<string, unknown>>

interface ParsedBody {
  readonly raw: Buffer
  /** Where the list of messages begins, after its bracket. */
  readonly start: number
  /** Where each message ends. */
  readonly ends: readonly number[]
  readonly messages: readonly unknown[]
}

export class ParsedBodies {
  readonly #mostBytes: number
  /** The newest last. */
  #known: readonly ParsedBody[] = []

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes
  }

  /** Like `JSON.parse`: throws where that throws. */
  parse(raw: Buffer): unknown {
    if (raw.length < SMALLEST_BYTES) return JSON.parse(raw.toString("utf8"))
    const { known, count } = this.#longest(raw)
    const extended = known && extend(raw, known, count)
    const longer = known && extended && indexed(raw, extended, { known, count })
    if (longer) {
      this.#keep(longer, isMostOf(count, known) ? known : undefined)
      return extended
    }
    const value = JSON.parse(raw.toString("utf8")) as JsonObject | null
    const parsed = value && indexed(raw, value)
    if (parsed) this.#keep(parsed)
    return value
  }

  /** The body that has the most messages in common with these bytes. */
  #longest(raw: Buffer): { readonly known: ParsedBody | undefined; readonly count: number } {
    let best: { known: ParsedBody | undefined; count: number } = { known: undefined, count: 0 }
    for (const known of this.#known) {
      const common = commonLength(raw, known.raw)
      const count = known.ends.findLastIndex((end) => end <= common) + 1
      if (count > best.count) best = { known, count }
    }
    return best
  }

  #keep(parsed: ParsedBody, earlier?: ParsedBody): void {
    const all = [...this.#known.filter((known) => known !== earlier), parsed]
    let bytes = 0
    const tooMany = all.findLastIndex(({ raw }) => {
      bytes += raw.length
      return bytes > this.#mostBytes
    })
    this.#known = all.slice(Math.max(tooMany + 1, all.length - MOST_BODIES))
  }
}

/** The same conversation, a little later: the earlier state of it is not needed any more. */
const isMostOf = (count: number, { messages }: ParsedBody): boolean => count * 4 >= messages.length * 3

function commonLength(a: Buffer, b: Buffer): number {
  const most = Math.min(a.length, b.length)
  let at = 0
  for (let size = COMPARED_BYTES; size > 0; ) {
    const end = Math.min(at + size, most)
    if (end > at && a.compare(b, at, end, at, end) === 0) at = end
    else size >>= 1
  }
  return at
}

/** `undefined` where the bytes are not plainly a longer list of messages: they are then parsed as a whole. */
function extend(raw: Buffer, { start, ends, messages }: ParsedBody, count: number): JsonObject | undefined {
  const next = skipSpace(raw, ends[count - 1]!)
  if (raw[next] !== COMMA && raw[next] !== CLOSE_LIST) return undefined
  const from = raw[next] === COMMA ? skipSpace(raw, next + 1) : next
  if (raw[next] === COMMA && raw[from] === CLOSE_LIST) return undefined // not JSON: let the parser say so
  const value = JSON.parse(Buffer.concat([raw.subarray(0, start), raw.subarray(from)]).toString("utf8")) as JsonObject
  return { ...value, messages: [...messages.slice(0, count), ...(value.messages as unknown[])] }
}

/** `undefined` where the list cannot be found without doubt, or has something other than objects. */
function indexed(
  raw: Buffer,
  { messages }: JsonObject,
  extended?: { readonly known: ParsedBody; readonly count: number },
): ParsedBody | undefined {
  const start = extended?.known.start ?? listStart(raw)
  if (start === undefined || !Array.isArray(messages)) return undefined
  const ends = extended ? extended.known.ends.slice(0, extended.count) : []
  let at = skipSpace(raw, ends.at(-1) ?? start)
  while (raw[at] !== CLOSE_LIST) {
    if (raw[at] === COMMA) at = skipSpace(raw, at + 1)
    if (raw[at] !== OPEN_OBJECT) return undefined
    at = valueEnd(raw, at)
    ends.push(at)
    at = skipSpace(raw, at)
  }
  const rest = raw.subarray(at)
  const isTwice = [MESSAGES_KEY, ...ESCAPED_LETTERS].some((text) => rest.includes(text))
  return isTwice || ends.length !== messages.length ? undefined : { raw, start, ends, messages }
}

/** After the bracket of the list of messages. The text is valid JSON, and an object. */
function listStart(raw: Buffer): number | undefined {
  let at = skipSpace(raw, skipSpace(raw, 0) + 1)
  while (raw[at] === QUOTE) {
    const keyEnd = stringEnd(raw, at)
    const isIt = raw.subarray(at, keyEnd).equals(Buffer.from(MESSAGES_KEY))
    at = skipSpace(raw, skipSpace(raw, keyEnd) + 1) // the colon
    if (isIt) return raw[at] === OPEN_LIST ? at + 1 : undefined
    at = skipSpace(raw, valueEnd(raw, at))
    if (raw[at] === COMMA) at = skipSpace(raw, at + 1)
  }
  return undefined
}

function skipSpace(raw: Buffer, from: number): number {
  let at = from
  while (raw[at] === 0x20 || raw[at] === 0x0a || raw[at] === 0x0d || raw[at] === 0x09) at++
  return at
}

/** Of the value that begins here. */
function valueEnd(raw: Buffer, from: number): number {
  let depth = 0
  for (let at = from; at < raw.length; at++) {
    const byte = raw[at]!
    if (byte === QUOTE) {
      at = stringEnd(raw, at) - 1
      if (depth === 0) return at + 1
    } else if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth++
    else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
      if (depth === 0) return at // of a number or a word
      if (--depth === 0) return at + 1
    } else if (depth === 0 && byte === COMMA) return at
  }
  return raw.length
}

/** After the closing quote. */
function stringEnd(raw: Buffer, from: number): number {
  for (let at = from + 1; at < raw.length; at++) {
    const byte = raw[at]
    if (byte === QUOTE) return at + 1
    if (byte === BACKSLASH) at++
  }
  return raw.length
}
