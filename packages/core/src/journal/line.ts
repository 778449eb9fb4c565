/**
 * Encodes an entry as one line: JSON with a checksum as its last field. A line is valid only if its checksum matches, so a torn or damaged
 * line is never read as an entry.
 *
 * {"uuid":"…","parentUuid":"…","type":"user", … ,"sum":"1a2b3c4d"}
 */

import { crc32 } from "node:zlib"
import { hasExactText, onOneLine, parseExact, stringifyExact } from "../messages/exact-json.ts"
import { usableUsage } from "../messages/messages.ts"
import { tokenCounts } from "../tokens/models.ts"
import { decisionFlaw } from "./decision-shapes.ts"
import type { DecisionEntry, DecisionOf, Entry } from "./entries.ts"

// Programs that count usage in transcripts, such as ccusage, read `message.usage` of a line once for each pair of `message.id` and
// `requestId`. A branch repeats the responses of its conversation, and a lead records those of its agents, so both fields must be present
// and equal. They exist only in the line: decoding removes them.

type SpentEntry = DecisionEntry & DecisionOf<"spent">

const isSpent = (entry: Entry): entry is SpentEntry => entry.type === "strata" && entry.subtype === "spent"

export function withUsageFields(entry: Entry): Entry {
  if (isSpent(entry)) return { ...entry, ...spentFields(entry) }
  if (entry.type !== "assistant" || !entry.message?.usage) return entry
  const { id = entry.uuid } = entry.message
  const { requestId = id } = entry
  return { ...entry, requestId, message: { ...entry.message, id } }
}

export function withoutUsageFields(entry: Entry): Entry {
  if (isSpent(entry)) {
    const { requestId, message: _, ...rest } = entry as SpentEntry & { readonly message?: unknown }
    return requestId === undefined || requestId === rest.responseId ? rest : { ...rest, requestId }
  }
  if (entry.type !== "assistant" || entry.requestId === undefined || !entry.message) return entry
  const { requestId, ...rest } = entry
  const { id, ...message } = entry.message
  if (requestId !== id) return entry
  return id === entry.uuid ? { ...rest, message } : rest
}

/** Includes all passes of the response, because these programs do not add them up. */
function spentFields({ responseId: id, requestId = id, model, usage: given }: SpentEntry) {
  const usage = usableUsage(given)
  if (!usage) return {}
  const { input, output, cacheWrite5m, cacheWrite1h, cacheRead } = tokenCounts(usage)
  const billed = {
    input_tokens: input,
    output_tokens: output,
    cache_creation_input_tokens: cacheWrite5m + cacheWrite1h,
    cache_read_input_tokens: cacheRead,
    cache_creation: { ephemeral_5m_input_tokens: cacheWrite5m, ephemeral_1h_input_tokens: cacheWrite1h },
  }
  return { requestId, message: { id, model, usage: billed } }
}

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
  const exact = needsExactJson(entry)
  // the fields that the index needs come first, so that it can read them without parsing the line
  const front = "subtype" in entry ? { uuid, parentUuid, type, subtype: entry.subtype } : { uuid, parentUuid, type }
  const fields = withUsageFields(entry)
  const json = exact
    ? onOneLine(stringifyExact({ ...front, exact, ...fields }))
    : JSON.stringify({ ...front, ...fields })
  return withSum(json)
}

/** The line for a JSON object, with a checksum as its last field. */
export function withSum(json: string): Buffer {
  const line = Buffer.from(`${json.slice(0, -1)}${SUM_FIELD}${NO_SUM}"}\n`)
  const sumAt = line.length - 1 - TAIL_LENGTH
  line.write(checksum(line.subarray(0, sumAt)), sumAt + SUM_FIELD.length, "latin1")
  return line
}

/** The JSON object of a complete line, without the checksum. */
export const withoutSum = (line: Buffer): string => `${line.toString("utf8", 0, line.length - TAIL_LENGTH)}}`

/** Decodes a line without its line end. */
export function decodeLine(line: Buffer): DecodedLine {
  if (!isCompleteLine(line)) return { state: "damaged", why: "the checksum does not match" }
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

/** Checks the minimum that every reader of an entry relies on. */
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

/** Whether the bytes are one unchanged line. Much cheaper than decoding. */
export function isCompleteLine(line: Buffer): boolean {
  const sumAt = line.length - TAIL_LENGTH
  if (sumAt < 1 || line[0] !== OPENING || line.toString("latin1", sumAt, sumAt + SUM_FIELD.length) !== SUM_FIELD)
    return false
  const stated = line.toString("latin1", sumAt + SUM_FIELD.length, line.length - 2)
  return stated === checksum(line.subarray(0, sumAt))
}

/** The checksum at the end of a complete line. */
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

/** Reads the front of a line without parsing the rest. For a damaged line, the result is only a hint. */
export function peekLine(line: Buffer): LineFront | undefined {
  const match = FRONT.exec(line.toString("latin1", 0, Math.min(line.length, FRONT_LENGTH)))
  if (!match) return undefined
  const [, uuid, parentUuid = null, type, subtype] = match
  return { uuid: uuid!, parentUuid, type: type!, ...(subtype === undefined ? {} : { subtype }) }
}

/** A chunk of a raw line: a complete line, or unreadable bytes. */
export interface LineChunk {
  readonly start: number
  readonly bytes: Buffer
  readonly isComplete: boolean
}

const SUM_END = /,"sum":"[0-9a-f]{8}"\}/g
const MAX_TRIES = 64 // per search: content can look like the end of a line

/**
 * Splits a raw line that is not complete. If a line end was lost, it contains two lines with one changed byte or an unfinished write in
 * between. Only chunks at the start and the end are used, because content inside a line could pose as a line.
 */
