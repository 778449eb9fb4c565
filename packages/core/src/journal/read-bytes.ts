/** Reads a journal from memory without its index, for readers of single files. Damage is bridged as in a file. */

import type { Entry } from "./entries.ts"
import { type DamagedLine, decodeLine, inspectLostLine, isCompleteLine, splitRawLine, statedSum } from "./line.ts"
import { ParentRelinker } from "./parent-relinker.ts"

export interface JournalBytes {
  readonly entries: readonly Entry[]
  readonly damaged: readonly DamagedLine[]
  /** Lines skipped because the same line occurs earlier. */
  readonly repeatedLines: number
  readonly bridged: number
  readonly restored: number
}

const LINE_END = 0x0a

/** Whether any line has a checksum that matches. Other programs' transcripts have none. */
export function isJournal(bytes: Buffer): boolean {
  for (const { line } of linesOf(bytes)) if (isCompleteLine(line)) return true
  return false
}

/** `isFromStart: false`: what follows lines that were read before, so a parent may be among those. */
export function readJournalBytes(bytes: Buffer, { isFromStart = true } = {}): JournalBytes {
  const bridge = new ParentRelinker({ isFromStart })
  const entries: Entry[] = []
  const damaged: DamagedLine[] = []
  const seen = new Set<string>()
  let repeatedLines = 0
  let number = 0
  for (const { line, offset } of linesOf(bytes)) {
    number++
    for (const piece of splitRawLine(line)) {
      const decoded = decodeLine(piece.bytes)
      if (decoded.state === "damaged") {
        const { why } = decoded
        const at = { line: number, offset: offset + piece.start, bytes: piece.bytes.length, why, isLost: true }
        damaged.push(at)
        entries.push(...bridge.lose(inspectLostLine(at, piece.bytes)))
        continue
      }
      const key = `${decoded.entry.uuid} ${statedSum(piece.bytes)}`
      if (seen.has(key)) repeatedLines++
      else entries.push(...bridge.take(decoded.entry))
      seen.add(key)
    }
  }
  entries.push(...bridge.end())
  return { entries, damaged, repeatedLines, bridged: bridge.bridged, restored: bridge.restored }
}

function* linesOf(bytes: Buffer): Generator<{ readonly line: Buffer; readonly offset: number }> {
  for (let start = 0; start < bytes.length; ) {
    const found = bytes.indexOf(LINE_END, start)
    const end = found < 0 ? bytes.length : found
    if (end > start) yield { line: bytes.subarray(start, end), offset: start }
    start = end + 1
  }
}
