/** The conversation as rows: every message and every decision on its path, in order. */
import {
  type Block,
  contentOf,
  type DecisionEntry,
  type Entry,
  handleOf,
  isToolResult,
  isToolUse,
  type Message,
  resultText,
  type ToolUse,
} from "@strata/core"
import { isBoundary, renderAttachment } from "@strata/core/messages"
import { plainText } from "@strata/core/recall"
import { isDecision } from "@strata/core/store"

export type Row =
  | { readonly kind: "message"; readonly at: number; readonly handle: string; readonly message: Message }
  | { readonly kind: "boundary"; readonly at: number; readonly handle: string; readonly message: Message }
  | { readonly kind: "decision"; readonly at: number; readonly handle: string; readonly decision: DecisionEntry }

/** Decisions that are relevant for readers. The others are bookkeeping. */
const DISPLAYED_DECISIONS: ReadonlySet<string> = new Set([
  "tool-result-persisted",
  "tool-results-cleared",
  "folded",
  "snipped",
  "compacted",
  "compaction-failed",
  "thinking-dropped",
  "cache-lifetime",
  "undone",
  "rewound",
])

export function toRow(entry: Entry, at: number): Row | undefined {
  const handle = handleOf(entry.uuid)
  if (isDecision(entry))
    return DISPLAYED_DECISIONS.has(entry.subtype) ? { kind: "decision", at, handle, decision: entry } : undefined
  if (entry.type === "progress") return undefined
  if (isBoundary(entry)) return { kind: "boundary", at, handle, message: entry }
  return { kind: "message", at, handle, message: entry }
}

/** Blocks of an entry, which can be opened individually. */
export function entryBlocks(entry: Entry): readonly Block[] {
  if (isDecision(entry)) return []
  if (entry.type === "attachment") return renderAttachment(entry.attachment)
  if (entry.type === "user" || entry.type === "assistant") return contentOf(entry)
  return entry.type === "system" && typeof entry.content === "string" ? [{ type: "text", text: entry.content }] : []
}

/** The full text of a block as in the journal. For a call, its input as JSON. */
export function blockText(block: Block): string {
  if (isToolUse(block)) return JSON.stringify(block.input, undefined, 2)
  return isToolResult(block) ? resultText(block) : plainText(block)
}

/** Summary of a call: the first string of its input. */
export function callSummary({ input }: ToolUse): string {
  const values = typeof input === "object" && input !== null ? Object.values(input) : []
  return values.find((value) => typeof value === "string") ?? JSON.stringify(input) ?? ""
}
