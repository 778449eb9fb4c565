/**
 * The transport between the processes of a team: sends through the team's mailbox, and receives for this process's lead. Each journaled
 * message carries its mailbox cursor, so that a crash neither loses nor repeats a message.
 */
import type { InboundMessage, InboundMessages } from "../agent/loop/agent-links.ts"
import { type Clock, callAfter, keepProcess } from "../base/clock.ts"
import { errorMessage } from "../base/errors.ts"
import { InvalidOptionError } from "../base/options.ts"
import type { Mailbox, MailboxCursor, MailboxMessage, Membership } from "../journal/mailbox.ts"
import { isReserved, MAX_WAITING_MESSAGES } from "./limits.ts"
import { type Delivery, LEAD, type MessageTransport, type OutgoingMessage, onlyTheLead } from "./message-transport.ts"
import { asAttachment, parseSent, type TeamMessage } from "./messages.ts"

/** Joins a team of several processes that work in the same directory. */
export interface TeamJoinOptions {
  /** Name of the team. All its processes pass the same one. */
  readonly name: string
  /** Name of this process within the team. */
  readonly as: string
}

interface MailboxTransportDependencies {
  readonly mailbox: Mailbox
  readonly place: TeamJoinOptions
  readonly conversation: string
  /** Cursor of the last message in the lead's journal. */
  readonly journaled: () => string | undefined
  readonly clock: Clock
  /** Called when there are messages to take. */
  readonly onArrival: () => void
  /** Receives a sentence for the user about damaged or unknown messages, which were skipped. */
  readonly onProblem: (problem: string) => void
}

export interface MailboxTransportOptions extends MailboxTransportDependencies {
  /** Identifies the conversation's owner: see `circleOf`. */
  readonly circle: string | undefined
}

const MINUTE_MS = 60_000
/** Maximum time that a run waits for the other processes of its team. */
export const TEAM_WAIT_MINUTES = 30

const waitLimitMessage = (working: readonly string[]) =>
  `The other processes of the team were waited for ${TEAM_WAIT_MINUTES} minutes, and that is the limit. Still at work: ${working.join(", ")}. This process ends; what they send now waits for its next run.`

interface ReceivedMessage {
  readonly message: TeamMessage
  readonly cursor: MailboxCursor
}

export class MailboxTransport implements MessageTransport, InboundMessages {
  readonly #parts: MailboxTransportDependencies
  readonly #membership: Membership
  readonly #closing = new AbortController()
  /** Messages for this member that are not in its journal yet. */
  #waiting: ReceivedMessage[] = []
  #read: MailboxCursor | undefined
  /** All messages for this member before this cursor are in its journal. */
  #saved: MailboxCursor | undefined
  #access: Promise<void> = Promise.resolve()
  readonly #watching: Promise<void>

  private constructor(parts: MailboxTransportDependencies, membership: Membership) {
    this.#parts = parts
    this.#membership = membership
    this.#saved = cursorOf(parts.place.name, parts.journaled()) ?? membership.cursor
    this.#read = this.#saved
    this.#watching = this.#watch().catch((error: unknown) => parts.onProblem(errorMessage(error)))
  }

  static async join({ mailbox, circle, ...parts }: MailboxTransportOptions): Promise<MailboxTransport> {
    const { place, conversation } = parts
    const problem = (why: string) => new InvalidOptionError("team", why)
    if (isReserved(place.as))
      throw problem(`The name ${JSON.stringify(place.as)} is reserved. Choose another one for this process.`)
    if (circle === undefined)
      throw problem(
        "A team of several processes shares messages, so it needs an owner, and this agent has none. Nothing was sent. Pass the same memory: { owner } to each of them.",
      )
    return new MailboxTransport({ ...parts, mailbox }, await mailbox.join({ name: place.as, conversation }))
  }

  get hasAny(): boolean {
    return this.#waiting.length > 0
  }

  /** Names of the other members that are running. */
  async others(): Promise<readonly string[]> {
    const members = await this.#parts.mailbox.members()
    return members.map(({ name }) => name).filter((name) => name !== this.#parts.place.as)
  }

  async receivers({ from, to }: OutgoingMessage): Promise<readonly string[]> {
    if (to.kind === "all") return from === LEAD ? this.others() : []
    return to.kind === "name" ? (await this.others()).filter((name) => name === to.name) : []
  }

  async send({ from, content }: OutgoingMessage, to: readonly string[]): Promise<Delivery> {
    if (from !== LEAD) return onlyTheLead()
    const { mailbox, place } = this.#parts
    const draft = { from: place.as, to, content: { ...content } }
    await mailbox.send(draft, { waiting: MAX_WAITING_MESSAGES })
    return { state: "delivered", to }
  }

  async take(): Promise<readonly InboundMessage[]> {
    await this.#readNew()
    return this.#waiting.map((received) => ({
      attachment: asAttachment(received.message, cursorText(this.#parts.place.name, received.cursor)),
      journaled: () => this.#wasJournaled(received),
    }))
  }

