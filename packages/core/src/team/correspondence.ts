/**
 * All the ways by which messages reach the agents of one conversation and leave them: in this process, through the mailbox of a team of
 * several processes, and through the conversation's socket.
 */
import type { Agent } from "../agent/agent.ts"
import type { Arrival } from "../agent/companions.ts"
import { type Clock, systemClock } from "../base/clock.ts"
import { messageOf } from "../base/errors.ts"
import type { FigureName } from "../base/flag-names.ts"
import type { Flags } from "../base/flags.ts"
import { isSafeId } from "../base/ids.ts"
import { InvalidOptionError } from "../base/options.ts"
import type { Tool } from "../tools/tool.ts"
import { type Delivery, LEAD, type MessageHub } from "./hub.ts"
import type { ArrivalSource } from "./lead-arrivals.ts"
import { isReserved } from "./limits.ts"
import { readSent } from "./messages.ts"
import { Post } from "./post.ts"
import { bridgeTo } from "./routes.ts"
import { sendMessageTool } from "./send-message.ts"
import { type OpenSocket, openSocket, type SocketAnswer, type SocketMessage } from "./socket.ts"
import type { Team } from "./team.ts"
import { TeamMailbox } from "./team-mailbox.ts"

/** A team of several processes that work on the same directory. */
export interface TeamPlace {
  /** The team's name: all processes give the same one. */
  readonly name: string
  /** The name of this process in the team. */
  readonly as: string
}

export interface CorrespondenceOptions {
  readonly team: Team
  readonly clock?: Clock | undefined
  readonly place?: TeamPlace | undefined
  /** The directory for sockets. Without it, other conversations cannot reach this one. */
  readonly root?: string | undefined
  /** Whose the conversation is, as `circleOf` names it. */
  readonly circle: string | undefined
}

export class Correspondence implements ArrivalSource {
  readonly #options: CorrespondenceOptions
  readonly #clock: Clock
  #lead: Agent | undefined
  #post: Post | undefined
  #mailbox: TeamMailbox | undefined
  #socket: OpenSocket | undefined
  #notices: string[] = []

