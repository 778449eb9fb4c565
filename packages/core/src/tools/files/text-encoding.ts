/** Decodes bytes to text and back. Decoded text encodes to the same bytes, so an edit changes nothing else. */
import { isUtf8 } from "node:buffer"

export type Encoding = "utf-8" | "utf-8 with BOM" | "utf-16le" | "utf-16be" | "latin1"

export interface DecodedText {
  /** Text without a byte order mark. */
  readonly text: string
  readonly encoding: Encoding
}

const SAMPLE_BYTES = 8_000 // bytes that git checks to recognise binary files
const MAX_CONTROLS = 0.05 // maximum share of control characters at which bytes that are not UTF-8 count as Latin-1
const BOM_BYTES: readonly (readonly [Encoding, readonly number[]])[] = [
  ["utf-8 with BOM", [0xef, 0xbb, 0xbf]],
  ["utf-16le", [0xff, 0xfe]],
  ["utf-16be", [0xfe, 0xff]],
]

/** Decodes bytes. `undefined` if they are not text. */
export function decodeText(bytes: Buffer): DecodedText | undefined {
  const [encoding, mark] = BOM_BYTES.find(([, mark]) => mark.every((byte, i) => bytes[i] === byte)) ?? []
  const body = bytes.subarray(mark?.length ?? 0)
  switch (encoding) {
    case "utf-16le":
      return body.length % 2 === 0 ? { text: body.toString("utf16le"), encoding } : undefined
    case "utf-16be":
      return body.length % 2 === 0 ? { text: Buffer.from(body).swap16().toString("utf16le"), encoding } : undefined
    default:
      if (body.subarray(0, SAMPLE_BYTES).includes(0)) return undefined
      if (isUtf8(body)) return { text: body.toString("utf8"), encoding: encoding ?? "utf-8" }
      return looksLikeText(bytes) ? { text: bytes.toString("latin1"), encoding: "latin1" } : undefined
  }
}

export function encodeText({ text, encoding }: DecodedText): Buffer {
  const mark = Buffer.from(BOM_BYTES.find(([name]) => name === encoding)?.[1] ?? [])
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

/** Whether an encoding can represent all characters of a text. */
export function canEncode(encoding: Encoding, text: string): boolean {
  return encoding !== "latin1" || /^[\0-\xff]*$/.test(text)
}

function looksLikeText(bytes: Buffer): boolean {
  const sample = bytes.subarray(0, SAMPLE_BYTES)
  const isControl = (byte: number) => (byte < 0x20 && !(byte >= 0x08 && byte <= 0x0d) && byte !== 0x1b) || byte === 0x7f
  return sample.filter(isControl).length <= sample.length * MAX_CONTROLS
}
