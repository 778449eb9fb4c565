/** Transcripts as Recall reads them: messages found by handle, and given in their order. What was read last is kept. */

import { handleOf, type Message } from "@strata/core/messages"
import { BlockReader, type BlockText, type ReadableConversation } from "@strata/core/recall"
import type { Entry, JournalRange } from "@strata/core/store"
import type { Transcript } from "../project-transcripts.ts"

/** Of transcripts that are kept, as their files have them. The last read one is kept whatever its size. */
const MAX_KEPT_BYTES = 48 * 1024 * 1024

class ReadTranscript {
  /** The conversation, then its sub-agents one after the other. */
  readonly #messages: readonly Message[]
  #places: ReadonlyMap<string, number> | undefined

  constructor(messages: readonly Message[]) {
    this.#messages = messages
  }

  readonly journal: ReadableConversation["journal"] = {
    find: async (uuid) => this.#messages[this.#placeOf(uuid) ?? -1],
    findByHandle: async (digits) => this.#messages.filter(({ uuid }) => handleOf(uuid) === digits).toReversed(),
    stretch: (wanted) => this.#stretch(wanted),
  }

  texts(): readonly BlockText[] {
    const reader = new BlockReader()
    return this.#messages.flatMap((message) => reader.take(message))
  }

  async *#stretch({ first, last, around = 0 }: JournalRange): AsyncGenerator<Entry> {
    const ends = [this.#placeOf(first), last === undefined ? this.#messages.length - 1 : this.#placeOf(last)]
    const [from, to] = ends.filter((end) => end !== undefined).toSorted((a, b) => a - b)
    if (from === undefined || to === undefined) return
    yield* this.#messages.slice(Math.max(0, from - around), to + around + 1)
  }

  #placeOf(uuid: string): number | undefined {
    this.#places ??= new Map(this.#messages.map((message, place) => [message.uuid, place]))
    return this.#places.get(uuid)
  }
}

const NOTHING = new ReadTranscript([])

export class TranscriptReader {
  /** By path, the one used last at the end. */
  readonly #kept = new Map<string, { readonly transcript: Transcript; readonly read: Promise<ReadTranscript> }>()

  /** A transcript that cannot be read has no messages. */
  read(transcript: Transcript): Promise<ReadTranscript> {
    const { path, mark } = transcript
    const known = this.#kept.get(path)
    this.#kept.delete(path)
    const kept = known?.transcript.mark === mark ? known : { transcript, read: readNow(transcript) }
    this.#kept.set(path, kept)
    this.#makeRoom()
    return kept.read
  }

  #makeRoom(): void {
    let bytes = this.#kept.values().reduce((sum, { transcript }) => sum + transcript.bytes, 0)
    for (const [path, { transcript }] of this.#kept) {
      if (bytes <= MAX_KEPT_BYTES || this.#kept.size === 1) return
      this.#kept.delete(path)
      bytes -= transcript.bytes
    }
  }
}

async function readNow(transcript: Transcript): Promise<ReadTranscript> {
  const imported = await transcript.read().catch(() => undefined)
  if (!imported) return NOTHING
  // an agent wrote what its sub-agents were asked, not the person
  const ofAgents = (imported.agents ?? []).flatMap(({ messages }) =>
    messages.map((message) => ({ ...message, isSidechain: true })),
  )
  return new ReadTranscript([...imported.messages, ...ofAgents])
}