  constructor(options: CorrespondenceOptions) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
  }

  /** The tool by which an agent of this conversation sends. */
  toolFor(from: string): Tool {
    const { team } = this.#options
    return sendMessageTool({
      from,
      post: () => this.#opened.post,
      figures: () => this.#figures,
      hopsReceived: () =>
        (from === LEAD ? this.#opened.lead : team.get(from)?.agent)?.conversation.views.agents.hops ?? 0,
    })
  }

  /** Joins the team of processes, and opens the socket. Without a socket the conversation works, and the person is informed. */
  async open(lead: Agent): Promise<void> {
    const { team, root, place, circle } = this.#options
    this.#lead = lead
    const { conversation } = lead
    if (place) this.#mailbox = await this.#join(place, lead)
    const own = { conversation: conversation.id, circle, clock: this.#clock }
    const bridge = root === undefined ? undefined : { root, ...own }
    const common = { hub: team, figures: () => this.#figures, lastNumber: (from: string) => lastNumber(lead, from) }
    this.#post = new Post({ ...common, mailbox: this.#mailbox, bridge })
    if (bridge)
      this.#socket = await openConversationSocket({ ...bridge, ...common }).catch((error: unknown) => {
        this.#notices.push(`Other conversations cannot reach this one: ${messageOf(error)}`)
        return undefined
      })
    team.addSource(this)
  }

  get hasAny(): boolean {
    return this.#mailbox?.hasAny ?? false
  }

  async take(): Promise<readonly Arrival[]> {
    return (await this.#mailbox?.take()) ?? []
  }

  async whenAny(signal: AbortSignal): Promise<boolean> {
    return (await this.#mailbox?.whenAny(signal)) ?? false
  }

  /** A query begins. Other processes of the team may wait for it until the result is called. */
  follow(): () => void {
    this.#mailbox?.works()
    return () => this.#mailbox?.rests()
  }

  notices(): readonly string[] {
    const notices = this.#notices
    this.#notices = []
    return notices
  }

  async close(): Promise<void> {
    await this.#socket?.close()
    await this.#mailbox?.close()
  }

  get #opened(): { readonly lead: Agent; readonly post: Post } {
    if (!this.#lead || !this.#post) throw new Error("The conversation is not open yet.")
    return { lead: this.#lead, post: this.#post }
  }

  get #figures(): Flags["figures"] {
    return this.#opened.lead.conversation.flags.figures
  }

  async #join({ name: team, as: name }: TeamPlace, { conversation }: Agent): Promise<TeamMailbox> {
    if (isReserved(name))
      throw new InvalidOptionError(
        "team",
        `The name ${JSON.stringify(name)} is reserved. Choose another one for this process.`,
      )
    if (this.#options.circle === undefined)
      throw new InvalidOptionError(
        "team",
        "A team of several processes shares messages, so it needs an owner, and this agent has none. Nothing was sent. Pass the same memory: { owner } to each of them.",
      )
    const mailbox = conversation.teamMailbox(team)
    if (!mailbox)
      throw new InvalidOptionError("team", "The store of this conversation has no mailboxes, so a team is one process.")
    return TeamMailbox.join({
      mailbox,
      team,
      name,
      conversation: conversation.id,
      figures: () => conversation.flags.figures,
      clock: this.#clock,
      journaled: () => conversation.views.agents.cursor,
      onArrival: () => this.#options.team.arrivals.changed(),
      onProblem: (problem) => this.#notices.push(problem),
    })
  }
}

function lastNumber({ conversation }: Agent, from: string): number {
  const id = conversation.views.agents.received.get(from) ?? ""
  return Number(/#(\d+)$/.exec(id)?.[1] ?? 0)
}

/**
 * This conversation as others reach it: messages that come through its socket wait for the next round of its lead, or of the agent they
 * name. `strata agents stop` comes this way too.
 */
interface ConversationSocketParts {
  readonly root: string
  readonly conversation: string
  /** Whose it is, as `circleOf` names it. */
  readonly circle: string | undefined
  readonly clock: Clock
  readonly hub: Pick<MessageHub, "deliver"> & Partial<Pick<Team, "get" | "stop">>
  readonly figures: () => Readonly<Record<FigureName, number>>
  /** The number of the last message that is known of a sender. */
  readonly lastNumber: (from: string) => number
}

export function openConversationSocket(parts: ConversationSocketParts): Promise<OpenSocket> {
  const numbers = new Map<string, number>()
  const { root, conversation, circle, clock } = parts
  return openSocket({ root, conversation, circle, clock, receive: (message) => received(message, numbers, parts) })
}

function received(
  { from: sender, circle = "", content }: SocketMessage,
  numbers: Map<string, number>,
  { hub, figures, lastNumber, circle: own }: ConversationSocketParts,
): SocketAnswer {
  if (content.control === "stop") return stopped(String(content.agent), hub)
  if (circle !== own)
    return { accepted: false, why: "The conversation belongs to someone else. Nothing was delivered." }
  const { to = LEAD, ...message } = content
  const sent = readSent(message, figures()["agent-message-limit"])
  if (!isSafeId(sender)) return { accepted: false, why: "The sender's conversation has no usable id." }
  if (typeof to !== "string") return { accepted: false, why: "The receiver must be a name." }
  if (!sent) return { accepted: false, why: "The message is of no known kind, or too long." }
  const from = bridgeTo(sender)
  const number = (numbers.get(from) ?? lastNumber(from)) + 1
  const delivery: Delivery = hub.deliver({ id: `${from}#${number}`, from, to, ...sent })
  if (delivery.state === "refused") return { accepted: false, why: delivery.why }
  numbers.set(from, number)
  return { accepted: true }
}

/** Only the user's own program asks for this: no message of an agent has this form. */
function stopped(agent: string, hub: ConversationSocketParts["hub"]): SocketAnswer {
  const found = hub.get?.(agent)
  if (!found?.isActive) return { accepted: false, why: `The agent ${agent} does not work now. Nothing was changed.` }
  void hub.stop?.(found.id, "The user stopped it.")
  return { accepted: true }
}
