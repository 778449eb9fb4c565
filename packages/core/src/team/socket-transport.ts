/**
 * The transport between conversations of one owner. Messages from the socket wait for the next round of the lead, or of the agent that they
 * name. `strata agents stop` uses it too.
 */
import type { Clock } from "../base/clock.ts"
import { isSafeId } from "../base/clock.ts"
import { globalNamespace, localUser, type MemoryOption, ownerOption } from "../base/owner.ts"
import type { NewMessage } from "./inboxes.ts"
import {
  bridgeAddress,
  type Delivery,
  LEAD,
  type MessageTransport,
  type OutgoingMessage,
  onlyTheLead,
  refused,
} from "./message-transport.ts"
import { parseSent } from "./messages.ts"
import {
  findSocket,
  type OpenSocket,
  openSocket,
  type SocketMessage,
  type SocketReply,
  sendToSocket,
} from "./socket.ts"

export interface SocketTransportDependencies {
  readonly root: string
  /** Id of this conversation. */
  readonly conversation: string
  readonly circle: string | undefined
  readonly clock: Clock
  /** Delivers a message to an agent of this conversation. */
  readonly deliver: (message: NewMessage) => Delivery
  /** Stops an agent of this conversation. `false` if it is not working. */
  readonly stop: (agent: string) => boolean
}

export class SocketTransport implements MessageTransport {
  readonly #parts: SocketTransportDependencies
  #socket: OpenSocket | undefined

  constructor(parts: SocketTransportDependencies) {
    this.#parts = parts
  }

  /** Opens the socket, so that other conversations reach this one. Sending works without it. */
  async listen(): Promise<void> {
    this.#socket = await openSocket({ ...this.#parts, receive: (message) => this.#receive(message) })
  }

  async receivers({ to }: OutgoingMessage): Promise<readonly string[]> {
    if (to.kind === "conversation") return [to.id]
    return to.kind === "socket" ? [to.path] : []
  }

  async send({ from, to, content }: OutgoingMessage, [receiver]: readonly string[]): Promise<Delivery> {
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

  #receive({ from, circle = "", content }: SocketMessage): SocketReply {
    const { deliver, circle: ownCircle } = this.#parts
    if (content.control === "stop") return this.#stop(String(content.agent))
    if (circle !== ownCircle) return notAccepted("The conversation belongs to someone else. Nothing was delivered.")
    const { to = LEAD, ...message } = content
    const sent = parseSent(message)
    if (!isSafeId(from)) return notAccepted("The sender's conversation has no usable id.")
    if (typeof to !== "string") return notAccepted("The receiver must be a name.")
    if (!sent) return notAccepted("The message is of no known kind, or too long.")
    const delivery = deliver({ from: bridgeAddress(from), to, ...sent })
    return delivery.state === "refused" ? notAccepted(delivery.reason) : { accepted: true }
  }

  /** Handles a stop request. Only the user's own program sends one: messages of agents never have this form. */
  #stop(agent: string): SocketReply {
    if (this.#parts.stop(agent)) return { accepted: true }
    return notAccepted(`The agent ${agent} does not work now. Nothing was changed.`)
  }
}

const notAccepted = (why: string): SocketReply => ({ accepted: false, why })

/**
 * Identifies the owner whose conversations may message each other. Empty: the local user. `undefined`: messages are neither sent nor
 * accepted.
 */
export function circleOf(memory: MemoryOption | undefined): string | undefined {
  const owner = ownerOption(memory)
  if (owner === undefined) return undefined
  return owner === localUser ? "" : globalNamespace(owner)
}
