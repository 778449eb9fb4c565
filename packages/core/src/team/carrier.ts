/** Where a message between agents goes, and what each carrier of messages does. `Mail` chooses the carrier. */
import { isAbsolute } from "node:path"
import { isSafeId } from "../base/clock.ts"
import type { SentContent } from "./messages.ts"

/** The name by which its agents reach the conversation that started them. */
export const LEAD = "lead"

/** A message that leaves an agent. */
export interface Outgoing {
  /** The sender's name among the agents of this process. */
  readonly from: string
  readonly to: Address
  readonly content: SentContent
}

/** Who got a message, or why no one did: a sentence for the model that sent it. */
export type Delivery =
  /** `isQueued`: the receiver has it in memory and not in its journal yet. */
  | { readonly state: "delivered"; readonly to: readonly string[]; readonly isQueued?: true }
  | { readonly state: "refused"; readonly why: string }

export interface Carrier {
  /** Whom the message reaches by this carrier now. Empty: it is for another carrier. */
  receivers(message: Outgoing): Promise<readonly string[]>
  /** Resolves when all receivers have it, or none. Throws or refuses with a sentence for the model. */
  send(message: Outgoing, receivers: readonly string[]): Promise<Delivery>
}

export type Address =
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "all" }
  /** Another conversation, by the path of its socket. */
  | { readonly kind: "socket"; readonly path: string }
  /** Another conversation, by its id. */
  | { readonly kind: "conversation"; readonly id: string }

type Refusal = Extract<Delivery, { readonly state: "refused" }>

export const refused = (why: string): Refusal => ({ state: "refused", why })

export const onlyTheLead = (): Refusal =>
  refused(`Only the lead reaches other processes and conversations. Send it to "${LEAD}", and ask to pass it on.`)

const ALL = "*"
const SOCKET = "uds:"
const BRIDGE = "bridge:"

/** Reads `to` of SendMessage. */
export function addressOf(to: string): (Address & { readonly state?: undefined }) | Refusal {
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

/** How other conversations reach this one. */
export const bridgeTo = (conversation: string): string => `${BRIDGE}${conversation}`
