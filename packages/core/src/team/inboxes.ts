/** The carrier inside one process: the messages that wait for each of its agents. */
import type { InboundMessage, InboundMessages } from "../agent/loop/companions.ts"
import { type Carrier, type Delivery, LEAD, type Outgoing, refused } from "./carrier.ts"
import { MAX_WAITING_MESSAGES } from "./limits.ts"
import { asAttachment, type TeamMessage } from "./messages.ts"

/** What waits for one agent, in order. Each message is handed over once; it leaves when it is in the receiver's journal. */
export class Inbox implements InboundMessages {
  /** Its agent agreed to end: it waits for no further message once its turn is over. */
  isEnding = false
  /** Until its agent takes no message any more. */
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

  /** An agent that works for another one waits for no message before its answer. */
  async whenAny(): Promise<boolean> {
    return this.hasAny
  }
}

export interface InboxesParts {
  /** The number of the last message that is known of a sender. */
  readonly lastNumber: (from: string) => number
  /** How an agent ended that had this name. */
  readonly endOf: (name: string) => string | undefined
  readonly onArrival: () => void
}

/** The id of a message is given by its sender, or counts its messages. */
export type NewMessage = Omit<TeamMessage, "id"> & Partial<Pick<TeamMessage, "id">>

export class Inboxes implements Carrier {
  readonly lead = new Inbox()
  readonly #parts: InboxesParts
  /** By name, the newest last. */
  readonly #inboxes = new Map<string, Inbox>([[LEAD, this.lead]])
  readonly #numbers = new Map<string, number>()
  /** Why no one gets a message any more. */
  closed: string | undefined

  constructor(parts: InboxesParts) {
    this.#parts = parts
  }

  /** For an agent that begins, until it closes its inbox. */
  open(name: string): Inbox {
    const inbox = new Inbox()
    this.#inboxes.delete(name)
    this.#inboxes.set(name, inbox)
    return inbox
  }

  /** The names that a message can be sent to: the lead, and every agent that runs or waits. */
  names(): readonly string[] {
    return [...this.#inboxes].filter(([, { isOpen }]) => isOpen).map(([name]) => name)
  }

  async receivers({ from, to }: Outgoing): Promise<readonly string[]> {
    return this.names().filter((name) => (to.kind === "all" ? name !== from : to.kind === "name" && name === to.name))
  }

  async send({ from, to, content }: Outgoing): Promise<Delivery> {
    return this.deliver({ from, to: to.kind === "name" ? to.name : "*", ...content })
  }

  /** To one name, or to all but the sender. The receiver gets it at its next round; a teammate that waits begins to work. */
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
