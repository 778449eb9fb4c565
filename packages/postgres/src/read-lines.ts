/** Reads entries from byte ranges of a journal. A line that is not an entry is skipped, and its parent links are bridged, as in a file. */

import type { Entry } from "@strata/core"
import { type DamagedLine, decodeLine, inspectLostLine, ParentRelinker } from "@strata/core/store"

/** How many bytes one call asks for. */
export const MAX_BYTES = 4 * 1024 * 1024

const LINE_END = 0x0a

/** A range from the offset of one line to that of another. */
export interface ByteRange {
  readonly from: number
  readonly to: number
}

export interface RangeReadOptions {
  readonly range: ByteRange
  /** Bytes that were read before, from the beginning of the range. */
  readonly known?: Buffer | undefined
  /** Returns the lines that begin in a range; `undefined` if none does. */
  readonly read: (from: number, to: number) => Promise<Buffer | undefined>
  /** Counts the lines before an offset. Called only if a line is damaged. */
  readonly linesBefore: (at: number) => Promise<number>
  /** Called for each damaged line. */
  readonly onDamage: (found: DamagedLine, gap: { readonly isUnanswered: boolean }) => void
}

export async function* entriesIn({
  range,
  known,
  read,
  linesBefore,
  onDamage,
}: RangeReadOptions): AsyncGenerator<Entry> {
  const bridge = new ParentRelinker({ isFromStart: range.from === 0 })
  const damaged: DamagedLine[] = []
  let number = 0
  let before: number | undefined
  for await (const { offset, line } of linesIn({ range, known, read })) {
    number++
    const decoded = decodeLine(line)
    if (decoded.state === "whole") {
      yield* bridge.take(decoded.entry)
      continue
    }
    before ??= range.from === 0 ? 0 : await linesBefore(range.from)
    const at = { line: before + number, offset, bytes: line.length, why: decoded.why, isLost: true }
    damaged.push(at)
    yield* bridge.lose(inspectLostLine(at, line))
  }
  yield* bridge.end()
  for (const found of damaged) onDamage(found, bridge)
}

/** A line without its line end. */
interface ReadLine {
  readonly offset: number
  readonly line: Buffer
}

/** Reads range by range until one is empty. */
export async function* linesIn({
  range,
  known,
  read,
}: Pick<RangeReadOptions, "range" | "known" | "read">): AsyncGenerator<ReadLine> {
  let at = range.from
  let bytes = known
  while (at < range.to) {
    bytes ??= await read(at, Math.min(range.to, at + MAX_BYTES))
    if (bytes === undefined || bytes.length === 0) return
    for (let start = 0; start < bytes.length; ) {
      const found = bytes.indexOf(LINE_END, start)
      const end = found < 0 ? bytes.length : found
      yield { offset: at + start, line: bytes.subarray(start, end) }
      start = end + 1
    }
    at += bytes.length
    bytes = undefined
  }
}
