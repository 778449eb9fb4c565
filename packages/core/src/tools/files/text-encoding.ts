/**
 * Decodes bytes to text and back. Decoded text encodes to exactly the same bytes, so an edit changes nothing but what it edits.
 */
import { isUtf8 } from "node:buffer"

export type Encoding = "utf-8" | "utf-8 with BOM" | "utf-16le" | "utf-16be" | "latin1"

export interface Decoded {
  /** Without a byte order mark. */
  readonly text: string
  readonly encoding: Encoding
}

const BYTES_LOOKED_AT = 8_000 // what git looks at to recognise binary files
const MAX_CONTROLS = 0.05 // with at most this share of control characters, bytes that are not UTF-8 count as Latin-1
const MARKS: readonly (readonly [Encoding, readonly number[]])[] = [
  ["utf-8 with BOM", [0xef, 0xbb, 0xbf]],
  ["utf-16le", [0xff, 0xfe]],
  ["utf-16be", [0xfe, 0xff]],
]

/** `undefined`: not text. */
export function decodeText(bytes: Buffer): Decoded | undefined {
  const [encoding, mark] = MARKS.find(([, mark]) => mark.every((byte, i) => bytes[i] === byte)) ?? []
  const body = bytes.subarray(mark?.length ?? 0)
  switch (encoding) {
    case "utf-16le":
      return body.length % 2 === 0 ? { text: body.toString("utf16le"), encoding } : undefined
    case "utf-16be":
      return body.length % 2 === 0 ? { text: Buffer.from(body).swap16().toString("utf16le"), encoding } : undefined
    default:
      if (body.subarray(0, BYTES_LOOKED_AT).includes(0)) return undefined
      if (isUtf8(body)) return { text: body.toString("utf8"), encoding: encoding ?? "utf-8" }
      return looksWritten(bytes) ? { text: bytes.toString("latin1"), encoding: "latin1" } : undefined
  }
}

export function encodeText({ text, encoding }: Decoded): Buffer {
  const mark = Buffer.from(MARKS.find(([name]) => name === encoding)?.[1] ?? [])
  switch (encoding) {
    case "latin1":
      return Buffer.from(text, "latin1")
    case "utf-16le":
      return Buffer.concat([mark, Buffer.from(text, "utf16le")])
    case "utf-16be":
      return Buffer.concat([mark, Buffer.from(text, "utf16le").swap16()])
    default:
      return Buffer.concat([mark, Buffer.from(text, "utf8")])
  }
}

/** Whether an encoding has all characters of a text. */
export function canHold(encoding: Encoding, text: string): boolean {
  return encoding !== "latin1" || /^[\0-\xff]*$/.test(text)
}

function looksWritten(bytes: Buffer): boolean {
  const sample = bytes.subarray(0, BYTES_LOOKED_AT)
  const isControl = (byte: number) => (byte < 0x20 && !(byte >= 0x08 && byte <= 0x0d) && byte !== 0x1b) || byte === 0x7f
  return sample.filter(isControl).length <= sample.length * MAX_CONTROLS
}
