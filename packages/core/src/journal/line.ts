/**
 * Encodes an entry as one line: JSON with a checksum as its last field. A line counts only if its checksum matches, so a torn
 * or damaged line is never read as an entry.
 *
 *   {"uuid":"…","parentUuid":"…","type":"user", … ,"sum":"1a2b3c4d"}
 */
import { crc32 } from "node:zlib"
import { hasExactText, onOneLine, parseExact, stringifyExact } from "../messages/exact-json.ts"
import { decisionFlaw } from "./decision-shapes.ts"
import type { Entry } from "./entries.ts"
import { withoutUsageFields, withUsageFields } from "./usage-fields.ts"

const SUM_FIELD = ',"sum":"'
const OPENING = 0x7b // {
const SUM_LENGTH = 8 // crc32 in hex
const NO_SUM = "0".repeat(SUM_LENGTH)
const TAIL_LENGTH = SUM_FIELD.length + SUM_LENGTH + '"}'.length

export type DecodedLine =
  | { readonly state: "whole"; readonly entry: Entry }
  | { readonly state: "damaged"; readonly why: string }

/** The line for an entry, with its line end. */
export function encodeLine(entry: Entry): Buffer {
  const { uuid, parentUuid, type } = entry
  const exact = isExact(entry)
  // the fields that the index needs come first, so that it can read them without parsing the line
  const front = "subtype" in entry ? { uuid, parentUuid, type, subtype: entry.subtype } : { uuid, parentUuid, type }
  const fields = withUsageFields(entry)
  const json = exact
    ? onOneLine(stringifyExact({ ...front, exact, ...fields }))
    : JSON.stringify({ ...front, ...fields })
  return withSum(json)
}

/** The line for a JSON object: its checksum becomes the last field. */
export function withSum(json: string): Buffer {
  const line = Buffer.from(`${json.slice(0, -1)}${SUM_FIELD}${NO_SUM}"}\n`)
  const sumAt = line.length - 1 - TAIL_LENGTH
  line.write(checksum(line.subarray(0, sumAt)), sumAt + SUM_FIELD.length, "latin1")
  return line
}

/** The JSON object of a whole line. */
export const withoutSum = (line: Buffer): string => `${line.toString("utf8", 0, line.length - TAIL_LENGTH)}}`

/** Decodes a line without its line end. */
export function decodeLine(line: Buffer): DecodedLine {
  if (!isWhole(line)) return { state: "damaged", why: "the checksum does not match" }
  const text = withoutSum(line)
  try {
    const spelledExactly = text.slice(0, 200).includes(',"exact":true,')
    const { exact: _, ...entry } = (spelledExactly ? parseExact(text) : JSON.parse(text)) as Entry & { exact?: true }
    return isEntry(entry)
      ? { state: "whole", entry: withoutUsageFields(entry) }
      : { state: "damaged", why: "it is not an entry of a journal" }
  } catch {
    return { state: "damaged", why: "not JSON, although the checksum matches" }
  }
}

/** The least that every reader of an entry relies on. */
function isEntry(value: unknown): value is Entry {
  const { uuid, parentUuid, timestamp, type, subtype, message, attachment } = value as Record<string, unknown>
  if (typeof uuid !== "string" || typeof timestamp !== "string") return false
  if (parentUuid !== null && parentUuid !== undefined && typeof parentUuid !== "string") return false
  if (type === "strata") return typeof subtype === "string" && decisionFlaw(subtype, value) === undefined
  if (type === "attachment") return typeof (attachment as { type?: unknown } | null)?.type === "string"
  if (type !== "user" && type !== "assistant") return typeof type === "string"
  const content = (message as { content?: unknown } | null)?.content
  return typeof content === "string" || Array.isArray(content)
}

/** Whether the bytes are one unchanged line. Much cheaper than decoding it. */
export function isWhole(line: Buffer): boolean {
  const sumAt = line.length - TAIL_LENGTH
  if (sumAt < 1 || line[0] !== OPENING || line.toString("latin1", sumAt, sumAt + SUM_FIELD.length) !== SUM_FIELD)
    return false
  const stated = line.toString("latin1", sumAt + SUM_FIELD.length, line.length - 2)
  return stated === checksum(line.subarray(0, sumAt))
}

