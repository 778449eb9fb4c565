/** What has been done since notes were last taken. */
import type { Message, Uuid } from "../../messages/messages.ts"
import { callsIn, lastTurn } from "../position.ts"
import type { WorkSinceLast } from "./triggers.ts"

/** Counted from the last update, or from the beginning where that message is gone. */
export function workSince(messages: readonly Message[], throughUuid: Uuid | undefined): WorkSinceLast {
  const from = messages.findLastIndex(({ uuid }) => uuid === throughUuid) + 1
  const toolCalls = messages
    .slice(from)
    .filter((message) => message.type === "assistant")
    .flatMap(callsIn).length
  return { toolCalls, isCalling: lastTurn(messages).pieces.some((piece) => callsIn(piece).length > 0) }
}
