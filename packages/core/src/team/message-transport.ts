/** Addresses of messages between agents, and the interface of their transports. `MessageRouter` chooses the transport. */
import { isAbsolute } from "node:path"
import { isSafeId } from "../base/clock.ts"
import type { SentContent } from "./messages.ts"

/** The name under which sub-agents address the conversation that started them. */
export const LEAD = "lead"

export interface OutgoingMessage {
  /** Name of the sender among the agents of this process. */
  readonly from: string
  readonly to: Address
  readonly content: SentContent
}

/** The receivers of a message, or the reason why it was refused, as a sentence for the sending model. */
export type Delivery =
  /** `isQueued`: the receiver holds it in memory and has not written it to its journal yet. */
  | { readonly state: "delivered"; readonly to: readonly string[]; readonly isQueued?: true }
  | { readonly state: "refused"; readonly reason: string }

export interface MessageTransport {
  /** The receivers that this transport reaches now. Empty if another transport must send the message. */
  receivers(message: OutgoingMessage): Promise<readonly string[]>
  /** Delivers to all receivers or to none. Throws or refuses with a sentence for the model. */
  send(message: OutgoingMessage, receivers: readonly string[]): Promise<Delivery>
}

export type Address =
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "all" }
  /** Another conversation, by the path of its socket. */
  | { readonly kind: "socket"; readonly path: string }
  /** Another conversation, by its id. */
  | { readonly kind: "conversation"; readonly id: string }

type Refusal = Extract<Delivery, { readonly state: "refused" }>

export const refused = (reason: string): Refusal => ({ state: "refused", reason })

export const onlyTheLead = (): Refusal =>
  refused(`Only the lead reaches other processes and conversations. Send it to "${LEAD}", and ask to pass it on.`)

const ALL = "*"
const SOCKET = "uds:"
const BRIDGE = "bridge:"

/** Parses the `to` parameter of SendMessage. */
export function parseAddress(to: string): (Address & { readonly state?: undefined }) | Refusal {
  if (to === ALL) return { kind: "all" }
  if (to.startsWith(SOCKET)) {
    const path = to.slice(SOCKET.length)
    if (isAbsolute(path) && !path.includes("\0")) return { kind: "socket", path }
    return refused(`After "${SOCKET}" comes the absolute path of a socket.`)
  }
  if (to.startsWith(BRIDGE)) {
    const id = to.slice(BRIDGE.length)
    if (isSafeId(id)) return { kind: "conversation", id }
    return refused(`After "${BRIDGE}" comes the id of a conversation.`)
  }
  if (isSafeId(to)) return { kind: "name", name: to }
  return refused(
    `${JSON.stringify(to.slice(0, 80))} is no receiver. Give a name, "${ALL}" for all, "${SOCKET}<path>" or "${BRIDGE}<conversation id>".`,
  )
}

/** The address under which other conversations send to this one. */
export const bridgeAddress = (conversation: string): string => `${BRIDGE}${conversation}`