/** The checksum that a whole line ends with. */
export const statedSum = (line: Buffer): string =>
  line.toString("latin1", line.length - 2 - SUM_LENGTH, line.length - 2)

const checksum = (bytes: Buffer) => crc32(bytes).toString(16).padStart(SUM_LENGTH, "0")

/** The fields at the front of a line. */
export interface LineFront {
  readonly uuid: string
  readonly parentUuid: string | null
  readonly type: string
  readonly subtype?: string
}

const FRONT_LENGTH = 900 // bytes: two ids of the greatest length, a type and a subtype
const FRONT = /^\{"uuid":"([^"\\]+)","parentUuid":(?:null|"([^"\\]*)"),"type":"([^"\\]+)"(?:,"subtype":"([^"\\]+)")?/

/** Reads the front of a line without parsing the rest. Of a damaged line it is only a hint. */
export function peekLine(line: Buffer): LineFront | undefined {
  const match = FRONT.exec(line.toString("latin1", 0, Math.min(line.length, FRONT_LENGTH)))
  if (!match) return undefined
  const [, uuid, parentUuid = null, type, subtype] = match
  return { uuid: uuid!, parentUuid, type: type!, ...(subtype === undefined ? {} : { subtype }) }
}

/** A piece of a raw line: a whole line, or bytes that cannot be read. */
export interface LinePiece {
  readonly start: number
  readonly bytes: Buffer
  readonly isWhole: boolean
}

const SUM_END = /,"sum":"[0-9a-f]{8}"\}/g
const MOST_TRIES = 64 // of each search: content can look like the end of a line

/**
 * Takes apart a raw line that is not whole. If a line end was lost, there are two lines in it, with one changed byte or an unfinished
 * write between them. Only pieces at the beginning and at the end count: inside a line, content could pose as one.
 */
export function piecesOf(raw: Buffer): readonly LinePiece[] {
  if (isWhole(raw)) return [{ start: 0, bytes: raw, isWhole: true }]
  const pieces: LinePiece[] = []
  let start = 0
  for (;;) {
    const length = wholeAtFront(raw.subarray(start))
    if (length === undefined) break
    pieces.push({ start, bytes: raw.subarray(start, start + length), isWhole: true })
    start += length
    if (raw[start] !== OPENING) start++ // the changed line end
  }
  if (start >= raw.length) return pieces
  const rest = raw.subarray(start)
  const last = wholeAtEnd(rest)
  if (last === undefined) return [...pieces, { start, bytes: rest, isWhole: false }]
  return [
    ...pieces,
    { start, bytes: rest.subarray(0, last), isWhole: false },
    { start: start + last, bytes: rest.subarray(last), isWhole: true },
  ]
}

function wholeAtFront(raw: Buffer): number | undefined {
  if (raw[0] !== OPENING || !raw.includes(SUM_FIELD)) return undefined
  let tries = 0
  for (const { index } of raw.toString("latin1").matchAll(SUM_END)) {
    if (tries++ === MOST_TRIES) return undefined
    const end = index + TAIL_LENGTH
    if (decodeLine(raw.subarray(0, end)).state === "whole") return end
  }
  return undefined
}

function wholeAtEnd(raw: Buffer): number | undefined {
  const START = '{"uuid":"'
  let tries = 0
  for (let at = raw.indexOf(START, 1); at > 0 && tries++ < MOST_TRIES; at = raw.indexOf(START, at + 1))
    if (decodeLine(raw.subarray(at)).state === "whole") return at
  return undefined
}

/** A copied journal may hold anything in place of a message. */
function isExact(entry: Entry): boolean {
  if (entry.type === "assistant" || entry.type === "user") return hasExactText(entry.message)
  if (entry.type !== "attachment") return false
  return hasExactText((entry.attachment as { readonly message?: object } | null)?.message ?? {})
}
