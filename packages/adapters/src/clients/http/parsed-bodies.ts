/**
 * Parses the bodies of growing requests. A client sends its complete conversation with every request, and all but the end equals the
 * previous one. So messages with known bytes are not parsed again: they are the same objects and must not be modified. The texts of body
 * and messages are kept for building the replacement.
 */
import { minify, parseExact } from "@strata/core/messages"
import { keepBodyText, keepMessageText } from "../source-text.ts"

/** Smaller bodies are parsed faster than compared. */
const MIN_BYTES = 64 * 1024
const MAX_BODIES = 64
const COMPARED_BYTES = 64 * 1024 // per comparison

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
  /** Range of the list of messages, inside its brackets. */
  readonly list: Range
  readonly places: readonly Range[]
  readonly messages: readonly unknown[]
  /** The body with an empty list of messages. Bodies with the same text share it. */
  readonly rest: JsonObject
  readonly restText: string
}

/** The earlier body with the longest common beginning, and the number of common messages. */
interface CommonStart {
  readonly known: ParsedBody | undefined
  readonly count: number
}

const NONE: CommonStart = { known: undefined, count: 0 }

export class ParsedBodies {
  readonly #maxBytes: number
  /** The newest comes last. */
  #known: readonly ParsedBody[] = []

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Parses like `JSON.parse`, and throws in the same cases. Fields whose values would change keep their text: see `parseExact`. */
  parse(raw: Buffer): unknown {
    const isLarge = raw.length >= MIN_BYTES
    const { known, count } = isLarge ? this.#longest(raw) : NONE
    const extended = known && extend(raw, known, count)
    if (extended) return this.#bodyOf(extended, { count, earlier: isMostOf(count, known) ? known : undefined })
    const value = JSON.parse(raw.toString("utf8")) as JsonObject | null
    const parsed = value && locateMessages(raw, value)
    return parsed ? this.#bodyOf(parsed) : value
  }

  /** The body with its texts. `earlier`: the body that it replaces among the known ones; its first `count` messages are exact. */
  #bodyOf(
    parsed: ParsedBody,
    { count, earlier }: { readonly count: number; readonly earlier?: ParsedBody | undefined } = { count: 0 },
  ): JsonObject {
    const { raw, rest, restText, list, places } = parsed
    const messages = exactMessages(parsed, count)
    if (raw.length >= MIN_BYTES) this.#keep({ ...parsed, messages }, earlier)
    const body = { ...rest, messages }
    const after = raw.toString("utf8", places.at(-1)?.end ?? list.start, list.end)
    keepBodyText(body, { text: restText, after })
    return body
  }

  /** The earlier body that has the most messages in common with these bytes. */
  #longest(raw: Buffer): CommonStart {
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

/** Whether a body is a later state of the same conversation, which replaces the earlier one. */
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

/** Parses only the new messages, and the rest if it changed. `undefined` if the bytes are not clearly a longer list of messages. */
function extend(raw: Buffer, known: ParsedBody, count: number): ParsedBody | undefined {
  const places = known.places.slice(0, count)
  const end = listEnd(raw, known.list.start, places)
  if (end === undefined) return undefined
  const list = { start: known.list.start, end: end - 1 }
  const from = skipSpace(raw, known.places[count - 1]!.end)
  if (places.length > count && raw[from] !== COMMA) return undefined
  const added = places.length > count ? (JSON.parse(`[${raw.toString("utf8", from + 1, list.end)}]`) as unknown[]) : []
  const rest = raw.subarray(list.end).equals(known.raw.subarray(known.list.end)) ? known : restOf(raw, list)
  return rest && { ...rest, raw, list, places, messages: [...known.messages.slice(0, count), ...added] }
}

/** Parses a body without its messages. `undefined` unless there is exactly one list of messages. */
function restOf(raw: Buffer, { start, end }: Range): Pick<ParsedBody, "rest" | "restText"> | undefined {
  const bytes = Buffer.concat([raw.subarray(0, start), raw.subarray(end)])
  const text = bytes.toString("utf8")
  const rest = JSON.parse(text) as JsonObject
  return locateMessages(bytes, rest) && { rest, restText: text }
}

/**
 * Locates the messages in the bytes, which are valid JSON. `undefined` unless there is exactly one list of messages that contains only
 * objects.
 */
function locateMessages(raw: Buffer, value: JsonObject): ParsedBody | undefined {
  const { messages } = value
  if (!Array.isArray(messages)) return undefined
  const places: Range[] = []
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
  if (!list || places.length !== messages.length) return undefined
  const restText = raw.toString("utf8", 0, list.start) + raw.toString("utf8", list.end)
  return { raw, list, places, messages, rest: { ...value, messages: [] }, restText }
}

/** Returns the position after the closing bracket and records the range of each message, starting after those that are known. */
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

/** Parses the messages after the first `count` exactly, with their texts. */
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

function skipSpace(raw: Buffer, from: number): number {
  let at = from
  while (raw[at] === 0x20 || raw[at] === 0x0a || raw[at] === 0x0d || raw[at] === 0x09) at++
  return at
}

/** End of the value that begins here. */
function valueEnd(raw: Buffer, from: number): number {
  let depth = 0
  for (let at = from; at < raw.length; at++) {
    const byte = raw[at]!
    if (byte === QUOTE) {
      at = stringEnd(raw, at) - 1
      if (depth === 0) return at + 1
    } else if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth++
    else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
      if (depth === 0) return at // end of a number or a word
      if (--depth === 0) return at + 1
    } else if (depth === 0 && byte === COMMA) return at
  }
  return raw.length
}

/** Position after the closing quote. */
function stringEnd(raw: Buffer, from: number): number {
  for (let at = from + 1; at < raw.length; at++) {
    const byte = raw[at]
    if (byte === QUOTE) return at + 1
    if (byte === BACKSLASH) at++
  }
  return raw.length
}
