/**
 * Lines that the journals of this process appended and the index does not have yet, in memory. Only an optimisation: longer ranges are
 * read from the journal, like lines of other processes.
 */
import type { AppendedLines } from "../../journal/store.ts"

/** Limit for one conversation. Longer ranges are read from the journal in slices. */
const MAX_CONVERSATION_BYTES = 32 * 1024 // bytes
const MAX_TOTAL_BYTES = 1024 * 1024 // bytes

export interface AppendedRange {
  readonly from: number
  readonly parts: readonly Buffer[]
  readonly length: number
}

export class AppendedBuffer {
  readonly #ranges = new Map<string, AppendedRange>()
  #bytes = 0

  get bytes(): number {
    return this.#bytes
  }

  get isEmpty(): boolean {
    return this.#ranges.size === 0
  }

  get conversations(): Iterable<string> {
    return this.#ranges.keys()
  }

  add({ conversation, from, bytes }: AppendedLines): void {
    const before = this.take(conversation)
    const isNext = before && before.from + before.length === from
    const range = isNext
      ? { from: before.from, parts: [...before.parts, bytes], length: before.length + bytes.length }
      : { from, parts: [bytes], length: bytes.length }
    if (range.length > MAX_CONVERSATION_BYTES || this.#bytes + range.length > MAX_TOTAL_BYTES) return
    this.#ranges.set(conversation, range)
    this.#bytes += range.length
  }

  /** Whether the buffer has everything that a journal contains from this offset on. */
  continues(conversation: string, from: number): boolean {
    return this.#ranges.get(conversation)?.from === from
  }

  take(conversation: string): AppendedRange | undefined {
    const range = this.#ranges.get(conversation)
    this.#ranges.delete(conversation)
    this.#bytes -= range?.length ?? 0
    return range
  }
}
