/** The screen of a resumed conversation, rebuilt from its messages. */

import {
  type Block,
  contentOf,
  isText,
  isToolResult,
  isToolUse,
  type Message,
  resultText,
  type ToolResult,
  textOf,
} from "@strata/core"
import { isShownToUser, isThinking, toBlocks } from "@strata/core/messages"
import { firstLine } from "../display/text.ts"
import { resultSummary } from "../display/tool-calls.ts"
import type { CompactionItem, Item } from "./state.ts"

const MAX_ITEMS = 60 // items: a few screens

/** Items of the stored messages. `lastCompaction` has the sizes of the compaction that the conversation starts from. */
export function pastItems(
  messages: readonly Message[],
  lastCompaction: Required<CompactionItem>["outcome"] = {},
): readonly Item[] {
  const results = resultsIn(messages)
  const items = messages.flatMap((message): readonly Item[] => {
    if (message.type === "user" && message.isCompactSummary)
      return [{ kind: "compaction", summary: textOf(contentOf(message)), restored: [], outcome: lastCompaction }]
    if (message.type === "attachment" && message.attachment.type === "person_command") {
      const { command, content } = message.attachment
      return [{ kind: "shell", id: message.uuid, command, output: content }]
    }
    return isShownToUser(message) ? itemsOf(message, results) : []
  })
  const left = items.length - MAX_ITEMS
  if (left <= 0) return items
  return [
    { kind: "notice", tone: "plain", text: `${left} earlier items are not shown. The model still has them.` },
    ...items.slice(left),
  ]
}

function resultsIn(messages: readonly Message[]): ReadonlyMap<string, ToolResult> {
  const blocks = messages.flatMap((message) => (message.type === "user" ? contentOf(message) : []))
  return new Map(blocks.filter(isToolResult).map((result) => [result.tool_use_id, result]))
}

function itemsOf(message: Message, results: ReadonlyMap<string, ToolResult>): readonly Item[] {
  if (message.type === "user") {
    const text = textOf(contentOf(message))
    return text.trim() === "" ? [] : [{ kind: "user", text }]
  }
  if (message.type === "assistant") return toBlocks(message.message.content).flatMap((block) => itemOf(block, results))
  return []
}

function itemOf(block: Block, results: ReadonlyMap<string, ToolResult>): readonly Item[] {
  if (isText(block)) return block.text.trim() === "" ? [] : [{ kind: "answer", text: block.text }]
  if (isThinking(block))
    return block.type === "thinking" && block.thinking ? [{ kind: "thinking", text: block.thinking }] : []
  if (!isToolUse(block)) return []
  const result = results.get(block.id)
  const outcome = result
    ? { ...resultSummary(result), fullText: resultText(result), ms: 0 }
    : { state: "failed" as const, text: "interrupted", fullText: "interrupted", ms: 0 }
  return [{ kind: "tool", id: block.id, name: block.name, summary: summaryOf(block.input), outcome }]
}

/** Uses the first string of the input as a summary, because the journal stores no summaries. */
function summaryOf(input: unknown): string {
  const values = typeof input === "object" && input !== null ? Object.values(input) : []
  return firstLine(values.find((value): value is string => typeof value === "string") ?? "", 80)
}
