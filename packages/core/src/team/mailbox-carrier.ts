/**
 * The carrier between the processes of a team: it sends to the others through the team's mailbox, and receives for the lead of this one.
 * How far it has read is in the lead's journal, with each message, so that a crash loses and repeats none.
 */
import type { InboundMessage, InboundMessages } from "../agent/loop/companions.ts"
import { type Clock, callAfter, keepProcess } from "../base/clock.ts"
import { messageOf } from "../base/errors.ts"
import { InvalidOptionError } from "../base/options.ts"
import type { Mailbox, MailboxCursor, MailboxMessage, Membership } from "../journal/mailbox.ts"
import { type Carrier, type Delivery, LEAD, type Outgoing, onlyTheLead } from "./carrier.ts"
import { isReserved, MAX_WAITING_MESSAGES } from "./limits.ts"
import { asAttachment, readSent, type TeamMessage } from "./messages.ts"

/** A team of several processes that work on the same directory. */
export interface TeamPlace {
  /** The team's name: all processes give the same one. */
  readonly name: string
  /** The name of this process in the team. */
  readonly as: string
}

interface MailboxCarrierParts {
  readonly mailbox: Mailbox
  readonly place: TeamPlace
  readonly conversation: string
  /** The cursor of the last message in the lead's journal. */
  readonly journaled: () => string | undefined
  readonly clock: Clock
  /** Something is there to take. */
  readonly onArrival: () => void
  /** For the person: damage and messages of unknown kinds, which were skipped. */
  readonly onProblem: (problem: string) => void
}

export interface TeamJoining extends Omit<MailboxCarrierParts, "mailbox"> {
  /** Absent where the store has none. */
  readonly mailbox: Mailbox | undefined
  /** Whose the conversation is: see `circleOf`. */
  readonly circle: string | undefined
}

const MINUTE_MS = 60_000
/** The longest wait of a run for the other processes of its team. */
export const TEAM_WAIT_MINUTES = 30

const waitedFor = (working: readonly string[]) =>
  `The other processes of the team were waited for ${TEAM_WAIT_MINUTES} minutes, and that is the limit. Still at work: ${working.join(", ")}. This process ends; what they send now waits for its next run.`

interface Received {
  readonly message: TeamMessage
  readonly cursor: MailboxCursor
}

export class MailboxCarrier implements Carrier, InboundMessages {
  readonly #parts: MailboxCarrierParts
  readonly #membership: Membership
  readonly #closing = new AbortController()
  /** For this member, and not in its journal yet. */
  #waiting: Received[] = []
  #read: MailboxCursor | undefined
  /** Everything before it that is for this member is in its journal. */
  #saved: MailboxCursor | undefined
  #reading: Promise<void> = Promise.resolve()
  readonly #watching: Promise<void>

  private constructor(parts: MailboxCarrierParts, membership: Membership) {
    this.#parts = parts
    this.#membership = membership
    this.#saved = cursorOf(parts.place.name, parts.journaled()) ?? membership.cursor
    this.#read = this.#saved
    this.#watching = this.#watch().catch((error: unknown) => parts.onProblem(messageOf(error)))
  }

  static async join({ mailbox, circle, ...parts }: TeamJoining): Promise<MailboxCarrier> {
    const { place, conversation } = parts
    const problem = (why: string) => new InvalidOptionError("team", why)
    if (isReserved(place.as))
      throw problem(`The name ${JSON.stringify(place.as)} is reserved. Choose another one for this process.`)
    if (circle === undefined)
      throw problem(
        "A team of several processes shares messages, so it needs an owner, and this agent has none. Nothing was sent. Pass the same memory: { owner } to each of them.",
      )
    if (!mailbox) throw problem("The store of this conversation has no mailboxes, so a team is one process.")
    return new MailboxCarrier({ ...parts, mailbox }, await mailbox.join({ name: place.as, conversation }))
  }

