/**
 * The input of a conversation's views in compressed form: a few per cent of the memory of the views. Reading it from the journal is
 * slow and can fail; unpacking reads nothing, so the views are available at once when they are needed.
 */
import { promisify } from "node:util"
import { deflateRaw, inflateRawSync } from "node:zlib"
import { type CooperativeTask, runCooperatively } from "../base/work.ts"
import type { Entry } from "../journal/entries.ts"
import { decodeLine, encodeLine } from "../journal/line.ts"
import type { Journal } from "../journal/store.ts"
import { buildViews, type JournalTail, readTail } from "./load.ts"
import type { ViewOptions, Views } from "./views.ts"

const LINE_END = 0x0a
const deflate = promisify(deflateRaw) // runs on another thread

/** Lines in the format of a journal: one for the checkpoint, then one for each entry. */
export interface PackedTail {
  readonly bytes: Buffer
  /** How many of the entries belong to the preserved tail. */
  readonly kept: number
}

/** `undefined` if only the entire journal yields the views, because the conversation went back to before its last boundary. */
export async function packTail(journal: Journal): Promise<PackedTail | undefined> {
  const tail = await readTail(journal)
  if (!tail) return undefined
  const lines = await runCooperatively(encodeTailTask(tail)) // the next call may wait for it, so it is not compressed on the main thread
  return { bytes: await deflate(Buffer.concat(lines)), kept: tail.kept.length }
}

function* encodeTailTask({ checkpoint = null, kept, entries }: JournalTail): CooperativeTask<Buffer[]> {
  const lines: Buffer[] = [Buffer.from(`${JSON.stringify(checkpoint)}\n`)]
  for (const entry of [...kept, ...entries]) {
    yield
    lines.push(encodeLine(entry))
  }
  return lines
}

export function unpackViews({ bytes, kept: count }: PackedTail, options: ViewOptions, journal: Journal): Views {
  const [first, ...lines] = splitLines(inflateRawSync(bytes))
  const checkpoint: unknown = JSON.parse(first!.toString())
  const all = lines.map(decodeEntry)
  const tail = { kept: all.slice(0, count), entries: all.slice(count) }
  return buildViews(checkpoint === null ? tail : { ...tail, checkpoint }, options, journal)
}

function splitLines(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = []
  for (let start = 0, end = bytes.indexOf(LINE_END); end >= 0; start = end + 1, end = bytes.indexOf(LINE_END, start))
    lines.push(bytes.subarray(start, end))
  return lines
}

/** Decodes a line. It was read as an entry before it was packed. */
function decodeEntry(line: Buffer): Entry {
  const decoded = decodeLine(line)
  if (decoded.state === "damaged") throw new Error(`a packed entry cannot be read: ${decoded.why}`)
  return decoded.entry
}
