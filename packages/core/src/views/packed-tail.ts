/**
 * What the views of a conversation are built from, packed: a few per cent of the memory that the views take. It is read from the journal,
 * which is slow and can fail; unpacking it reads nothing, so the views are there at once when someone asks for them.
 */
import { promisify } from "node:util"
import { deflateRaw, inflateRawSync } from "node:zlib"
import { type CooperativeTask, runCooperatively } from "../base/work.ts"
import type { Entry } from "../journal/entries.ts"
import { decodeLine, encodeLine } from "../journal/line.ts"
import type { Journal } from "../journal/store.ts"
import { readTail, type Tail, viewsOf } from "./load.ts"
import type { ViewOptions, Views } from "./views.ts"

const LINE_END = 0x0a
const deflated = promisify(deflateRaw) // on another thread

/** The bytes of a journal: a line for the checkpoint, then one for each entry. */
export interface PackedTail {
  readonly bytes: Buffer
  /** How many of the entries are those that the compaction kept. */
  readonly kept: number
}

/** `undefined` where only the whole journal gives the views: the conversation went back to before its last boundary. */
export async function packTail(journal: Journal): Promise<PackedTail | undefined> {
  const tail = await readTail(journal)
  if (!tail) return undefined
  const lines = await runCooperatively(lineSteps(tail)) // the next call may wait for it, so it does not pause
  return { bytes: await deflated(Buffer.concat(lines)), kept: tail.kept.length }
}

function* lineSteps({ checkpoint = null, kept, entries }: Tail): CooperativeTask<Buffer[]> {
  const lines: Buffer[] = [Buffer.from(`${JSON.stringify(checkpoint)}\n`)]
  for (const entry of [...kept, ...entries]) {
    yield
    lines.push(encodeLine(entry))
  }
  return lines
}

export function unpackViews({ bytes, kept: count }: PackedTail, options: ViewOptions): Views {
  const [first, ...lines] = linesIn(inflateRawSync(bytes))
  const checkpoint: unknown = JSON.parse(first!.toString())
  const all = lines.map(entryIn)
  const tail = { kept: all.slice(0, count), entries: all.slice(count) }
  return viewsOf(checkpoint === null ? tail : { ...tail, checkpoint }, options)
}

function linesIn(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = []
  for (let start = 0, end = bytes.indexOf(LINE_END); end >= 0; start = end + 1, end = bytes.indexOf(LINE_END, start))
    lines.push(bytes.subarray(start, end))
  return lines
}

/** They were read as entries before they were packed. */
function entryIn(line: Buffer): Entry {
  const decoded = decodeLine(line)
  if (decoded.state === "damaged") throw new Error(`a packed entry cannot be read: ${decoded.why}`)
  return decoded.entry
}
