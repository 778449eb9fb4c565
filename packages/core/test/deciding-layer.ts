/**
 * A layer that makes given decisions before the next request: clears, offloads, deletes in the cache, drops thinking, undoes, folds,
 * compacts. It replaces the real layers in tests of the views: the views must apply every decision, and apply it in the same way after a
 * resume.
 */

import type { EntryDraft } from "../src/journal/entries.ts"
import { planRange, rangeDecisions } from "../src/layers/fold/plan.ts"
import type { Layer, LayerContext } from "../src/layers/layer.ts"
import { isToolResult } from "../src/messages/blocks.ts"
import type { Message } from "../src/messages/messages.ts"
import { contentOf } from "../src/messages/messages.ts"
import { rounds } from "../src/messages/rounds.ts"

export type LayerOrder =
  | { readonly what: "clear" | "persist" | "cache-edit" | "clear-memory"; readonly which: number }
  | { readonly what: "drop-thinking" | "drop-cache-edits" }
  | { readonly what: "undo"; readonly which: number }
  | { readonly what: "compact"; readonly keepRounds: number }
  | { readonly what: "fold" | "snip"; readonly first: number; readonly last: number }

export interface DecidingLayer extends Layer {
  order(order: LayerOrder): void
  /** Called for the decision events of the conversation. */
  decided(uuid: string): void
}

export function decidingLayer(): DecidingLayer {
  const orders: LayerOrder[] = []
  const made: string[] = []
  return {
    name: "deciding",
    order: (order) => orders.push(order),
    decided: (uuid) => made.push(uuid),
    async beforeRequest(context) {
      const order = orders.shift() // one at a time, so that the next decision sees the effect of this one
      return order && { drafts: draftsFor(order, context, made) }
    },
  }
}

function draftsFor(order: LayerOrder, context: LayerContext, made: readonly string[]): EntryDraft[] {
  const messages = context.views.context.storedMessages()
  const results = messages.flatMap((message) =>
    message.type === "user" ? contentOf(message).filter(isToolResult) : [],
  )
  const result = "which" in order ? results[order.which % Math.max(1, results.length)] : undefined
  switch (order.what) {
    case "clear":
      return result
        ? [{ type: "strata", subtype: "tool-results-cleared", toolUseIds: [result.tool_use_id], why: "size" }]
        : []
    case "persist":
      return result
        ? [
            {
              type: "strata",
              subtype: "tool-result-persisted",
              toolUseId: result.tool_use_id,
              path: "aside.txt",
              bytes: 9,
              head: 3,
              tail: 2,
            },
          ]
        : []
    case "cache-edit":
      return result && !context.views.context.isCleared(result.tool_use_id)
        ? [{ type: "strata", subtype: "tool-results-cleared", toolUseIds: [result.tool_use_id], why: "cache-edit" }]
        : []
    case "drop-cache-edits": {
      const { toolUseIds } = context.views.context.cacheEdits
      return toolUseIds.length === 0
        ? []
        : [
            { type: "strata", subtype: "cache-edits-dropped", why: "test" },
            { type: "strata", subtype: "tool-results-cleared", toolUseIds, why: "idle" },
          ]
    }
    case "clear-memory": {
      const memories = messages.filter(
        (message) => message.type === "attachment" && message.attachment.type === "memory",
      )
      const memory = memories[order.which % Math.max(1, memories.length)]
      return memory && result
        ? [
            {
              type: "strata",
              subtype: "tool-results-cleared",
              toolUseIds: [result.tool_use_id],
              why: "size",
              attachments: [memory.uuid],
            },
          ]
        : []
    }
    case "drop-thinking":
      return [{ type: "strata", subtype: "thinking-dropped", why: "test" }]
    case "undo": {
      const decision = made[order.which % Math.max(1, made.length)]
      return decision === undefined ? [] : [{ type: "strata", subtype: "undone", decision }]
    }
    case "compact":
      return compaction(messages, order.keepRounds)
    case "fold":
    case "snip": {
      const at = (number: number) => messages[number % Math.max(1, messages.length)]?.uuid ?? ""
      const plan = planRange(context, order.what, { from: at(order.first), to: at(order.last) })
      return plan.action === "refused" ? [] : [...rangeDecisions(context, plan, { by: "user", why: "test" })]
    }
  }
}

function compaction(messages: readonly Message[], keepRounds: number): EntryDraft[] {
  const kept = keepRounds === 0 ? [] : rounds(messages).slice(-keepRounds).flat()
  return [
    {
      type: "system",
      subtype: "compact_boundary",
      content: "Conversation compacted",
      compactMetadata: { trigger: "auto", preTokens: 1, preservedMessages: { uuids: kept.map(({ uuid }) => uuid) } },
    },
    {
      type: "user",
      isCompactSummary: true,
      isMeta: true,
      message: { role: "user", content: "Summary: what was said so far." },
    },
  ]
}
