/** What an entry of a sub-agent's journal cost, for the ledger of its parent. */
import type { DecisionDraft, Entry } from "../journal/entries.ts"
import { isSyntheticError } from "../messages/messages.ts"

export function spendingOf(entry: Entry, agent: string): DecisionDraft | undefined {
  const spent = { type: "strata", subtype: "spent", purpose: "agent", agent } as const
  if (entry.type === "strata") {
    if (entry.subtype !== "spent") return undefined
    const { model, responseId, usage } = entry
    return { ...spent, model, responseId, usage }
  }
  if (entry.type !== "assistant" || !entry.message.usage || isSyntheticError(entry)) return undefined
  const { id = entry.uuid, model = "unknown", usage } = entry.message
  return { ...spent, model, responseId: id, usage }
}
