/**
 * What the journals of this process have appended and the index does not have yet, in memory. It is a shortcut: what is too long to keep is
 * read from the journal, like what other processes append.
 */
import type { AppendedLines } from "../../journal/store.ts"

/** Of one conversation. Longer ones are read in slices. */
const MAX_OF_ONE = 32 * 1024 // bytes
const MAX_IN_ALL = 1024 * 1024 // bytes

export interface AppendedStretch {
  readonly from: number
  readonly parts: readonly Buffer[]
  readonly length: number
}

export class WaitingLines {
  readonly #stretches = new Map<string, AppendedStretch>()
  #bytes = 0

  get bytes(): number {
    return this.#bytes
  }

  get isEmpty(): boolean {
    return this.#stretches.size === 0
  }

  get conversations(): Iterable<string> {
    return this.#stretches.keys()
  }

  add({ conversation, from, bytes }: AppendedLines): void {
    const before = this.take(conversation)
    const isNext = before && before.from + before.length === from
    const stretch = isNext
      ? { from: before.from, parts: [...before.parts, bytes], length: before.length + bytes.length }
      : { from, parts: [bytes], length: bytes.length }
    if (stretch.length > MAX_OF_ONE || this.#bytes + stretch.length > MAX_IN_ALL) return
    this.#stretches.set(conversation, stretch)
    this.#bytes += stretch.length
  }

  /** Whether all that a journal has from this place on is here. */
  continues(conversation: string, from: number): boolean {
    return this.#stretches.get(conversation)?.from === from
  }

  take(conversation: string): AppendedStretch | undefined {
    const stretch = this.#stretches.get(conversation)
    this.#stretches.delete(conversation)
    this.#bytes -= stretch?.length ?? 0
    return stretch
  }
}
