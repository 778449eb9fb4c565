/** Updates the items on the screen for each event of a query. */

import { type QueryEvent, resultText } from "@strata/core"
import { attachmentLabel } from "@strata/page"
import { firstLine } from "../display/text.ts"
import { resultSummary } from "../display/tool-calls.ts"
import { describeEnd } from "../exit-codes.ts"
import type { CompactionItem, Item, ToolItem, ToolOutcome } from "./state.ts"

type EventOf<T extends QueryEvent["type"]> = Extract<QueryEvent, { type: T }>

/** The items after an event. `at` is its time in milliseconds. */
export function itemsAfter(items: readonly Item[], event: QueryEvent, at?: number): readonly Item[] {
  switch (event.type) {
    case "user":
      return isShown(items, event) ? items : [...items, { kind: "user", text: event.text }]
    case "text":
      return appendStreamed(items, { kind: "answer", text: event.text })
    case "thinking":
      return appendStreamed(items, { kind: "thinking", text: event.text })
    case "retry":
      return items.filter((item) => !("isArriving" in item)) // a retry starts the answer again
    case "response":
      return completeStreamed(items)
    case "tool-start":
      return [...items, { kind: "tool", id: event.id, name: event.name, summary: event.summary }]
    case "tool-progress":
      return items.map(updateTool(event.id, (item) => ({ ...item, progress: firstLine(event.text) })))
    case "tool-denied":
      return withOutcome(items, { ...event, outcome: { state: "denied", text: event.why, fullText: event.why, ms: 0 } })
    case "tool-result":
      return withOutcome(items, { ...event, outcome: outcomeOf(event) })
    case "attached":
      return attached(items, attachmentLabel(event))
    case "notice":
      return [...items, { kind: "notice", tone: event.quiet ? "plain" : "warning", text: event.message }]
    case "compaction":
      return [...items, ...compactionNotices(event)]
    case "boundary": {
      const { tokensBefore, messages } = event
      const replaced = { ...(messages === undefined ? {} : { messages }), ...(at === undefined ? {} : { at }) }
      return [...items, { kind: "compaction", tokensBefore, ...replaced, summary: "", restored: [] }]
    }
    case "summary":
      return items.map(updateCompaction((item) => ({ ...item, summary: event.text })))
    case "compacted": {
      const { tokensBefore, tokensAfter, route, planned, audit } = event
      const why = planned === undefined ? {} : { planned }
      const outcome = { tokensAfter, route, ...why, ...(audit ? { audit } : {}) }
      return items.map(updateCompaction((item) => ({ ...item, tokensBefore, outcome })))
    }
    case "done":
      return endTool(items, event)
    case "error":
      event.take() // the final event shows the error
      return items
    case "request":
      return items
  }
}

/** A status update may have shown a delivered message before its own event arrives. */
const isShown = (items: readonly Item[], { uuid }: EventOf<"user">): boolean =>
  items.some((item) => item.kind === "user" && item.uuid === uuid)

/** Notices for messages and failures of a compaction. Its steps appear in the work line. */
function compactionNotices({ progress }: EventOf<"compaction">): readonly Item[] {
  if (progress.phase === "message") return [{ kind: "notice", tone: "plain", text: progress.message }]
  return progress.phase === "failed" ? [{ kind: "notice", tone: "warning", text: progress.message }] : []
}

/** Attachments of a compaction are folded into its line; others get a notice. */
function attached(items: readonly Item[], what: string): readonly Item[] {
  if (items.some((item) => item.kind === "compaction" && !item.outcome))
    return items.map(updateCompaction((item) => ({ ...item, restored: [...item.restored, what] })))
  return [...items, { kind: "notice", tone: "plain", text: `Attached: ${what}` }]
}

/** Changes the compaction in progress. */
function updateCompaction(change: (item: CompactionItem) => CompactionItem): (item: Item) => Item {
  return (item) => (item.kind === "compaction" && !item.outcome ? change(item) : item)
}

/** Appends streamed text to the newest item if it is of the same kind. */
function appendStreamed(
  items: readonly Item[],
  { kind, text }: { kind: "answer" | "thinking"; text: string },
): readonly Item[] {
  const last = items.at(-1)
  if (last?.kind !== kind || !last.isArriving) return [...items, { kind, text, isArriving: true }]
  return [...items.slice(0, -1), { kind, text: last.text + text, isArriving: true }]
}

/** Completes streamed items and drops empty ones. */
function completeStreamed(items: readonly Item[]): readonly Item[] {
  return items.flatMap((item) => {
    if (!("isArriving" in item)) return [item]
    const { isArriving: _, ...whole } = item
    return whole.text.trim() === "" ? [] : [whole]
  })
}

function outcomeOf({ result, ms }: EventOf<"tool-result">): ToolOutcome {
  return { ...resultSummary(result), fullText: resultText(result), ms }
}

interface FinishedCall {
  readonly id: string
  readonly name: string
  readonly outcome: ToolOutcome
}

function withOutcome(items: readonly Item[], { id, name, outcome }: FinishedCall): readonly Item[] {
  const isKnown = items.some((item) => item.kind === "tool" && item.id === id)
  // a call of an unknown tool has no start event, only a result
  if (!isKnown) return [...items, { kind: "tool", id, name, summary: "", outcome }]
  return items.map(updateTool(id, ({ progress: _, ...item }) => ({ ...item, outcome: item.outcome ?? outcome })))
}

function updateTool(id: string, change: (item: ToolItem) => ToolItem): (item: Item) => Item {
  return (item) => (item.kind === "tool" && item.id === id ? change(item) : item)
}

const NEVER_ENDED: ToolOutcome = { state: "failed", text: "interrupted", fullText: "interrupted", ms: 0 }

function endTool(items: readonly Item[], end: EventOf<"done">): readonly Item[] {
  const settled = completeStreamed(items).map((item) =>
    item.kind === "tool" && !item.outcome ? { ...item, outcome: NEVER_ENDED } : item,
  )
  const sentence = describeEnd(end)
  if (sentence === undefined) return settled
  return [...settled, { kind: "notice", tone: end.reason === "error" ? "error" : "warning", text: sentence }]
}
