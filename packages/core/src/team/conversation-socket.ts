/** This conversation as others reach it: messages that come through its socket wait for its lead's next round. */
import type { Clock } from "../base/clock.ts"
import type { FigureName } from "../base/flag-names.ts"
import { isSafeId } from "../base/ids.ts"
import type { Delivery } from "./hub.ts"
import { LEAD, type MessageHub } from "./hub.ts"
import { readSent } from "./messages.ts"
import { bridgeTo } from "./routes.ts"
import { type OpenSocket, openSocket, type SocketAnswer, type SocketMessage } from "./socket.ts"

export interface ConversationSocketParts {
  readonly root: string
  readonly conversation: string
  readonly clock: Clock
  readonly hub: Pick<MessageHub, "deliver">
  readonly figures: () => Readonly<Record<FigureName, number>>
  /** The number of the last message that is known of a sender. */
  readonly lastNumber: (from: string) => number
}

export function openConversationSocket(parts: ConversationSocketParts): Promise<OpenSocket> {
  const numbers = new Map<string, number>()
  const { root, conversation, clock } = parts
  return openSocket({ root, conversation, clock, receive: (message) => received(message, numbers, parts) })
}

function received(
  { from: sender, content }: SocketMessage,
  numbers: Map<string, number>,
  { hub, figures, lastNumber }: ConversationSocketParts,
): SocketAnswer {
  const sent = readSent(content, figures()["agent-message-limit"])
  if (!isSafeId(sender)) return { accepted: false, why: "The sender's conversation has no usable id." }
  if (!sent) return { accepted: false, why: "The message is of no known kind, or too long." }
  const from = bridgeTo(sender)
  const number = (numbers.get(from) ?? lastNumber(from)) + 1
  const delivery: Delivery = hub.deliver({ id: `${from}#${number}`, from, to: LEAD, ...sent })
  if (delivery.state === "refused") return { accepted: false, why: delivery.why }
  numbers.set(from, number)
  return { accepted: true }
}
