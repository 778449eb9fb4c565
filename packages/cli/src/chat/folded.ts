/** Expands items that the chat folds to one line: thinking, tool results, summaries. Pure. */

import { describeCompaction, listAuditFindings } from "@strata/page"
import { pluralize } from "../display/numbers.ts"
import { outputLines } from "./shell-command.ts"
import type { CompactionItem, Item } from "./state.ts"

export interface OpenedItem {
  readonly title: string
  readonly lines: readonly string[]
}

/** `undefined` for an item that is not folded. */
export function openedItem(item: Item): OpenedItem | undefined {
  if (item.kind === "thinking") return { title: "Thinking", lines: item.text.split("\n") }
  if (item.kind === "tool" && item.outcome)
    return { title: `${item.name} ${item.summary}`, lines: item.outcome.fullText.split("\n") }
  if (item.kind === "shell" && item.output && outputLines(item.output).join("\n") !== item.output)
    return { title: `! ${item.command}`, lines: item.output.split("\n") }
  if (item.kind === "compaction" && item.outcome) return { title: compactionTitle(item), lines: summaryLines(item) }
  return undefined
}

export function compactionTitle({ tokensBefore, outcome }: CompactionItem): string {
  return describeCompaction({ tokensBefore, ...outcome })
}

function summaryLines({ summary, restored, outcome, messages, at }: CompactionItem): readonly string[] {
  const replaced =
    messages === undefined
      ? []
      : [`${pluralize(messages, "message")} replaced${timeOf(at)}. The journal keeps them.`, ""]
  const checked = outcome?.audit ? listAuditFindings(outcome.audit) : []
  return [
    ...replaced,
    ...summary.trim().split("\n"),
    ...(checked.length === 0 ? [] : ["", ...checked]),
    ...(restored.length === 0 ? [] : ["", "Added afterwards:", ...restored.map((what) => `- ${what}`)]),
  ]
}

/** ` at 14:05`, in the local time zone. */
const timeOf = (at: number | undefined): string =>
  at === undefined ? "" : ` at ${new Date(at).toTimeString().slice(0, "HH:MM".length)}`

/** The nth folded item, counted from the newest, or a sentence that explains why it does not exist. */
export function openedFromNewest(items: readonly Item[], nth: number) {
  const folded = items.flatMap((item) => openedItem(item) ?? [])
  if (folded.length === 0) return "There is nothing to expand yet."
  return folded.at(-nth) ?? `Only ${pluralize(folded.length, "item is", "items are")} folded.`
}
