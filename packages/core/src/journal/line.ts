/**
 * Encodes an entry as one line: JSON with a checksum as its last field. A line counts only if its checksum matches, so a torn
 * or damaged line is never read as an entry.
 *
 *   {"uuid":"…","parentUuid":"…","type":"user", … ,"sum":"1a2b3c4d"}
 */
import { crc32 } from "node:zlib"
import type { Block } from "../messages/blocks.ts"
import { hasExactInput, parseExact, stringifyExact } from "../messages/exact-json.ts"
import type { Entry } from "./entries.ts"

const SUM_FIELD = ',"sum":"'
const SUM_LENGTH = 8 // crc32 in hex
const TAIL_LENGTH = SUM_FIELD.length + SUM_LENGTH + '"}'.length

export type DecodedLine =
  | { readonly state: "whole"; readonly entry: Entry }
  | { readonly state: "damaged"; readonly why: string }

/** The line for an entry, with its line end. */
export function encodeLine(entry: Entry): Buffer {
  const { uuid, parentUuid, type, ...rest } = entry
  const exact = (entry.type === "assistant" || entry.type === "user") && hasExactInput(blocksOf(entry))
  // the fields that the index needs come first, so that it can read them without parsing the line
  const front = "subtype" in entry ? { uuid, parentUuid, type, subtype: entry.subtype } : { uuid, parentUuid, type }
  const json = exact ? stringifyExact({ ...front, exact, ...rest }) : JSON.stringify({ ...front, ...rest })
  const open = json.slice(0, -1)
  return Buffer.from(`${open}${SUM_FIELD}${checksum(Buffer.from(open))}"}\n`)
}

/** Decodes a line without its line end. */
export function decodeLine(line: Buffer): DecodedLine {
  if (!isWhole(line)) return { state: "damaged", why: "the checksum does not match" }
  const text = `${line.toString("utf8", 0, line.length - TAIL_LENGTH)}}`
  try {
    const spelledExactly = text.slice(0, 200).includes(',"exact":true,')
    const { exact: _, ...entry } = (spelledExactly ? parseExact(text) : JSON.parse(text)) as Entry & { exact?: true }
    return { state: "whole", entry: entry as Entry }
  } catch {
    return { state: "damaged", why: "not JSON, although the checksum matches" }
  }
}

/** Whether the bytes are one unchanged line. Much cheaper than decoding it. */
export function isWhole(line: Buffer): boolean {
  const sumAt = line.length - TAIL_LENGTH
  if (sumAt < 1 || line[0] !== 0x7b || line.toString("latin1", sumAt, sumAt + SUM_FIELD.length) !== SUM_FIELD)
    return false
  const stated = line.toString("latin1", sumAt + SUM_FIELD.length, line.length - 2)
  return stated === checksum(line.subarray(0, sumAt))
}

const checksum = (bytes: Buffer) => crc32(bytes).toString(16).padStart(SUM_LENGTH, "0")

/** Reads the fields that the index needs from the front of a line, without parsing the rest. */
export function peekLine(line: Buffer): { uuid: string; isBoundary: boolean } | undefined {
  const front = line.toString("latin1", 0, Math.min(line.length, 400))
  const match = /^\{"uuid":"([^"\\]+)","parentUuid":(?:null|"[^"\\]*"),"type":"([^"\\]+)"/.exec(front)
  if (!match) return undefined
  const isSystem = match[2] === "system"
  return { uuid: match[1]!, isBoundary: isSystem && /,"subtype":"compact_boundary"/.test(front) }
}

function blocksOf(entry: Extract<Entry, { type: "assistant" | "user" }>): readonly Block[] {
  const content: unknown = entry.message?.content // a copied journal may hold anything
  return Array.isArray(content) ? content : []
}
