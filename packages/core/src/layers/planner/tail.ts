/** What a compaction would keep verbatim after a text that covers everything up to a message. */
import { isSummary, type Uuid } from "../../messages/messages.ts"
import { shownSizesIn, sizesIn } from "../4-compaction/situation.ts"
import type { LayerContext, Tail } from "../layer.ts"

export const NO_TAIL: Tail = { tokens: 0, kept: 0 }

/** `undefined`: the message is not among those since the last boundary. */
export function tailAfter(context: LayerContext, through: Uuid): Tail | undefined {
  const messages = context.views.context.storedMessages()
  const at = placeOf(messages, through)
  if (at === undefined) return undefined
  const [tokensOf, shownOf] = [sizesIn(context), shownSizesIn(context)]
  let [tokens, kept] = [0, 0]
  for (const message of messages.slice(at + 1)) {
    if (message.type === "system") continue
    tokens += tokensOf(message)
    kept += shownOf(message)
  }
  return { tokens, kept }
}

export const isSinceBoundary = (context: LayerContext, uuid: Uuid): boolean =>
  placeOf(context.views.context.storedMessages(), uuid) !== undefined

function placeOf(messages: ReturnType<LayerContext["views"]["context"]["storedMessages"]>, uuid: Uuid) {
  for (let at = messages.length - 1; at >= 0; at--) {
    if (messages[at]!.uuid === uuid) return at
    if (isSummary(messages[at]!)) return undefined
  }
  return undefined
}
