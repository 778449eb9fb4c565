/** Transcripts for recall: messages found by handle, and read in order. Recently read transcripts are cached. */

import { handleOf, type Message } from "@strata/core/messages"
import { BlockReader, type BlockText, type ReadableConversation } from "@strata/core/recall"
import type { Entry, JournalRange } from "@strata/core/store"
import type { Transcript } from "../project-transcripts.ts"

/** Total file size of cached transcripts. The last one read is always cached. */
const MAX_CACHED_BYTES = 48 * 1024 * 1024

class ReadTranscript {
  /** The messages of the conversation, then those of each sub-agent. */
  readonly #messages: readonly Message[]
  #positions: ReadonlyMap<string, number> | undefined

  constructor(messages: readonly Message[]) {
    this.#messages = messages
  }

  readonly journal: ReadableConversation["journal"] = {
    find: async (uuid) => this.#messages[this.#placeOf(uuid) ?? -1],
    findByHandle: async (digits) => this.#messages.filter(({ uuid }) => handleOf(uuid) === digits).toReversed(),
    range: (wanted) => this.#range(wanted),
  }

  texts(): readonly BlockText[] {
    const reader = new BlockReader()
    return this.#messages.flatMap((message) => reader.take(message))
  }

  async *#range({ first, last, around = 0 }: JournalRange): AsyncGenerator<Entry> {
    const ends = [this.#placeOf(first), last === undefined ? this.#messages.length - 1 : this.#placeOf(last)]
    const [from, to] = ends.filter((end) => end !== undefined).toSorted((a, b) => a - b)
    if (from === undefined || to === undefined) return
    yield* this.#messages.slice(Math.max(0, from - around), to + around + 1)
  }

  #placeOf(uuid: string): number | undefined {
    this.#positions ??= new Map(this.#messages.map((message, position) => [message.uuid, position]))
    return this.#positions.get(uuid)
  }
}

const NOTHING = new ReadTranscript([])

export class TranscriptReader {
  /** Cache by path, least recently used first. */
  readonly #cached = new Map<string, { readonly transcript: Transcript; readonly read: Promise<ReadTranscript> }>()

  /** Reads a transcript. An unreadable one has no messages. */
  read(transcript: Transcript): Promise<ReadTranscript> {
    const { path, mark } = transcript
    const known = this.#cached.get(path)
    this.#cached.delete(path)
    const entry = known?.transcript.mark === mark ? known : { transcript, read: readUncached(transcript) }
    this.#cached.set(path, entry)
    this.#makeRoom()
    return entry.read
  }

  #makeRoom(): void {
    let bytes = this.#cached.values().reduce((sum, { transcript }) => sum + transcript.bytes, 0)
    for (const [path, { transcript }] of this.#cached) {
      if (bytes <= MAX_CACHED_BYTES || this.#cached.size === 1) return
      this.#cached.delete(path)
      bytes -= transcript.bytes
    }
  }
}

async function readUncached(transcript: Transcript): Promise<ReadTranscript> {
  const imported = await transcript.read().catch(() => undefined)
  if (!imported) return NOTHING
  // an agent wrote the task of its sub-agents, not the user
  const ofAgents = (imported.agents ?? []).flatMap(({ messages }) =>
    messages.map((message) => ({ ...message, isSidechain: true })),
  )
  return new ReadTranscript([...imported.messages, ...ofAgents])
}
