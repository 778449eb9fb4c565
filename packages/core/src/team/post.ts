/**
 * Carries a message from one agent to others: to those of the same process, to other processes of the team, or to another conversation.
 * What it refuses, it refuses with one sentence for the model that sends.
 */
import type { Clock } from "../base/clock.ts"
import { messageOf, StrataError } from "../base/errors.ts"
import type { FigureName } from "../base/flag-names.ts"
import { type Delivery, LEAD, type MessageHub } from "./hub.ts"
import type { Letter, MessageContent, TeamMessage } from "./messages.ts"
import { type Route, routeOf } from "./routes.ts"
import { findSocket, sendToSocket } from "./socket.ts"
import type { TeamMailbox } from "./team-mailbox.ts"

export interface Outgoing {
  /** The sender's name among the agents of this process. */
  readonly from: string
  readonly to: string
  readonly content: MessageContent
  /** The most hops of a message that the sender received since its own task. */
  readonly hopsReceived: number
}

export interface Bridge {
  readonly root: string
  readonly conversation: string
  /** Whose it is, as `circleOf` names it. */
  readonly circle: string | undefined
  readonly clock: Clock
}

export interface PostParts {
  readonly hub: MessageHub
  readonly figures: () => Readonly<Record<FigureName, number>>
  /** The number of the last message that is known of a sender. */
  readonly lastNumber: (from: string) => number
  /** Other processes of the team. */
  readonly mailbox?: TeamMailbox | undefined
  /** Other conversations of the same owner. `conversation` is the id of this one. */
  readonly bridge?: Bridge | undefined
}

export class Post {
  readonly #parts: PostParts
  readonly #numbers = new Map<string, number>()

  constructor(parts: PostParts) {
    this.#parts = parts
  }

  async send({ from, to, content, hopsReceived }: Outgoing): Promise<Delivery> {
    const hops = hopsReceived + 1
    const most = this.#parts.figures()["agent-message-hops"]
    if (hops > most)
      return refused(
        `Agents have answered each other ${most} times in a row, and that is the limit (agent-message-hops). Go on with your own task, and report the result.`,
      )
    const route = routeOf(to)
    try {
      return await this.#along(route, { from, content, hops })
    } catch (error) {
      if (error instanceof StrataError) return refused(messageOf(error))
      throw error
    }
  }

  async #along(route: Route, letter: Letter): Promise<Delivery> {
    switch (route.kind) {
      case "refused":
        return refused(route.why)
      case "name":
        return this.#toName(route.name, letter)
      case "all":
        return this.#toAll(letter)
      case "bridge":
        return this.#toConversation(letter, ({ root, circle }) =>
          findSocket(root, { conversation: route.conversation, circle }),
        )
      case "socket":
        return this.#toConversation(letter, async () => route.path)
    }
  }

  async #toName(name: string, letter: Letter): Promise<Delivery> {
    if (name === letter.from) return refused("That is your own name.")
    const { hub, mailbox } = this.#parts
    if (!mailbox || hub.members().includes(name)) return this.#toAgent(name, letter)
    const others = await mailbox.others()
    if (!others.includes(name)) {
      const { why } = hub.deliver(this.#message(name, letter)) as Extract<Delivery, { state: "refused" }>
      return refused(others.length === 0 ? why : `${why} In other processes: ${others.join(", ")}.`)
    }
    return letter.from === LEAD ? mailbox.send([name], letter) : refused(ONLY_THE_LEAD)
  }

  async #toAll(letter: Letter): Promise<Delivery> {
    const { mailbox } = this.#parts
    const others = letter.from === LEAD ? ((await mailbox?.others()) ?? []) : []
    const near = this.#toAgent("*", letter)
    if (!mailbox || others.length === 0) return near
    const far = await mailbox.send(others, letter)
    if (near.state === "refused") return far
    return far.state === "refused" ? near : { state: "delivered", to: [...near.to, ...far.to] }
  }

  async #toConversation(letter: Letter, find: (bridge: Bridge) => Promise<string>): Promise<Delivery> {
    const { bridge } = this.#parts
    if (!bridge) return refused("This conversation has no connection to others.")
    const { circle, conversation: from, clock } = bridge
    if (circle === undefined) return refused("This conversation has no owner, so it has no connection to others.")
    if (letter.from !== LEAD) return refused(ONLY_THE_LEAD)
    const path = await find(bridge)
    const content = { ...letter.content, hops: letter.hops }
    const answer = await sendToSocket(path, { from, ...(circle ? { circle } : {}), content }, clock)
    return answer.accepted ? { state: "delivered", to: [path], isQueued: true } : refused(answer.why)
  }

  #toAgent(to: string, letter: Letter): Delivery {
    return this.#parts.hub.deliver(this.#message(to, letter))
  }

  #message(to: string, { from, content, hops }: Letter): TeamMessage {
    const number = (this.#numbers.get(from) ?? this.#parts.lastNumber(from)) + 1
    this.#numbers.set(from, number)
    return { id: `${from}#${number}`, from, to, hops, ...content }
  }
}

const ONLY_THE_LEAD = `Only the lead reaches other processes and conversations. Send it to "${LEAD}", and ask to pass it on.`

const refused = (why: string): Delivery => ({ state: "refused", why })