  /** Sets this member to working until the returned function is called. Then it counts as idle. */
  works(): () => void {
    void this.#setIdle(false)
    return () => void this.#setIdle(true)
  }

  /**
   * Waits for a message while another process of the team is working. `false` if all of them are idle and nothing is unread, after the time
   * limit, or when the signal aborts.
   */
  async whenAny(signal: AbortSignal): Promise<boolean> {
    const ended = new AbortController()
    const either = AbortSignal.any([signal, ended.signal, this.#closing.signal])
    const stopTimer = callAfter(this.#parts.clock, TEAM_WAIT_MINUTES * MINUTE_MS, () => ended.abort())
    const letEnd = keepProcess() // the store may have no handle that keeps the process running
    try {
      let working: readonly string[]
      for (;;) {
        const changed = this.#parts.mailbox.change(either) // subscribed before reading the state, so that no change is missed
        await this.#setIdle(true)
        working = await this.#working()
        if (working.length === 0) await this.#setIdle(true) // reads again: the last member may have sent a message before it became idle
        if (this.hasAny || working.length === 0 || either.aborted) break
        await changed
      }
      if (ended.signal.aborted && !this.hasAny && working.length > 0) this.#parts.onProblem(waitLimitMessage(working))
    } finally {
      letEnd()
      stopTimer()
      ended.abort()
    }
    if (this.hasAny) await this.#setIdle(false)
    return this.hasAny
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#watching
    await this.#access
    await this.#membership.leave(this.#saved)
    await this.#parts.mailbox.close()
  }

  /** Reads new messages as they arrive, so that a waiting lead wakes up. */
  async #watch(): Promise<void> {
    const { signal } = this.#closing
    while (!signal.aborted) {
      await this.#parts.mailbox.arrival(this.#read, signal)
      if (signal.aborted) return
      await this.#readNew()
      if (this.hasAny) this.#parts.onArrival()
    }
  }

  /** Names of the other members that are working or have an unread message. */
  async #working(): Promise<readonly string[]> {
    const { mailbox, place } = this.#parts
    const working: string[] = []
    for (const { name, idleAt } of await mailbox.members()) {
      if (name === place.as) continue
      const isUnread = async () => (await mailbox.read(idleAt)).messages.some(({ to }) => to.includes(name))
      if (idleAt === undefined || (await isUnread())) working.push(name)
    }
    return working
  }

  /** Serialized with reading, because both write the member's file. Reads new messages before this member counts as idle. */
  async #setIdle(isIdle: boolean): Promise<void> {
    const { onProblem } = this.#parts
    const set = this.#access.then(async () => {
      if (isIdle) await this.#readAfter()
      await this.#membership.setIdle(isIdle && !this.hasAny ? this.#read : undefined)
    })
    this.#access = set.catch((error: unknown) => onProblem(errorMessage(error)))
    await this.#access
  }

  #readNew(): Promise<void> {
    const access = this.#access.then(() => this.#readAfter())
    this.#access = access.catch(() => undefined)
    return access
  }

  async #readAfter(): Promise<void> {
    const { mailbox, place, onProblem } = this.#parts
    const isSaved = this.#waiting.length === 0
    const { messages, cursor, problems } = await mailbox.read(this.#read, isSaved ? place.as : undefined)
    for (const problem of problems) onProblem(problem)
    for (const message of messages.filter(({ to }) => to.includes(place.as))) this.#receive(message)
    this.#read = cursor
    if (this.#waiting.length === 0) this.#saved = cursor
  }

  #receive({ from, sequence, content, cursor }: MailboxMessage): void {
    const { place, onProblem } = this.#parts
    const sent = parseSent(content)
    if (sent) this.#waiting.push({ message: { id: `${from}#${sequence}`, from, to: place.as, ...sent }, cursor })
    else onProblem(`A message of "${from}" in the team ${place.name} was skipped: it is of no known kind, or too long.`)
  }

  #wasJournaled(received: ReceivedMessage): void {
    this.#waiting = this.#waiting.filter((other) => other !== received)
    this.#saved = this.#waiting.length === 0 ? this.#read : received.cursor
  }
}

/** The cursor in the journal includes the team's name, because a conversation may join different teams over time. */
const cursorText = (team: string, cursor: MailboxCursor): string => `${team}@${cursor}`

function cursorOf(team: string, journaled: string | undefined): MailboxCursor | undefined {
  const start = `${team}@`
  return journaled?.startsWith(start) ? journaled.slice(start.length) : undefined
}
