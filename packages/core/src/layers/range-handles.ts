/** A range may name its message by a handle, as the model and the person see it. The order that layers get has the whole uuid. */
import { handleOf } from "../messages/media.ts"
import type { Message } from "../messages/messages.ts"
import type { CompactionOrder } from "./layer.ts"

export function withWholeRange(order: CompactionOrder, messages: readonly Message[]): CompactionOrder {
  const { range } = order
  const named = range && messages.find(({ uuid }) => handleOf(uuid) === range.uuid.split(".")[0])
  return named ? { ...order, range: { ...range, uuid: named.uuid } } : order
}
