/** The transport within one process: an inbox of waiting messages for each of its agents. */
import type { InboundMessage, InboundMessages } from "../agent/loop/agent-links.ts"
import { MAX_WAITING_MESSAGES } from "./limits.ts"
import { type Delivery, LEAD, type MessageTransport, type OutgoingMessage, refused } from "./message-transport.ts"
import { asAttachment, type TeamMessage } from "./messages.ts"

/** Waiting messages of one agent, in order. A message is removed once it is in the receiver's journal. */
export class Inbox implements InboundMessages {
  /** Whether the agent agreed to shut down: it ends after its current turn and waits for no further message. */
  isEnding = false
  /** `false` once the agent accepts no more messages. */
  isOpen = true
  readonly #waiting: TeamMessage[] = []

  get size(): number {
    return this.#waiting.length
  }

  get hasAny(): boolean {
    return this.#waiting.length > 0
  }

  push(message: TeamMessage): void {
    this.#waiting.push(message)
  }

  async take(): Promise<readonly InboundMessage[]> {
    return this.#waiting.map((message) => ({
      attachment: asAttachment(message),
      journaled: () => {
        const at = this.#waiting.indexOf(message)
        if (at >= 0) this.#waiting.splice(at, 1)
      },
    }))
  }

  /** Resolves at once, because a sub-agent does not wait for messages before its answer. */
  async whenAny(): Promise<boolean> {
    return this.hasAny
  }
}

export interface InboxesDependencies {
  /** Number of the last known message of a sender. */
  readonly lastNumber: (from: string) => number
  /** The ending of the latest agent with this name. `undefined` if none has ended. */
  readonly endOf: (name: string) => string | undefined
  readonly onArrival: () => void
}

/** A message before delivery. Without an id, it gets the sender's next number. */
export type NewMessage = Omit<TeamMessage, "id"> & Partial<Pick<TeamMessage, "id">>

export class Inboxes implements MessageTransport {
  readonly lead = new Inbox()
  readonly #parts: InboxesDependencies
  /** Inboxes by agent name, newest last. */
  readonly #inboxes = new Map<string, Inbox>([[LEAD, this.lead]])
  readonly #numbers = new Map<string, number>()
  /** Reason why messages are no longer accepted. `undefined` while the team is open. */
  closed: string | undefined

  constructor(parts: InboxesDependencies) {
    this.#parts = parts
  }

  /** Opens the inbox of a new agent. It accepts messages until the agent closes it. */
  open(name: string): Inbox {
    const inbox = new Inbox()
    this.#inboxes.delete(name)
    this.#inboxes.set(name, inbox)
    return inbox
  }

  /** The names that can receive messages: the lead, and every agent that runs or waits. */
  names(): readonly string[] {
    return [...this.#inboxes].filter(([, { isOpen }]) => isOpen).map(([name]) => name)
  }

  async receivers({ from, to }: OutgoingMessage): Promise<readonly string[]> {
    return this.names().filter((name) => (to.kind === "all" ? name !== from : to.kind === "name" && name === to.name))
  }

  async send({ from, to, content }: OutgoingMessage): Promise<Delivery> {
    return this.deliver({ from, to: to.kind === "name" ? to.name : "*", ...content })
  }

  /** Delivers to one name, or to all except the sender. The receiver reads it in its next round, and an idle teammate starts working. */
  deliver(message: NewMessage): Delivery {
    if (this.closed !== undefined) return refused(this.closed)
    const { from, to, kind, approve } = message
    const open = this.names()
    if (to !== "*" && !open.includes(to)) return refused(this.#noReceiver(to))
    const names = open.filter((name) => (to === "*" ? name !== from : name === to))
    if (names.length === 0) return refused("There is no other agent that could get it.")
    const full = names.find((name) => this.#inboxes.get(name)!.size >= MAX_WAITING_MESSAGES)
    if (full !== undefined)
      return refused(`${MAX_WAITING_MESSAGES} messages wait for ${full} already. It must read them first.`)
    const { id = this.#newId(from) } = message
    for (const name of names) this.#inboxes.get(name)!.push({ ...message, id })
    const sender = this.#inboxes.get(from)
    if (sender && kind === "shutdown_response" && approve) sender.isEnding = true
    this.#parts.onArrival()
    return { state: "delivered", to: names }
  }

  #noReceiver(name: string): string {
    const end = this.#parts.endOf(name)
    if (end !== undefined) return `The agent ${name} has ended (${end}) and reads no more messages.`
    return `There is no agent named ${name}. These can get messages: ${this.names().join(", ")}.`
  }

  #newId(from: string): string {
    const number = (this.#numbers.get(from) ?? this.#parts.lastNumber(from)) + 1
    this.#numbers.set(from, number)
    return `${from}#${number}`
  }
}
