/**
 * Builds the chain of messages for formats without uuids: each message follows the one before it unless it names a parent.
 * Uuids are derived from the position in the source, so the same file always gives the same ones.
 */

import type { Block, Content, Usage, Uuid } from "@strata/core"
import { uuidFrom } from "@strata/core/base"
import type { Attachment, CompactMetadata } from "@strata/core/messages"
import { type AssistantMessage, BOUNDARY_LINE, type Message, toBlocks, type UserMessage } from "@strata/core/messages"
import { definedOnly } from "./json-access.ts"

/** The source of a message: `key` is unique in the conversation, `at` is its time. */
export interface Origin {
  readonly key: string
  readonly at: string | undefined
  /** The parent, if it is not the previous message. */
  readonly parent?: Uuid | null
}

type Flags = Partial<
  Pick<UserMessage, "isMeta" | "isCompactSummary" | "isVisibleInTranscriptOnly" | "saidInResults" | "filesChanged">
>

export interface ImportedResponse {
  readonly id: string
  readonly model?: string | undefined
  readonly usage?: Usage | undefined
  readonly stopReason?: string | undefined
}

export interface ImportedCompaction {
  readonly summary: Content
  readonly trigger?: CompactMetadata["trigger"]
  readonly preTokens?: number | undefined
  /** Messages before the boundary that stay in the context after the summary. */
  readonly kept?: readonly Uuid[]
}

const SUMMARY_FLAGS = { isCompactSummary: true, isVisibleInTranscriptOnly: true } as const
const BEGINNING_OF_TIME = "1970-01-01T00:00:00.000Z" // for formats without times
const SYNTHETIC_MODEL = "<synthetic>"

export class Chain {
  readonly #seed: string
  readonly #messages: Message[] = []
  readonly #places = new Map<Uuid, number>()
  #newest: Uuid | null = null
  #time = BEGINNING_OF_TIME

  constructor(seed: string) {
    this.#seed = seed
  }

  get messages(): readonly Message[] {
    return this.#messages
  }

  get newest(): Uuid | null {
    return this.#newest
  }

  uuid(key: string): Uuid {
    return uuidFrom(`${this.#seed}:${key}`)
  }

  user(content: Content, origin: Origin, flags: Flags = {}): Uuid {
    return this.#push({
      ...this.#place(origin),
      type: "user",
      message: { role: "user", content: toBlocks(content) },
      ...flags,
    })
  }

  /** Adds one part of a response. Parts with the same id belong together, as in Claude Code transcripts. */
  assistant(blocks: readonly Block[], origin: Origin, { id, model, usage, stopReason }: ImportedResponse): Uuid {
    const message = { id, role: "assistant" as const, model, content: blocks, stop_reason: stopReason, usage }
    return this.#push({ ...this.#place(origin), type: "assistant", message: definedOnly(message) })
  }

  /** Adds a failure that the program showed instead of a response. The model did not write it, and it is never sent to the model. */
  failure(text: string, origin: Origin): Uuid {
    const message = { role: "assistant" as const, model: SYNTHETIC_MODEL, content: toBlocks(text) }
    return this.#push({ ...this.#place(origin), type: "assistant", message, isApiErrorMessage: true })
  }

  attachment(attachment: Attachment, origin: Origin): Uuid {
    return this.#push({ ...this.#place(origin), type: "attachment", attachment })
  }

  /** Adds a boundary and the summary after it. Returns the summary's uuid. */
  compaction({ summary, trigger = "auto", preTokens = 0, kept = [] }: ImportedCompaction, origin: Origin): Uuid {
    const summaryKey = `${origin.key}:summary`
    const { parentUuid, ...place } = this.#place(origin)
    this.#push({
      ...place,
      parentUuid: null,
      logicalParentUuid: parentUuid,
      ...BOUNDARY_LINE,
      compactMetadata: {
        trigger,
        preTokens,
        ...(kept.length > 0 && { preservedMessages: { anchorUuid: this.uuid(summaryKey), uuids: kept } }),
      },
    })
    return this.user(summary, { key: summaryKey, at: origin.at }, SUMMARY_FLAGS)
  }

  /** Sets the usage on all parts of a response, as in Claude Code transcripts. */
  setUsage(pieces: readonly Uuid[], usage: Usage): void {
    for (const uuid of pieces) {
      const place = this.#places.get(uuid)!
      const piece = this.#messages[place] as AssistantMessage
      this.#messages[place] = { ...piece, message: { ...piece.message, usage } }
    }
  }

  #place({ key, at, parent = this.#newest }: Origin) {
    this.#time = at ?? this.#time
    return { uuid: this.uuid(key), parentUuid: parent, timestamp: this.#time }
  }

  #push(message: Message): Uuid {
    this.#places.set(message.uuid, this.#messages.length)
    this.#messages.push(message)
    this.#newest = message.uuid
    return message.uuid
  }
}

/** Converts a time in milliseconds since 1970, or a text, to the ISO form of messages. */
export function isoTime(value: unknown): string | undefined {
  if (typeof value !== "number" && typeof value !== "string") return undefined
  const date = new Date(value)
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString()
}
