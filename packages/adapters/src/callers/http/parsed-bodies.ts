/**
 * Parses the bodies of requests that grow. A client sends its whole conversation again with every request, and all but the end of it is what
 * it sent before. So messages whose bytes are known are not parsed again: they are the same objects. Treat them as read-only. The texts of
 * body and messages are kept with them, for what is sent in their place.
 */
import { minify, parseExact } from "@strata/core/messages"
import { keepBodyText, keepMessageText } from "../source-text.ts"

/** Smaller ones are parsed faster than compared. */
const SMALLEST_BYTES = 64 * 1024
const MAX_BODIES = 64
const COMPARED_BYTES = 64 * 1024 // at a time

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]

type JsonObject = Readonly<Record<string, unknown>>

interface Range {
  readonly start: number
  readonly end: number
}

interface ParsedBody {
  readonly raw: Buffer
  /** The list of messages, inside its brackets. */
  readonly list: Range
  readonly places: readonly Range[]
  readonly messages: readonly unknown[]
}

/** What a body has in common with an earlier one: so many messages. */
interface Known {
  readonly known: ParsedBody | undefined
  readonly count: number
}

const NONE: Known = { known: undefined, count: 0 }

export class ParsedBodies {
  readonly #maxBytes: number
  /** The newest last. */
  #known: readonly ParsedBody[] = []

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Like `JSON.parse`: throws where that throws. Fields that would change keep their texts: see `parseExact`. */
  parse(raw: Buffer): unknown {
    const isLarge = raw.length >= SMALLEST_BYTES
    const { known, count } = isLarge ? this.#longest(raw) : NONE
    const extended = known && extend(raw, known, count)
    const longer = known && extended && indexed(raw, extended, { known, count })
    const value = longer ? extended : (JSON.parse(raw.toString("utf8")) as JsonObject | null)
    const parsed = longer ?? (value && indexed(raw, value))
    if (!parsed) return value
    const messages = exactMessages(parsed, longer ? count : 0)
    if (isLarge) this.#keep({ ...parsed, messages }, longer && isMostOf(count, known) ? known : undefined)
    const body = { ...value, messages }
    keepBodyText(body, bodyText(parsed))
    return body
  }

  /** The body that has the most messages in common with these bytes. */
  #longest(raw: Buffer): Known {
    let best = NONE
    for (const known of this.#known) {
      const common = commonLength(raw, known.raw)
      const count = known.places.findLastIndex(({ end }) => end <= common) + 1
      if (count > best.count) best = { known, count }
    }
    return best
  }

  #keep(parsed: ParsedBody, earlier?: ParsedBody): void {
    const all = [...this.#known.filter((known) => known !== earlier), parsed]
    let bytes = 0
    const tooMany = all.findLastIndex(({ raw }) => {
      bytes += raw.length
      return bytes > this.#maxBytes
    })
    this.#known = all.slice(Math.max(tooMany + 1, all.length - MAX_BODIES))
  }
}

/** The same conversation, a little later: the earlier state of it is not needed any more. */
const isMostOf = (count: number, { messages }: ParsedBody): boolean => count * 4 >= messages.length * 3

function commonLength(a: Buffer, b: Buffer): number {
  const max = Math.min(a.length, b.length)
  let at = 0
  for (let size = COMPARED_BYTES; size > 0; ) {
    const end = Math.min(at + size, max)
    if (end > at && a.compare(b, at, end, at, end) === 0) at = end
    else size >>= 1
  }
  return at
}

/** `undefined` where the bytes are not plainly a longer list of messages: they are then parsed as a whole. */
function extend(raw: Buffer, { list, places, messages }: ParsedBody, count: number): JsonObject | undefined {
  const next = skipSpace(raw, places[count - 1]!.end)
  if (raw[next] !== COMMA && raw[next] !== CLOSE_LIST) return undefined
  const from = raw[next] === COMMA ? skipSpace(raw, next + 1) : next
  if (raw[next] === COMMA && raw[from] === CLOSE_LIST) return undefined // not JSON: let the parser say so
  const value = JSON.parse(
    Buffer.concat([raw.subarray(0, list.start), raw.subarray(from)]).toString("utf8"),
  ) as JsonObject
  if (!Array.isArray(value.messages)) return undefined
  return { ...value, messages: [...messages.slice(0, count), ...value.messages] }
}

/** `undefined` where there is not one list of messages, or something other than objects is in it. The bytes are valid JSON. */
function indexed(
  raw: Buffer,
  { messages }: JsonObject,
  extended?: { readonly known: ParsedBody; readonly count: number },
): ParsedBody | undefined {
  if (!Array.isArray(messages)) return undefined
  const places = extended ? extended.known.places.slice(0, extended.count) : []
  let list: Range | undefined
  let at = skipSpace(raw, skipSpace(raw, 0) + 1)
  while (raw[at] === QUOTE) {
    const keyEnd = stringEnd(raw, at)
    const isList = JSON.parse(raw.toString("utf8", at, keyEnd)) === "messages"
    const start = skipSpace(raw, skipSpace(raw, keyEnd) + 1) // after the colon
    if (isList && (list || raw[start] !== OPEN_LIST)) return undefined
    const end = isList ? listEnd(raw, start + 1, places) : valueEnd(raw, start)
    if (end === undefined) return undefined
    if (isList) list = { start: start + 1, end: end - 1 }
    at = skipSpace(raw, end)
    if (raw[at] === COMMA) at = skipSpace(raw, at + 1)
  }
  return list && places.length === messages.length ? { raw, list, places, messages } : undefined
}

/** After its bracket. Takes down where each message is; those that are known already are passed over. */
function listEnd(raw: Buffer, start: number, places: Range[]): number | undefined {
  let at = skipSpace(raw, places.at(-1)?.end ?? start)
  while (raw[at] !== CLOSE_LIST) {
    if (raw[at] === COMMA) at = skipSpace(raw, at + 1)
    if (raw[at] !== OPEN_OBJECT) return undefined
    const end = valueEnd(raw, at)
    places.push({ start: at, end })
    at = skipSpace(raw, end)
  }
  return at + 1
}

/** The messages after the first `count`, which are known, with their texts. */
function exactMessages({ raw, list, places, messages }: ParsedBody, count: number): readonly unknown[] {
  return messages.map((message, at) => {
    if (at < count) return message
    const { start, end } = places[at]!
    const text = raw.toString("utf8", start, end)
    const plain = JSON.stringify(message)
    const bare = text === plain ? text : minify(text)
    const exact = bare === plain ? message : parseExact(bare)
    const before = raw.toString("utf8", places[at - 1]?.end ?? list.start, start)
    keepMessageText(exact as object, { before, text: text === plain ? undefined : text })
    return exact
  })
}

/** With an empty list of messages, and what is between the last message and the end of the list. */
const bodyText = ({ raw, list, places }: ParsedBody) => ({
  text: raw.toString("utf8", 0, list.start) + raw.toString("utf8", list.end),
  after: raw.toString("utf8", places.at(-1)?.end ?? list.start, list.end),
})

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
