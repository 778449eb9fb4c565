/** Joins recorded conversations into ranges of a given size, as messages that an agent loop would add. */
import {
  type Block,
  contentOf,
  type IncomingMessage,
  isText,
  isToolResult,
  isToolUse,
  type Message,
} from "@strata/core"
import { createEstimator } from "../../../packages/core/src/tokens/estimate.ts"
import type { RecordedConversation } from "../recordings.ts"

export interface JoinedRange {
  readonly name: string
  readonly messages: readonly IncomingMessage[]
  readonly tokens: number
}

export function joinedRanges(recordings: readonly RecordedConversation[], size: number): readonly JoinedRange[] {
  const estimator = createEstimator("claude-5")
  const ranges: JoinedRange[] = []
  let [messages, tokens, names] = [[] as IncomingMessage[], 0, [] as string[]]
  for (const { name, messages: recorded } of recordings) {
    const own = pairsOnly(recorded.flatMap(plainMessage))
    messages.push(...own)
    names.push(name)
    for (const { content } of own) tokens += estimator.text(JSON.stringify(content))
    if (tokens < size) continue
    ranges.push({ name: `${names[0]} and ${names.length - 1} more`, messages, tokens: Math.round(tokens) })
    messages = []
    tokens = 0
    names = []
  }
  return ranges
}

/** Keeps text, calls and results. Thinking is bound to another conversation, and media contain no names. */
function plainMessage(message: Message): readonly IncomingMessage[] {
  if (message.type !== "user" && message.type !== "assistant") return []
  if (message.type === "user" && (message.isCompactSummary || message.isMeta)) return []
  const content = contentOf(message).filter(
    (block) => (isText(block) && block.text.trim() !== "") || isToolUse(block) || isToolResult(block),
  )
  return content.length === 0 ? [] : [{ role: message.type, content } as IncomingMessage]
}

/** Removes calls without a result and results without a call. */
function pairsOnly(messages: readonly IncomingMessage[]): readonly IncomingMessage[] {
  const blocks = messages.flatMap(({ content }) => content as readonly Block[])
  const calls = new Set(blocks.filter(isToolUse).map(({ id }) => id))
  const results = new Set(blocks.filter(isToolResult).map(({ tool_use_id }) => tool_use_id))
  return messages.flatMap((message) => {
    const content = (message.content as readonly Block[]).filter((block) => {
      if (isToolUse(block)) return results.has(block.id)
      return !isToolResult(block) || calls.has(block.tool_use_id)
    })
    return content.length === 0 ? [] : [{ ...message, content } as IncomingMessage]
  })
}
