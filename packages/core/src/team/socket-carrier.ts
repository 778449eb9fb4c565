/**
 * The carrier between conversations of one owner. Messages that come through the socket of this one wait for the next round of its lead,
 * or of the agent they name. `strata agents stop` comes this way too.
 */
import type { Clock } from "../base/clock.ts"
import { isSafeId } from "../base/clock.ts"
import { localUser, type MemoryOption, ownerIn, placeOfAllProjects } from "../base/owner.ts"
import { bridgeTo, type Carrier, type Delivery, LEAD, type Outgoing, onlyTheLead, refused } from "./carrier.ts"
import type { NewMessage } from "./inboxes.ts"
import { readSent } from "./messages.ts"
import {
  findSocket,
  type OpenSocket,
  openSocket,
  type SocketMessage,
  type SocketReply,
  sendToSocket,
} from "./socket.ts"

export interface SocketCarrierParts {
  readonly root: string
  /** The id of this conversation, and whose it is: see `circleOf`. */
  readonly conversation: string
  readonly circle: string | undefined
  readonly clock: Clock
  /** To the agents of this conversation. */
  readonly deliver: (message: NewMessage) => Delivery
  /** Stops an agent of this conversation. `false` where it does not work now. */
  readonly stop: (agent: string) => boolean
}

export class SocketCarrier implements Carrier {
  readonly #parts: SocketCarrierParts
  #socket: OpenSocket | undefined

  constructor(parts: SocketCarrierParts) {
    this.#parts = parts
  }

  /** Makes this conversation one that others reach. It can send without. */
  async listen(): Promise<void> {
    this.#socket = await openSocket({ ...this.#parts, receive: (message) => this.#received(message) })
  }

  async receivers({ to }: Outgoing): Promise<readonly string[]> {
    if (to.kind === "conversation") return [to.id]
    return to.kind === "socket" ? [to.path] : []
  }

  async send({ from, to, content }: Outgoing, [receiver]: readonly string[]): Promise<Delivery> {
    const { root, conversation, circle, clock } = this.#parts
    if (circle === undefined) return refused("This conversation has no owner, so it has no connection to others.")
    if (from !== LEAD) return onlyTheLead()
    const path = to.kind === "socket" ? to.path : await findSocket(root, { conversation: receiver!, circle })
    const sent = { from: conversation, ...(circle ? { circle } : {}), content: { ...content } }
    const answer = await sendToSocket(path, sent, clock)
    return answer.accepted ? { state: "delivered", to: [path], isQueued: true } : refused(answer.why)
  }

  async close(): Promise<void> {
    await this.#socket?.close()
  }

  #received({ from, circle = "", content }: SocketMessage): SocketReply {
    const { deliver, circle: own } = this.#parts
    if (content.control === "stop") return this.#stopped(String(content.agent))
    if (circle !== own) return notAccepted("The conversation belongs to someone else. Nothing was delivered.")
    const { to = LEAD, ...message } = content
    const sent = readSent(message)
    if (!isSafeId(from)) return notAccepted("The sender's conversation has no usable id.")
    if (typeof to !== "string") return notAccepted("The receiver must be a name.")
    if (!sent) return notAccepted("The message is of no known kind, or too long.")
    const delivery = deliver({ from: bridgeTo(from), to, ...sent })
    return delivery.state === "refused" ? notAccepted(delivery.why) : { accepted: true }
  }

  /** Only the user's own program asks for this: no message of an agent has this form. */
  #stopped(agent: string): SocketReply {
    if (this.#parts.stop(agent)) return { accepted: true }
    return notAccepted(`The agent ${agent} does not work now. Nothing was changed.`)
  }
}

const notAccepted = (why: string): SocketReply => ({ accepted: false, why })

/** Conversations that may write to each other: those of one owner. Empty: the local person's. Nothing: it writes to none, and none to it. */
export function circleOf(memory: MemoryOption | undefined): string | undefined {
  const owner = ownerIn(memory)
  if (owner === undefined) return undefined
  return owner === localUser ? "" : placeOfAllProjects(owner)
}
