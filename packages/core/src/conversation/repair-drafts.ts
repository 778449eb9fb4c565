/** The entries that record repairs. */
import type { DecisionDraft } from "../journal/entries.ts"
import type { Repair } from "../messages/repair.ts"

/** Thinking goes with what it was bound to. */
export function repairDrafts(
  repairs: readonly Repair[],
  { dropsThinking }: { readonly dropsThinking: boolean },
): DecisionDraft[] {
  const why = "a block before it is no longer sent"
  return [
    { type: "strata", subtype: "repaired", repairs },
    ...(dropsThinking ? [{ type: "strata" as const, subtype: "thinking-dropped" as const, why }] : []),
  ]
}
