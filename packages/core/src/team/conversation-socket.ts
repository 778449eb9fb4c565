/**
 * This conversation as others reach it: messages that come through its socket wait for the next round of its lead, or of the agent they
 * name. `strata agents stop` comes this way too.
 */
import type { Clock } from "../base/clock.ts"
import type { FigureName } from "../base/flag-names.ts"
import { isSafeId } from "../base/ids.ts"
import type { Delivery } from "./hub.ts"
import { LEAD, type MessageHub } from "./hub.ts"
import { readSent } from "./messages.ts"
import { bridgeTo } from "./routes.ts"
import { type OpenSocket, openSocket, type SocketAnswer, type SocketMessage } from "./socket.ts"
import type { Team } from "./team.ts"

export interface ConversationSocketParts {
  readonly root: string
  readonly conversation: string
  /** Whose it is, as `circleOf` names it. */
  readonly circle: string | undefined
  readonly clock: Clock
  readonly hub: Pick<MessageHub, "deliver"> & Partial<Pick<Team, "get" | "stop">>
  readonly figures: () => Readonly<Record<FigureName, number>>
  /** The number of the last message that is known of a sender. */
  readonly lastNumber: (from: string) => number
}

export function openConversationSocket(parts: ConversationSocketParts): Promise<OpenSocket> {
  const numbers = new Map<string, number>()
  const { root, conversation, circle, clock } = parts
  return openSocket({ root, conversation, circle, clock, receive: (message) => received(message, numbers, parts) })
}

function received(
  { from: sender, circle = "", content }: SocketMessage,
  numbers: Map<string, number>,
  { hub, figures, lastNumber, circle: own }: ConversationSocketParts,
): SocketAnswer {
  if (content.control === "stop") return stopped(String(content.agent), hub)
  if (circle !== own)
    return { accepted: false, why: "The conversation belongs to someone else. Nothing was delivered." }
  const { to = LEAD, ...message } = content
  const sent = readSent(message, figures()["agent-message-limit"])
  if (!isSafeId(sender)) return { accepted: false, why: "The sender's conversation has no usable id." }
  if (typeof to !== "string") return { accepted: false, why: "The receiver must be a name." }
  if (!sent) return { accepted: false, why: "The message is of no known kind, or too long." }
  const from = bridgeTo(sender)
  const number = (numbers.get(from) ?? lastNumber(from)) + 1
  const delivery: Delivery = hub.deliver({ id: `${from}#${number}`, from, to, ...sent })
  if (delivery.state === "refused") return { accepted: false, why: delivery.why }
  numbers.set(from, number)
  return { accepted: true }
}

/** Only the user's own program asks for this: no message of an agent has this form. */
function stopped(agent: string, hub: ConversationSocketParts["hub"]): SocketAnswer {
  const found = hub.get?.(agent)
  if (!found?.isActive) return { accepted: false, why: `The agent ${agent} does not work now. Nothing was changed.` }
  void hub.stop?.(found.id, "The user stopped it.")
  return { accepted: true }
}
