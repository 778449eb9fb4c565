/** Reads the lines of a journal file in order and in chunks, so that the file never has to fit in memory. */

import type { ByteSource } from "./guarded-writes.ts"
import { readBytes } from "./index-file.ts"

export interface RawLine {
  readonly offset: number
  /** Without the line end. */
  readonly bytes: Buffer
  /** False for a last line without a line end. */
  readonly ended: boolean
  /** Where the next line begins, or would begin. */
  readonly next: number
}

const CHUNK_BYTES = 1 << 20
const LINE_END = 0x0a
/** Longer lines are split into parts. No entry comes near this size: a request has at most 32 MB. */
const MAX_LINE = 1 << 28

/** Lines from `start` to `end`. The bytes of a line are valid until the next one is requested. */
export async function* scanLines(handle: ByteSource, start: number, end: number): AsyncGenerator<RawLine> {
  let pending: Buffer[] = []
  let pendingBytes = 0
  let offset = start
  for (let position = start; position < end; ) {
    const chunk = await readBytes(handle, position, Math.min(CHUNK_BYTES, end - position))
    if (chunk.length === 0) break
    let from = 0
    for (let at = chunk.indexOf(LINE_END); at >= 0; at = chunk.indexOf(LINE_END, from)) {
      const part = chunk.subarray(from, at)
      const bytes = pending.length === 0 ? part : Buffer.concat([...pending, part])
      yield { offset, bytes, ended: true, next: offset + bytes.length + 1 }
      pending = []
      pendingBytes = 0
      offset += bytes.length + 1
      from = at + 1
    }
    if (from < chunk.length) pending.push(chunk.subarray(from))
    pendingBytes += chunk.length - from
    position += chunk.length
    if (pendingBytes < MAX_LINE || position >= end) continue
    yield { offset, bytes: Buffer.concat(pending), ended: true, next: offset + pendingBytes }
    pending = []
    offset += pendingBytes
    pendingBytes = 0
  }
  if (pending.length === 0) return
  const bytes = Buffer.concat(pending)
  yield { offset, bytes, ended: false, next: offset + bytes.length + 1 }
}
