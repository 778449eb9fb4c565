/** Cache diagnostics: compares two prefixes and reports why a request did not continue the earlier one. */
import type { CacheMissReason } from "../wire.ts"
import { type Level, type LeveledItem, totalTokens } from "./prefix.ts"

const MAX_REMEMBERED = 100 // responses, each with its full prefix

const REASON_OF = { tools: "tools_changed", system: "system_changed", messages: "messages_changed" } as const

interface RememberedPrefix {
  readonly model: string
  readonly items: readonly LeveledItem[]
}

export class CacheDiagnostics {
  private readonly requests = new Map<string, RememberedPrefix>()

  remember(messageId: string, request: RememberedPrefix): void {
    this.requests.set(messageId, request)
    if (this.requests.size > MAX_REMEMBERED) this.requests.delete(this.requests.keys().next().value as string)
  }

  /** Where the request diverges from the earlier prefix, or `undefined` if it continues it. */
  compare(previousMessageId: string, { model, items }: RememberedPrefix): CacheMissReason | undefined {
    const previous = this.requests.get(previousMessageId)
    if (!previous) return { type: "previous_message_not_found" }
    if (previous.model !== model) {
      return { type: "model_changed", cache_missed_input_tokens: totalTokens(previous.items) }
    }
    const split = previous.items.findIndex(({ hash }, index) => hash !== items[index]?.hash)
    if (split < 0) return undefined
    const missed = totalTokens(previous.items.slice(split))
    return { type: REASON_OF[levelAt(split, previous.items, items)], cache_missed_input_tokens: missed }
  }
}

/** The level of the first difference: the outer one of the two items, because a new tool shifts the system text after it. */
function levelAt(index: number, previous: readonly LeveledItem[], items: readonly LeveledItem[]): Level {
  const levels = [previous[index]?.level, items[index]?.level]
  return levels.includes("tools") ? "tools" : levels.includes("system") ? "system" : "messages"
}
