/**
 * How long a model may take and how much it may send. Without these limits a stream that stalls, or never ends, would hold a
 * conversation for ever.
 */
import type { Flags } from "../settings/flags.ts"

/** Times in milliseconds. */
export interface StreamLimits {
  /** The longest wait for an answer to begin. */
  readonly beginMs: number
  /** The longest silence of the connection, once it has sent something. */
  readonly idleMs: number
  /** The longest time without a new piece of the answer, on a connection that still sends signs of life. */
  readonly stallMs: number
  /** The longest time for one answer. */
  readonly answerMs: number
}

export const DEFAULT_LIMITS: StreamLimits = {
  beginMs: 240_000, // a prompt of a million tokens takes the server more than a minute
  idleMs: 90_000, // the API sends a ping several times a minute
  stallMs: 300_000, // hidden thinking sends pings only
  answerMs: 7_200_000, // the longest answer, 128,000 tokens, takes about an hour
}

/** The limits that settings and flags give. */
export function limitsFrom({ figures }: Pick<Flags, "figures">): StreamLimits {
  return {
    beginMs: figures["answer-begin"] * 1_000,
    idleMs: figures["stream-idle"] * 1_000,
    stallMs: figures["stream-stall"] * 1_000,
    answerMs: figures["answer-time"] * 60_000,
  }
}

/** How much one answer may send. */
export interface AnswerSize {
  readonly characters: number
  readonly blocks: number
  /** Bytes of the stream since its last piece of content. */
  readonly emptyBytes: number
}

const CHARACTERS_PER_TOKEN = 32 // prose has 3 to 5; runs of spaces have most
const LEAST_CHARACTERS = 100_000 // servers that round a small limit up are not cut
const MOST_CHARACTERS = 16_000_000
const MOST_BLOCKS = 5_000
const MOST_EMPTY_BYTES = 8 * 1024 * 1024 // a block with a fetched document can have megabytes
const KEPT_CHARACTERS_PER_TOKEN = 4 // of an endless answer: what a full answer of ordinary text has

export const sizeLimit = (maxTokens: number): AnswerSize => ({
  characters: Math.min(MOST_CHARACTERS, Math.max(LEAST_CHARACTERS, maxTokens * CHARACTERS_PER_TOKEN)),
  blocks: MOST_BLOCKS,
  emptyBytes: MOST_EMPTY_BYTES,
})

/** How much of an answer that did not end is kept, in characters. More would fill the next request. */
export const keptCharacters = (maxTokens: number): number => maxTokens * KEPT_CHARACTERS_PER_TOKEN