  get hasAny(): boolean {
    return this.#waiting.length > 0
  }

  /** The other members that run now. */
  async others(): Promise<readonly string[]> {
    const members = await this.#parts.mailbox.members()
    return members.map(({ name }) => name).filter((name) => name !== this.#parts.place.as)
  }

  async receivers({ from, to }: Outgoing): Promise<readonly string[]> {
    if (to.kind === "all") return from === LEAD ? this.others() : []
    return to.kind === "name" ? (await this.others()).filter((name) => name === to.name) : []
  }

  async send({ from, content }: Outgoing, to: readonly string[]): Promise<Delivery> {
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

  /** The member works, until it waits or the result is called. Then it waits for the person. */
  works(): () => void {
    void this.#setIdle(false)
    return () => void this.#setIdle(true)
  }

  /**
   * Waits for a message while another process of the team works. `false` when all of them wait and nothing is unread, when the time is up,
   * or when the signal aborts.
   */
  async whenAny(signal: AbortSignal): Promise<boolean> {
    const ended = new AbortController()
    const either = AbortSignal.any([signal, ended.signal, this.#closing.signal])
    const stopTimer = callAfter(this.#parts.clock, TEAM_WAIT_MINUTES * MINUTE_MS, () => ended.abort())
    const letEnd = keepProcess() // a store may have nothing that does
    try {
      let working: readonly string[]
      for (;;) {
        const changed = this.#parts.mailbox.change(either) // before the look, so that nothing changes unseen in between
        await this.#setIdle(true)
        working = await this.#working()
        if (working.length === 0) await this.#setIdle(true) // reads again: the last of them may have sent something before it waited
        if (this.hasAny || working.length === 0 || either.aborted) break
        await changed
      }
      if (ended.signal.aborted && !this.hasAny && working.length > 0) this.#parts.onProblem(waitedFor(working))
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
    await this.#reading
    await this.#membership.leave(this.#saved)
    await this.#parts.mailbox.close()
  }

  /** Reads when something arrives, so that a lead that waits wakes up. */
  async #watch(): Promise<void> {
    const { signal } = this.#closing
    while (!signal.aborted) {
      await this.#parts.mailbox.arrival(this.#read, signal)
      if (signal.aborted) return
      await this.#readNew()
      if (this.hasAny) this.#parts.onArrival()
    }
  }

  /** The other members that work, or that have a message to read. */
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

  /** In turn with reading, because both write the member's file. Before it counts as idle, it reads what has come. */
  async #setIdle(isIdle: boolean): Promise<void> {
    const { onProblem } = this.#parts
    const set = this.#reading.then(async () => {
      if (isIdle) await this.#readAfter()
      await this.#membership.setIdle(isIdle && !this.hasAny ? this.#read : undefined)
    })
    this.#reading = set.catch((error: unknown) => onProblem(messageOf(error)))
    await this.#reading
  }

  #readNew(): Promise<void> {
    const reading = this.#reading.then(() => this.#readAfter())
    this.#reading = reading.catch(() => undefined)
    return reading
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
    const sent = readSent(content)
    if (sent) this.#waiting.push({ message: { id: `${from}#${sequence}`, from, to: place.as, ...sent }, cursor })
    else onProblem(`A message of "${from}" in the team ${place.name} was skipped: it is of no known kind, or too long.`)
  }

  #wasJournaled(received: Received): void {
    this.#waiting = this.#waiting.filter((other) => other !== received)
    this.#saved = this.#waiting.length === 0 ? this.#read : received.cursor
  }
}

/** A conversation may work in one team after another, so the team is part of the cursor in its journal. */
const cursorText = (team: string, cursor: MailboxCursor): string => `${team}@${cursor}`

function cursorOf(team: string, journaled: string | undefined): MailboxCursor | undefined {
  const start = `${team}@`
  return journaled?.startsWith(start) ? journaled.slice(start.length) : undefined
}
