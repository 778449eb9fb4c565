/** Replays a recording as if another model had responded, with that model's prices, window and cache. Sizes stay as they were counted. */
import { isDecision } from "@strata/core/store"
import { type RecordedConversation, SYNTHETIC_MODEL } from "./recorded-steps.ts"

export function overrideModel({ entries }: RecordedConversation, model: string): RecordedConversation {
  return {
    model,
    entries: entries.map((entry) =>
      isDecision(entry) || entry.type !== "assistant" || entry.message.model === SYNTHETIC_MODEL
        ? entry
        : { ...entry, message: { ...entry.message, model } },
    ),
  }
}
