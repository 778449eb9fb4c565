/** The carrier inside one process: the messages that wait for each of its agents. */
import type { Arrival, Arrivals } from "../agent/companions.ts"
import { type Carrier, type Delivery, LEAD, type Outgoing, refused } from "./carrier.ts"
import { asAttachment, type TeamMessage } from "./messages.ts"

/** What waits for one agent, in order. Each message is handed over once; it leaves when it is in the receiver's journal. */
export class Inbox implements Arrivals {
  /** Its agent agreed to end: it waits for no further message once its turn is over. */
  isEnding = false
  readonly #waiting: TeamMessage[] = []
  readonly #onClose: () => void

  constructor(onClose: () => void = () => undefined) {
    this.#onClose = onClose
  }

  get size(): number {
    return this.#waiting.length
  }

  get hasAny(): boolean {
    return this.#waiting.length > 0
  }

  push(message: TeamMessage): void {
    this.#waiting.push(message)
  }

  async take(): Promise<readonly Arrival[]> {
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

  /** Its agent takes no message any more. */
  close(): void {
    this.#onClose()
  }
}

export interface InboxesParts {
  /** The most messages that may wait for one agent. */
  readonly most: () => number
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
  /** By name: the lead, and every agent that runs or waits. */
  readonly #inboxes = new Map<string, Inbox>([[LEAD, this.lead]])
  readonly #numbers = new Map<string, number>()
  /** Why no one gets a message any more. */
  closed: string | undefined

  constructor(parts: InboxesParts) {
    this.#parts = parts
  }

  /** For an agent that begins, until it closes its inbox. */
  open(name: string): Inbox {
    const inbox = new Inbox(() => {
      if (this.#inboxes.get(name) === inbox) this.#inboxes.delete(name)
    })
    this.#inboxes.set(name, inbox)
    return inbox
  }

  names(): readonly string[] {
    return [...this.#inboxes.keys()]
  }

  async receivers({ from, to }: Outgoing): Promise<readonly string[]> {
    if (to.kind === "all") return this.names().filter((name) => name !== from)
    return to.kind === "name" && this.#inboxes.has(to.name) ? [to.name] : []
  }

  async send({ from, to, content }: Outgoing): Promise<Delivery> {
    return this.deliver({ from, to: to.kind === "name" ? to.name : "*", ...content })
  }

  /** To one name, or to all but the sender. The receiver gets it at its next round; a teammate that waits begins to work. */
  deliver(message: NewMessage): Delivery {
    if (this.closed !== undefined) return refused(this.closed)
    const { from, to, kind, approve } = message
    const names = to === "*" ? this.names().filter((name) => name !== from) : [to]
    const unknown = names.find((name) => !this.#inboxes.has(name))
    if (unknown !== undefined) return refused(this.#noReceiver(unknown))
    if (names.length === 0) return refused("There is no other agent that could get it.")
    const most = this.#parts.most()
    const full = names.find((name) => this.#inboxes.get(name)!.size >= most)
    if (full !== undefined) return refused(`${most} messages wait for ${full} already. It must read them first.`)
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
