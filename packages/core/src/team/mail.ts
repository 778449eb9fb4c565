/**
 * The mail of one conversation: sends the messages of all its agents, and receives what is for its lead. Three carriers bring messages:
 * the inboxes of this process, the mailbox of a team of processes, and the socket by which conversations reach each other.
 * The lead gets results of its agents first. They come from the journal's own account of what was delivered, so each comes exactly once.
 */
import type { InboundMessage, InboundMessages } from "../agent/loop/companions.ts"
import type { Clock } from "../base/clock.ts"
import { messageOf, StrataError } from "../base/errors.ts"
import type { Conversation } from "../conversation/conversation.ts"
import { addressOf, type Carrier, type Delivery, type Outgoing, refused } from "./carrier.ts"
import { Inboxes } from "./inboxes.ts"
import { MAX_HOPS } from "./limits.ts"
import { MailboxCarrier, type TeamPlace } from "./mailbox-carrier.ts"
import { checkContent, type GivenMessage, isRequest } from "./messages.ts"
import { SocketCarrier } from "./socket-carrier.ts"

export interface MailOptions {
  /** The team of processes that this one is a member of. */
  readonly place?: TeamPlace | undefined
  /** The directory for sockets. Without it, other conversations cannot reach this one. */
  readonly root?: string | undefined
  /** Whose the conversation is: see `circleOf`. */
  readonly circle: string | undefined
}

/** The agents of this process, as far as their mail depends on them. */
export interface MailAgents {
  /** Those that ended and whose result the lead does not have. */
  hasResults(): boolean
  results(): Promise<readonly InboundMessage[]>
  /** Whether one works that could bring something. */
  isWorking(): boolean
  /** The most hops of a message that an agent received since its own task. */
  hopsOf(name: string): number
  /** How an agent ended that had this name. */
  endOf(name: string): string | undefined
  /** Stops an agent for the person. `false` where it does not work now. */
  stop(name: string): boolean
}

export interface MailParts extends MailOptions {
  readonly clock: Clock
  readonly agents: MailAgents
}

/** What the mail needs of the lead's conversation. */
export type LeadConversation = Pick<Conversation, "id" | "views" | "teamMailbox">

/** What an agent wants to send. */
export interface Sending extends Omit<GivenMessage, "limit"> {
  readonly from: string
  readonly to: string
}

/** `request`: the id of the request that was made. */
export type Sent = Delivery & { readonly request?: string }

export class Mail implements InboundMessages {
  readonly inboxes: Inboxes
  readonly #parts: MailParts
  #lead: LeadConversation | undefined
  #mailbox: MailboxCarrier | undefined
  #socket: SocketCarrier | undefined
  #notices: string[] = []
  readonly #waiting = new Set<() => void>()

