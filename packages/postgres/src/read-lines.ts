/** Reads entries from stretches of a journal's bytes. A line that is no entry is left out, and the path leads across it, as in a file. */

import type { Entry } from "@strata/core"
import { Bridge, type DamagedLine, decodeLine, lostLine } from "@strata/core/store"

/** How many bytes one call asks for. */
export const MAX_BYTES = 4 * 1024 * 1024

const LINE_END = 0x0a

/** From the offset of a line to that of another. */
export interface ByteRange {
  readonly from: number
  readonly to: number
}

export interface StretchReading {
  readonly range: ByteRange
  /** What was read before, from the beginning on. */
  readonly known?: Buffer | undefined
  /** The lines that begin in a stretch. Nothing: no line does. */
  readonly read: (from: number, to: number) => Promise<Buffer | undefined>
  /** How many lines begin before a place. Asked only where something is damaged. */
  readonly linesBefore: (at: number) => Promise<number>
  /** What was found that is not what was written. */
  readonly onDamage: (found: DamagedLine, gap: { readonly isUnanswered: boolean }) => void
}

export async function* entriesIn({ range, known, read, linesBefore, onDamage }: StretchReading): AsyncGenerator<Entry> {
  const bridge = new Bridge({ isFromStart: range.from === 0 })
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
    yield* bridge.lose(lostLine(at, line))
  }
  yield* bridge.end()
  for (const found of damaged) onDamage(found, bridge)
}

/** A line without its line end. */
interface ReadLine {
  readonly offset: number
  readonly line: Buffer
}

/** Stretch after stretch, until one has nothing more. */
export async function* linesIn({
  range,
  known,
  read,
}: Pick<StretchReading, "range" | "known" | "read">): AsyncGenerator<ReadLine> {
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
