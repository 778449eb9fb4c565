/** The compactions in recorded conversations: what was before each, what the recording program left after it, what came then. */
import { isBoundary, type Message, usageTotal } from "@strata/core/internal"
import type { RecordedConversation } from "../recordings.ts"
import { isSummary, textSent } from "./said.ts"

export interface RecordedCompaction {
  /** All messages from the start of the recording to the boundary. */
  readonly before: readonly Message[]
  /** How many of these are before the previous boundary. */
  readonly older: number
  /** What was added since the previous compaction, without what that one left. */
  readonly since: readonly Message[]
  /** From here to the next boundary, or to the end. */
  readonly after: readonly Message[]
  /** The part of the next request that the recording has: the summary, its attachments, kept messages. */
  readonly standing: string
  /** Tokens of the whole context before, and of the first request after, as recorded. */
  readonly tokensBefore: number
  readonly tokensAfter: number | undefined
}

/** Skips a boundary at the start of a recording: there is nothing before it to measure. */
export function recordedCompactions({ messages }: Pick<RecordedConversation, "messages">): RecordedCompaction[] {
  const boundaries = messages.flatMap((message, at) => (isBoundary(message) && at > 0 ? [at] : []))
  return boundaries.map((at, nth) => {
    const previous = boundaries[nth - 1]
    const since = messages.slice(previous ?? 0, at)
    const after = messages.slice(at, boundaries[nth + 1])
    return {
      before: messages.slice(0, at).filter((message) => !isBoundary(message)),
      older: previous === undefined ? 0 : messages.slice(0, previous).filter((message) => !isBoundary(message)).length,
      since: previous === undefined ? since : since.slice(leftBehind(since).length),
      after,
      standing: standingIn(messages, at),
      tokensBefore: metadataOf(messages[at]!)?.preTokens ?? 0,
      tokensAfter: firstInput(after),
    }
  })
}

/** The boundary, the summary and its attachments: everything before the next message of the user or the model. */
function leftBehind(after: readonly Message[]): readonly Message[] {
  const end = after.findIndex(
    (message) => message.type === "assistant" || (message.type === "user" && !isSummary(message)),
  )
  return end < 0 ? after : after.slice(0, end)
}

function standingIn(messages: readonly Message[], at: number): string {
  const kept = new Set(metadataOf(messages[at]!)?.preservedMessages?.uuids ?? [])
  const before = messages.slice(0, at).filter(({ uuid }) => kept.has(uuid))
  const texts = [...leftBehind(messages.slice(at)), ...before].map(textSent)
  return texts.filter((text) => text !== "").join("\n")
}

const metadataOf = (message: Message) => (isBoundary(message) ? message.compactMetadata : undefined)

/** The input of the next request, including a message of the user before it. */
function firstInput(after: readonly Message[]): number | undefined {
  const usage = after.map((message) => (message.type === "assistant" ? message.message.usage : undefined)).find(Boolean)
  return usage && usageTotal(usage) - usage.output_tokens
}
