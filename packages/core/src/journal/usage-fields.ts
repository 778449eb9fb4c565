/**
 * What programs that count usage in transcripts, such as ccusage, read of a line: `message.usage`, once for each pair of `message.id` and
 * `requestId`. A branch repeats the answers of its conversation, and a lead records those of its agents, so both fields must be there and
 * the same. They are fields of the line only: an entry that is read is as it was written.
 */
import { usableUsage } from "../messages/usage.ts"
import { tokenCounts } from "../tokens/price.ts"
import type { DecisionEntry, DecisionOf, Entry } from "./entries.ts"

type Spent = DecisionEntry & DecisionOf<"spent">

const isSpent = (entry: Entry): entry is Spent => entry.type === "strata" && entry.subtype === "spent"

export function withUsageFields(entry: Entry): Entry {
  if (isSpent(entry)) return { ...entry, ...spentFields(entry) }
  if (entry.type !== "assistant" || !entry.message?.usage) return entry
  const { id = entry.uuid } = entry.message
  const { requestId = id } = entry
  return { ...entry, requestId, message: { ...entry.message, id } }
}

export function withoutUsageFields(entry: Entry): Entry {
  if (isSpent(entry)) {
    const { requestId, message: _, ...rest } = entry as Spent & { readonly message?: unknown }
    return requestId === undefined || requestId === rest.responseId ? rest : { ...rest, requestId }
  }
  if (entry.type !== "assistant" || entry.requestId === undefined || !entry.message) return entry
  const { requestId, ...rest } = entry
  const { id, ...message } = entry.message
  if (requestId !== id) return entry
  return id === entry.uuid ? { ...rest, message } : rest
}

/** All passes of the response: these programs do not add them up. */
function spentFields({ responseId: id, requestId = id, model, usage: given }: Spent) {
  const usage = usableUsage(given)
  if (!usage) return {}
  const { input, output, cacheWrite5m, cacheWrite1h, cacheRead } = tokenCounts(usage)
  const billed = {
    input_tokens: input,
    output_tokens: output,
    cache_creation_input_tokens: cacheWrite5m + cacheWrite1h,
    cache_read_input_tokens: cacheRead,
    cache_creation: { ephemeral_5m_input_tokens: cacheWrite5m, ephemeral_1h_input_tokens: cacheWrite1h },
  }
  return { requestId, message: { id, model, usage: billed } }
}
