/** Opens what the chat folds to one line: thinking, tool results, summaries. Pure. */
import { auditLines, compactedSentence } from "../display/compaction.ts"
import type { CompactionItem, Item } from "./state.ts"

export interface Opened {
  readonly title: string
  readonly lines: readonly string[]
}

/** `undefined` for an item that is not folded. */
export function openedItem(item: Item): Opened | undefined {
  if (item.kind === "thinking") return { title: "Thinking", lines: item.text.split("\n") }
  if (item.kind === "tool" && item.outcome)
    return { title: `${item.name} ${item.summary}`, lines: item.outcome.whole.split("\n") }
  if (item.kind === "compaction" && item.outcome) return { title: compactionTitle(item), lines: summaryLines(item) }
  return undefined
}

export function compactionTitle({ tokensBefore, outcome }: CompactionItem): string {
  return compactedSentence({ tokensBefore, ...outcome })
}

function summaryLines({ summary, restored, outcome }: CompactionItem): readonly string[] {
  const checked = outcome?.audit ? auditLines(outcome.audit) : []
  return [
    ...summary.trim().split("\n"),
    ...(checked.length === 0 ? [] : ["", ...checked]),
    ...(restored.length === 0 ? [] : ["", "Then added:", ...restored.map((what) => `- ${what}`)]),
  ]
}
