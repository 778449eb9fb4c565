/** A checkpoint as a file: JSON, and on a second line its checksum. Damage is noticed, and the journal has everything to rebuild it. */
import { crc32 } from "node:zlib"

const LINE_END = 0x0a
const SUM = /^[0-9a-f]{8}$/

export type ReadCheckpoint =
  | { readonly state: "used"; readonly value: unknown }
  /** Written by a version that had no checksums. */
  | { readonly state: "absent" }
  | { readonly state: "damaged" }

export function summed(value: unknown): string {
  const json = JSON.stringify(value)
  return `${json}\n${checksum(Buffer.from(json))}\n`
}

export function readSummed(bytes: Buffer): ReadCheckpoint {
  const end = bytes.lastIndexOf(LINE_END, bytes.length - 2)
  const sum = bytes.toString("latin1", end + 1, bytes.length - 1)
  if (end > 0 && SUM.test(sum) && bytes.at(-1) === LINE_END && sum === checksum(bytes.subarray(0, end)))
    return { state: "used", value: JSON.parse(bytes.toString("utf8", 0, end)) as unknown }
  return bytes.includes(LINE_END) || !isJson(bytes) ? { state: "damaged" } : { state: "absent" }
}

const checksum = (bytes: Buffer) => crc32(bytes).toString(16).padStart(8, "0")

function isJson(bytes: Buffer): boolean {
  try {
    JSON.parse(bytes.toString("utf8"))
    return true
  } catch {
    return false
  }
}
