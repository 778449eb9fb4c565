/** What is folded to a line in the chat, opened: thinking, results of tools, summaries. Pure. */
import { compactedSentence } from "../display/compaction.ts"
import type { CompactionItem, Item } from "./state.ts"

export interface Opened {
  readonly title: string
  readonly lines: readonly string[]
}

/** Nothing for an item that is shown whole as it is. */
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

function summaryLines({ summary, restored }: CompactionItem): readonly string[] {
  return [
    ...summary.trim().split("\n"),
    ...(restored.length === 0 ? [] : ["", "Put behind it:", ...restored.map((what) => `- ${what}`)]),
  ]
}