  constructor(parts: MailParts) {
    this.#parts = parts
    this.inboxes = new Inboxes({
      lastNumber: (from) => numberIn(this.#conversation.views.agents.received.get(from)),
      endOf: (name) => parts.agents.endOf(name),
      onArrival: () => this.changed(),
    })
  }

  /** Joins the team of processes, and opens the socket. Without a socket the conversation works, and the person is informed. */
  async open(lead: LeadConversation): Promise<void> {
    this.#lead = lead
    const { place, root, circle, clock, agents } = this.#parts
    if (place)
      this.#mailbox = await MailboxCarrier.join({
        ...{ place, circle, clock, mailbox: lead.teamMailbox(place.name), conversation: lead.id },
        journaled: () => lead.views.agents.cursor,
        onArrival: () => this.changed(),
        onProblem: (problem) => this.notice(problem),
      })
    if (root === undefined) return
    this.#socket = new SocketCarrier({
      ...{ root, circle, clock, conversation: lead.id },
      deliver: (message) => this.inboxes.deliver(message),
      stop: (name) => agents.stop(name),
    })
    await this.#socket.listen().catch((error: unknown) => {
      this.notice(`Other conversations cannot reach this one: ${messageOf(error)}`)
    })
  }

  /** Sends a message of an agent of this process. What is refused is refused with one sentence for the model that sends. */
  async send({ from, to, ...given }: Sending): Promise<Sent> {
    const checked = checkContent(given)
    if (checked.state === "refused") return checked
    const { content } = checked
    const hops = this.#parts.agents.hopsOf(from) + 1
    if (hops > MAX_HOPS)
      return refused(
        `Agents have answered each other ${MAX_HOPS} times in a row, and that is the limit. Go on with your own task, and report the result.`,
      )
    const address = addressOf(to)
    if (address.state === "refused") return address
    if (to === from) return refused("That is your own name.")
    try {
      const delivery = await this.#carry({ from, to: address, content: { ...content, hops } })
      return isRequest(content.kind) ? { ...delivery, request: content.request! } : delivery
    } catch (error) {
      if (error instanceof StrataError) return refused(messageOf(error))
      throw error
    }
  }

  async take(): Promise<readonly InboundMessage[]> {
    const results = await this.#parts.agents.results()
    const others = (await this.#mailbox?.take()) ?? []
    return [...results, ...(await this.inboxes.lead.take()), ...others]
  }

  get hasAny(): boolean {
    return this.#parts.agents.hasResults() || this.inboxes.lead.hasAny || (this.#mailbox?.hasAny ?? false)
  }

  notices(): readonly string[] {
    const notices = this.#notices
    this.#notices = []
    return notices
  }

  /** Says something to the person, with the next arrivals. */
  notice(text: string): void {
    this.#notices.push(text)
  }

  async whenAny(signal: AbortSignal): Promise<boolean> {
    for (;;) {
      if (signal.aborted) return false
      if (this.hasAny) return true
      if (this.#parts.agents.isWorking()) await this.nextChange(signal)
      else if (!(await this.#whenOthersSend(signal))) return this.hasAny && !signal.aborted
    }
  }

  /** A query begins. Other processes of the team may wait for it until the result is called. */
  follow(): () => void {
    return this.#mailbox?.works() ?? (() => undefined)
  }

  /** Something ended, began or arrived. */
  changed(): void {
    for (const wake of [...this.#waiting]) wake()
  }

  nextChange(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve()
      const wake = () => {
        this.#waiting.delete(wake)
        signal?.removeEventListener("abort", wake)
        resolve()
      }
      this.#waiting.add(wake)
      signal?.addEventListener("abort", wake)
    })
  }

  async close(): Promise<void> {
    await this.#socket?.close()
    await this.#mailbox?.close()
  }

  /** By the first carrier that reaches a receiver; a message to all goes by each. */
  async #carry(message: Outgoing): Promise<Delivery> {
    const { kind } = message.to
    const reached: { readonly carrier: Carrier; readonly receivers: readonly string[] }[] = []
    for (const carrier of [this.inboxes, this.#mailbox, this.#socket]) {
      const receivers = (await carrier?.receivers(message)) ?? []
      if (carrier && receivers.length > 0) reached.push({ carrier, receivers })
      if (reached.length > 0 && kind !== "all") break
    }
    if (reached.length === 0) return this.#notReached(message)
    const deliveries: Delivery[] = []
    for (const { carrier, receivers } of reached) deliveries.push(await carrier.send(message, receivers))
    if (deliveries.length === 1) return deliveries[0]!
    const to = deliveries.flatMap((delivery) => (delivery.state === "delivered" ? delivery.to : []))
    return to.length > 0 ? { state: "delivered", to } : deliveries[0]!
  }

  async #notReached(message: Outgoing): Promise<Delivery> {
    const { kind } = message.to
    if (kind === "socket" || kind === "conversation") return refused("This conversation has no connection to others.")
    const delivery = await this.inboxes.send(message) // says why
    const others = kind === "name" ? ((await this.#mailbox?.others()) ?? []) : []
    if (delivery.state === "delivered" || others.length === 0) return delivery
    return refused(`${delivery.why} In other processes: ${others.join(", ")}.`)
  }

  /** Waits for other processes, until something changes here. `false` where nothing more comes. */
  async #whenOthersSend(signal: AbortSignal): Promise<boolean> {
    const stop = new AbortController()
    const either = AbortSignal.any([signal, stop.signal])
    let hasChanged = false
    const change = this.nextChange(either).then(() => {
      hasChanged = !either.aborted
      stop.abort()
    })
    const more = (await this.#mailbox?.whenAny(either)) ?? false
    stop.abort()
    await change
    return hasChanged || more
  }

  get #conversation(): LeadConversation {
    if (!this.#lead) throw new Error("The conversation is not open yet.")
    return this.#lead
  }
}

const numberIn = (id = ""): number => Number(/#(\d+)$/.exec(id)?.[1] ?? 0)
