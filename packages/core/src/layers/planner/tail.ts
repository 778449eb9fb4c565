/** Computes what a compaction would preserve verbatim after a text that covers everything up to a message. */
import { isSummary, type Uuid } from "../../messages/messages.ts"
import { shortenedSizesIn, sizesIn } from "../4-compaction/compaction-context.ts"
import type { LayerContext, VerbatimTail } from "../layer.ts"

export const NO_TAIL: VerbatimTail = { tokens: 0, shortened: 0 }

/** Returns `undefined` if the message is not among those since the last boundary. */
export function tailAfter(context: LayerContext, through: Uuid): VerbatimTail | undefined {
  const messages = context.views.context.storedMessages()
  const at = indexSinceBoundary(messages, through)
  if (at === undefined) return undefined
  const [tokensOf, shownOf] = [sizesIn(context), shortenedSizesIn(context)]
  let [tokens, shortened] = [0, 0]
  for (const message of messages.slice(at + 1)) {
    if (message.type === "system") continue
    tokens += tokensOf(message)
    shortened += shownOf(message)
  }
  return { tokens, shortened }
}

export const isSinceBoundary = (context: LayerContext, uuid: Uuid): boolean =>
  indexSinceBoundary(context.views.context.storedMessages(), uuid) !== undefined

function indexSinceBoundary(messages: ReturnType<LayerContext["views"]["context"]["storedMessages"]>, uuid: Uuid) {
  for (let at = messages.length - 1; at >= 0; at--) {
    if (messages[at]!.uuid === uuid) return at
    if (isSummary(messages[at]!)) return undefined
  }
  return undefined
}