export function splitRawLine(raw: Buffer): readonly LineChunk[] {
  if (isCompleteLine(raw)) return [{ start: 0, bytes: raw, isComplete: true }]
  const pieces: LineChunk[] = []
  let start = 0
  for (;;) {
    const length = completeAtFront(raw.subarray(start))
    if (length === undefined) break
    pieces.push({ start, bytes: raw.subarray(start, start + length), isComplete: true })
    start += length
    if (raw[start] !== OPENING) start++ // the changed line end
  }
  if (start >= raw.length) return pieces
  const rest = raw.subarray(start)
  const last = completeAtEnd(rest)
  if (last === undefined) return [...pieces, { start, bytes: rest, isComplete: false }]
  return [
    ...pieces,
    { start, bytes: rest.subarray(0, last), isComplete: false },
    { start: start + last, bytes: rest.subarray(last), isComplete: true },
  ]
}

function completeAtFront(raw: Buffer): number | undefined {
  if (raw[0] !== OPENING || !raw.includes(SUM_FIELD)) return undefined
  let tries = 0
  for (const { index } of raw.toString("latin1").matchAll(SUM_END)) {
    if (tries++ === MAX_TRIES) return undefined
    const end = index + TAIL_LENGTH
    if (decodeLine(raw.subarray(0, end)).state === "whole") return end
  }
  return undefined
}

function completeAtEnd(raw: Buffer): number | undefined {
  const START = '{"uuid":"'
  let tries = 0
  for (let at = raw.indexOf(START, 1); at > 0 && tries++ < MAX_TRIES; at = raw.indexOf(START, at + 1))
    if (decodeLine(raw.subarray(at)).state === "whole") return at
  return undefined
}

/** Any value can be in place of a message in a copied journal. */
function needsExactJson(entry: Entry): boolean {
  if (entry.type === "assistant" || entry.type === "user") return hasExactText(entry.message)
  if (entry.type !== "attachment") return false
  return hasExactText((entry.attachment as { readonly message?: object } | null)?.message ?? {})
}

// Lines of a journal as found, and reports on those that cannot be read. Damage affects only the damaged bytes, and every report says where
// they are.

/** A range of the journal that differs from what was written. */
export interface DamagedLine {
  /** Counted from 1. Later lines keep their numbers as long as the journal's index exists. */
  readonly line: number
  /** Offset in the journal, in bytes. */
  readonly offset: number
  readonly bytes: number
  readonly why: string
  /** Whether the line is skipped. If not, the line itself is intact. */
  readonly isLost: boolean
}

/** Damage found by one read. */
export interface DamageReport {
  readonly first: DamagedLine
  readonly count: number
  /** The file with a copy of the bytes. */
  readonly quarantineFile?: string
}

/** A line that cannot be read, and what is known about it. */
export interface LostLine extends DamagedLine {
  /** The key of the line's uuid, if the index recorded it while the line was intact. */
  readonly key?: string
  readonly kind?: "entry" | "boundary"
  /** The front of the line, if it is still readable. */
  readonly front?: LineFront
  /** The damaged text names itself as the anchor of the preserved messages, which only boundaries do. */
  readonly anchorsItself?: boolean
  /** The preserved messages, according to the damaged text. */
  readonly preserved?: readonly string[]
}

export type LineReadResult =
  /** `isUnindexed`: the line is not where the index says. */
  | { readonly state: "whole"; readonly entry: Entry; readonly isUnindexed?: true }
  | { readonly state: "lost"; readonly lost: LostLine; readonly content: Buffer }
  /** The line is intact, but the byte after it is no longer a line end. */
  | { readonly state: "end-changed"; readonly at: DamagedLine; readonly content: Buffer }
  /** The index contains an earlier line with the same uuid. */
  | { readonly state: "repeated"; readonly offset: number }

export const SUM_DIFFERS = "the checksum does not match"
export const END_CHANGED = "its line end was changed; the line itself is whole"

/** What a lost line's own bytes reveal about it. */
export function inspectLostLine(at: DamagedLine, bytes: Buffer): LostLine {
  const front = peekLine(bytes)
  if (!front) return at
  if (front.type !== "system") return { ...at, front }
  const preserved = preservedUuids(bytes)
  return {
    ...at,
    front,
    anchorsItself: bytes.includes(`"anchorUuid":"${front.uuid}"`),
    ...(preserved === undefined ? {} : { preserved }),
  }
}

function preservedUuids(bytes: Buffer): readonly string[] | undefined {
  const [, list] = /"preservedMessages":\{[^{}]*?"uuids":(\[[^\]]*\])/.exec(bytes.toString("utf8")) ?? []
  try {
    const uuids: unknown = list === undefined ? undefined : JSON.parse(list)
    return Array.isArray(uuids) && uuids.every((uuid) => typeof uuid === "string") ? uuids : undefined
  } catch {
    return undefined
  }
}

/** Describes damage for the user: what is damaged, where, what it costs, and where the bytes are. */
export function describeDamage({ first, count, quarantineFile }: DamageReport, journal: string): string {
  const { line, offset, bytes, why } = first
  const what =
    count === 1
      ? `One place in the journal is damaged: line ${line} (${why}).`
      : `${count} places in the journal are damaged. The first is line ${line} (${why}).`
  const where = `Its ${bytes === 1 ? "byte is" : `${bytes} bytes are`} at offset ${offset} of ${journal}`
  const copy = quarantineFile === undefined ? "." : `, and a copy is in ${quarantineFile}.`
  return `${what} Only what is damaged is missing; everything else was read. ${where}${copy}`
}
