/** A checkpoint as a file: JSON, and on a second line its checksum. Damage is noticed, and the journal has everything to rebuild it. */
import { crc32 } from "node:zlib"
import type { Steps } from "../../base/in-slices.ts"

const LINE_END = 0x0a
const SUM = /^[0-9a-f]{8}$/

export type ReadCheckpoint =
  | { readonly state: "used"; readonly value: unknown }
  /** Written by a version that had no checksums. */
  | { readonly state: "absent" }
  | { readonly state: "damaged" }

export function* summedSteps(value: unknown): Steps<string> {
  const json = yield* jsonSteps(value)
  return `${json}\n${checksum(Buffer.from(json))}\n`
}

const PIECES_PER_STEP = 50 // of a list

/** The same text as `JSON.stringify`, for plain JSON, in steps. */
function* jsonSteps(value: unknown): Steps<string> {
  if (Array.isArray(value)) {
    const pieces: string[] = []
    for (const [at, item] of value.entries()) {
      if (at % PIECES_PER_STEP === 0) yield
      pieces.push(JSON.stringify(item) ?? "null")
    }
    return `[${pieces.join(",")}]`
  }
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  const fields: string[] = []
  for (const [key, item] of Object.entries(value))
    if (item !== undefined) fields.push(`${JSON.stringify(key)}:${yield* jsonSteps(item)}`)
  return `{${fields.join(",")}}`
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
