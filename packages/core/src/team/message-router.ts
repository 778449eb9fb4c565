/**
 * Routes the messages of one conversation: sends those of all its agents, and receives those for its lead. There are three transports: the
 * inboxes of this process, the mailbox of a team of processes, and the socket that connects conversations. The lead receives the results of
 * its agents first. Which results were delivered is read from the journal, so each arrives exactly once.
 */
import type { InboundMessage, InboundMessages } from "../agent/loop/agent-links.ts"
import type { Clock } from "../base/clock.ts"
import { errorMessage, StrataError } from "../base/errors.ts"
import { type Conversation, engineOf } from "../conversation/conversation.ts"
import { Inboxes } from "./inboxes.ts"
import { MAX_HOPS } from "./limits.ts"
import { MailboxTransport, type TeamJoinOptions } from "./mailbox-transport.ts"
import {
  type Delivery,
  type MessageTransport,
  type OutgoingMessage,
  parseAddress,
  refused,
} from "./message-transport.ts"
import { isRequest, type MessageInput, parseContent } from "./messages.ts"
import { SocketTransport } from "./socket-transport.ts"

export interface MessageRouterOptions {
  /** The team of processes that this process joins. */
  readonly team?: TeamJoinOptions | undefined
  /** The root directory for sockets. Without it, other conversations cannot reach this one. */
  readonly root?: string | undefined
  /** Identifies the conversation's owner: see `circleOf`. */
  readonly circle: string | undefined
}

/** The agents of this process, as the router needs them. */
export interface RoutedAgents {
  /** Whether an agent has ended whose result the lead has not received. */
  hasResults(): boolean
  results(): Promise<readonly InboundMessage[]>
  /** Whether an agent is working, so that messages or results may still arrive. */
  isWorking(): boolean
  /** Highest hop count of the messages that an agent received since its task. */
  hopsOf(name: string): number
  /** The ending of the latest agent with this name. `undefined` if none has ended. */
  endOf(name: string): string | undefined
  /** Stops an agent at the user's request. `false` if it is not working. */
  stop(name: string): boolean
}

export interface MessageRouterDependencies extends MessageRouterOptions {
  readonly clock: Clock
  readonly agents: RoutedAgents
}

/** A message as an agent asks to send it, before validation. */
export interface SendRequest extends Omit<MessageInput, "limit"> {
  readonly from: string
  readonly to: string
}

/** `request`: the id of the request, if the message is one. */
export type SendResult = Delivery & { readonly request?: string }

export class MessageRouter implements InboundMessages {
  readonly inboxes: Inboxes
  readonly #parts: MessageRouterDependencies
  #lead: Conversation | undefined
  #mailbox: MailboxTransport | undefined
  #socket: SocketTransport | undefined
  #notices: string[] = []
  readonly #waiting = new Set<() => void>()

  constructor(parts: MessageRouterDependencies) {
    this.#parts = parts
    this.inboxes = new Inboxes({
      lastNumber: (from) => messageNumber(engineOf(this.#conversation).views.agents.received.get(from)),
      endOf: (name) => parts.agents.endOf(name),
      onArrival: () => this.changed(),
    })
  }

  /**
   * Joins the team of processes and opens the socket. If the socket fails, the conversation continues without it and the user gets a
   * notice.
   */
  async open(lead: Conversation): Promise<void> {
    this.#lead = lead
    const { team, root, circle, clock, agents } = this.#parts
    if (team)
      this.#mailbox = await MailboxTransport.join({
        ...{ place: team, circle, clock, mailbox: engineOf(lead).teamMailbox(team.name), conversation: lead.id },
        journaled: () => engineOf(lead).views.agents.cursor,
        onArrival: () => this.changed(),
        onProblem: (problem) => this.notice(problem),
      })
    if (root === undefined) return
    this.#socket = new SocketTransport({
      ...{ root, circle, clock, conversation: lead.id },
      deliver: (message) => this.inboxes.deliver(message),
      stop: (name) => agents.stop(name),
    })
    await this.#socket.listen().catch((error: unknown) => {
      this.notice(`Other conversations cannot reach this one: ${errorMessage(error)}`)
    })
  }

  /** Sends a message of an agent of this process. A refusal is one sentence for the sending model. */
  async send({ from, to, ...input }: SendRequest): Promise<SendResult> {
    const checked = parseContent(input)
    if (checked.state === "refused") return checked
    const { content } = checked
    const hops = this.#parts.agents.hopsOf(from) + 1
    if (hops > MAX_HOPS)
      return refused(
        `Agents have answered each other ${MAX_HOPS} times in a row, and that is the limit. Go on with your own task, and report the result.`,
      )
    const address = parseAddress(to)
    if (address.state === "refused") return address
    if (to === from) return refused("That is your own name.")
    try {
      const delivery = await this.#route({ from, to: address, content: { ...content, hops } })
      return isRequest(content.kind) ? { ...delivery, request: content.request! } : delivery
    } catch (error) {
      if (error instanceof StrataError) return refused(errorMessage(error))
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

  /** Queues a notice for the user, shown with the next inbound messages. */
  notice(text: string): void {
    this.#notices.push(text)
  }

  async whenAny(signal: AbortSignal): Promise<boolean> {
    for (;;) {
      if (signal.aborted) return false
      if (this.hasAny) return true
      if (this.#parts.agents.isWorking()) await this.nextChange(signal)
      else if (!(await this.#waitForOthers(signal))) return this.hasAny && !signal.aborted
    }
  }

  /** Sets the process to working. Other processes of the team may wait for it until the returned function is called. */
  follow(): () => void {
    return this.#mailbox?.works() ?? (() => undefined)
  }

  /** Wakes all waiters after an agent started, ended or received a message. */
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

  /** Sends by the first transport that reaches a receiver. A message to all is sent by every transport. */
  async #route(message: OutgoingMessage): Promise<Delivery> {
    const { kind } = message.to
    const reached: { readonly carrier: MessageTransport; readonly receivers: readonly string[] }[] = []
    for (const carrier of [this.inboxes, this.#mailbox, this.#socket]) {
      const receivers = (await carrier?.receivers(message)) ?? []
      if (carrier && receivers.length > 0) reached.push({ carrier, receivers })
      if (reached.length > 0 && kind !== "all") break
    }
    if (reached.length === 0) return this.#undeliverable(message)
    const deliveries: Delivery[] = []
    for (const { carrier, receivers } of reached) deliveries.push(await carrier.send(message, receivers))
    if (deliveries.length === 1) return deliveries[0]!
    const to = deliveries.flatMap((delivery) => (delivery.state === "delivered" ? delivery.to : []))
    return to.length > 0 ? { state: "delivered", to } : deliveries[0]!
  }

  async #undeliverable(message: OutgoingMessage): Promise<Delivery> {
    const { kind } = message.to
    if (kind === "socket" || kind === "conversation") return refused("This conversation has no connection to others.")
    const delivery = await this.inboxes.send(message) // its refusal gives the reason
    const others = kind === "name" ? ((await this.#mailbox?.others()) ?? []) : []
    if (delivery.state === "delivered" || others.length === 0) return delivery
    return refused(`${delivery.reason} In other processes: ${others.join(", ")}.`)
  }

  /** Waits for messages of other processes, or for a change in this one. `false` if nothing more can arrive. */
  async #waitForOthers(signal: AbortSignal): Promise<boolean> {
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

  get #conversation(): Conversation {
    if (!this.#lead) throw new Error("The conversation is not open yet.")
    return this.#lead
  }
}

const messageNumber = (id = ""): number => Number(/#(\d+)$/.exec(id)?.[1] ?? 0)
