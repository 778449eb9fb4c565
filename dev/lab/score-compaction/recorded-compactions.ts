/**
 * The compactions in recorded conversations: the messages before each, what the recording program left in the context, and the messages
 * after.
 */
import { contentOf, isToolResult, isToolUse, type Message, textOf } from "@strata/core"
import { resultBlocks } from "../../../packages/core/src/messages/blocks.ts"
import { isBoundary } from "../../../packages/core/src/messages/messages.ts"
import { usageTotal } from "../../../packages/core/src/tokens/context-size.ts"
import type { RecordedConversation } from "../recordings.ts"
import { isSummary, textSent } from "./statements.ts"

export interface RecordedCompaction {
  /** All messages from the start of the recording to the boundary. */
  readonly before: readonly Message[]
  /** Number of these messages before the previous boundary. */
  readonly older: number
  /** Messages added since the previous compaction, without what that one left in the context. */
  readonly since: readonly Message[]
  /** Messages from this boundary to the next one, or to the end. */
  readonly after: readonly Message[]
  /** The part of the next request that the recording has: the summary, its attachments and the tail. */
  readonly standing: string | undefined
  /** Files that Claude Code read again: those read last, with their content at that time. */
  readonly restored: string
  /** The summary alone, if it can be read. */
  readonly summary: string | undefined
  /** Tokens of the complete context before the boundary, and of the first request after it, as recorded. */
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
      restored: restoredFiles(since),
      summary: summaryIn(after),
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

const RESTORED_FILES = 5 // Claude Code's limit
const RESTORED_CHARACTERS = 17_500 // Claude Code's limit of about 5,000 tokens for each file

/** Approximates the files that were read again, which recordings lack, by what the last reads returned. */
function restoredFiles(messages: readonly Message[]): string {
  const paths = new Map<string, string>()
  const contents = new Map<string, string>()
  for (const message of messages) {
    if (message.type !== "user" && message.type !== "assistant") continue
    for (const block of contentOf(message)) {
      if (isToolUse(block) && block.name === "Read") paths.set(block.id, String(Object(block.input).file_path))
      const path = isToolResult(block) ? paths.get(block.tool_use_id) : undefined
      if (!isToolResult(block) || path === undefined) continue
      contents.delete(path)
      contents.set(path, `${path}\n${textOf(resultBlocks(block)).slice(0, RESTORED_CHARACTERS)}`)
    }
  }
  return [...contents.values()].slice(-RESTORED_FILES).join("\n")
}

const SHORTEST_SUMMARY = 200 // in characters; a shorter text only refers to a summary elsewhere

function summaryIn(after: readonly Message[]): string | undefined {
  const text = leftBehind(after).filter(isSummary).map(textSent).join("\n")
  return text.length >= SHORTEST_SUMMARY ? text : undefined
}

const metadataOf = (message: Message) => (isBoundary(message) ? message.compactMetadata : undefined)

/** The input of the next request, including a message of the user before it. */
function firstInput(after: readonly Message[]): number | undefined {
  const usage = after.map((message) => (message.type === "assistant" ? message.message.usage : undefined)).find(Boolean)
  return usage && usageTotal(usage) - usage.output_tokens
}
