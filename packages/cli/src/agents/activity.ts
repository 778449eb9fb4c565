/** Describes an agent's activity from its journal: lines for a terminal, and its last step in a few words. */

import { contentOf, type Entry, isMessage, isRequest, isText, isToolResult, isToolUse, textOf } from "@strata/core"
import { attachmentLabel } from "@strata/page"
import { firstLine } from "../display/text.ts"
import { describeCall, resultSummary } from "../display/tool-calls.ts"
import { escapeForTerminal, escapeToLine } from "../display/visible.ts"

/** One line for a call and its result, and texts in full. Control characters are escaped. */
export function entryLines(entry: Entry): readonly string[] {
  if (entry.type === "attachment") {
    const { attachment } = entry
    if (attachment.type === "queued_agent_message")
      return [`· ${escapeToLine(attachmentLabel({ kind: attachment.type, about: attachment.from }))}`]
    return []
  }
  if (!isMessage(entry) || (entry.type !== "user" && entry.type !== "assistant")) return []
  return contentOf(entry).flatMap((block) => {
    if (isToolResult(block)) {
      const { state, text } = resultSummary(block)
      return state === "ok" ? [] : [`  └ ${state}: ${escapeToLine(text)}`]
    }
    if (isToolUse(block)) return [`● ${escapeToLine(describeCall(block.name, summarizeInput(block.input)))}`]
    if (!isText(block) || block.text.trim() === "") return []
    const lines = escapeForTerminal(block.text.trim()).split("\n")
    if (entry.type === "assistant") return lines
    return isRequest(entry) ? lines.map((line, at) => `${at === 0 ? ">" : " "} ${line}`) : []
  })
}

/** The last tool call, or the start of the last text. */
export async function describeActivity(newestEntries: AsyncIterable<Entry>): Promise<string | undefined> {
  for await (const entry of newestEntries) {
    if (!isMessage(entry) || entry.type !== "assistant") continue
    const blocks = contentOf(entry)
    const call = blocks.findLast(isToolUse)
    if (call) return firstLine(describeCall(call.name, summarizeInput(call.input)), 80)
    const text = textOf(blocks.filter(isText))
    if (text.trim() !== "") return firstLine(text, 80)
  }
  return undefined
}

/** Uses the first string of the input as a summary, because the journal stores no summaries. */
function summarizeInput(input: unknown): string {
  const values = typeof input === "object" && input !== null ? Object.values(input) : []
  return firstLine(values.find((value): value is string => typeof value === "string") ?? "", 80)
}
