/**
 * The agents of one conversation, the lead: starts, lists, watches and stops them, within limits. What begins, ends and is spent is in
 * the lead's journal, so nothing is started twice and every result arrives once, also after a crash.
 */
import type { Agent } from "../agent/agent.ts"
import type { Companions, InboundMessages } from "../agent/loop/companions.ts"
import type { QueryEvent } from "../agent/loop/query-events.ts"
import { type Clock, systemClock } from "../base/clock.ts"
import { messageOf, StrataError } from "../base/errors.ts"
import { Events } from "../base/work.ts"
import { type Conversation, engineOf } from "../conversation/conversation.ts"
import type { DecisionDraft } from "../journal/entries.ts"
import { newestFirst } from "../journal/newest-first.ts"
import type { TakenPermit } from "../journal/permit.ts"
import type { Content } from "../messages/blocks.ts"
import { summarise } from "../views/ledger/ledger.ts"
import { type AgentRecord, undelivered } from "../views/record/open-work.ts"
import { AgentPermits } from "./agent-permits.ts"
import { agentView } from "./agent-view.ts"
import { type Delivery, LEAD } from "./carrier.ts"
import { nameProblem, projectProblem, startProblem } from "./limits.ts"
import { Mail, type MailOptions } from "./mail.ts"
import type { TeamMessage } from "./messages.ts"
import type { OpenSubAgent, PreparedAgent } from "./open-sub-agent.ts"
import type { AgentOrder, AgentView } from "./order.ts"
import { type ProgressLineParts, ProgressLines } from "./progress-line.ts"
import { arrivalOf, type BoundedResult, boundedFor, summaryOf } from "./result.ts"
import { missingSpending, spendingOf } from "./spending.ts"
import { type AgentOutcome, LIMIT_REACHED, SubAgent, type SubAgentParts } from "./sub-agent.ts"

/** An agent was not started. The message is a sentence for the model. */
const notStarted = (why: string) => new StrataError(why, { code: "agent-refused" })

/** @internal */
export interface TeamOptions extends Pick<ProgressLineParts, "cheapestModel"> {
  /** For the times of progress lines. Default: the machine's. */
  readonly clock?: Clock | undefined
  readonly mail: MailOptions
}

const PROGRAM_ENDED = "The program ended while it was working."
const INTERRUPTED = "The conversation was interrupted."
const SWITCHED_OFF = "Agents are switched off (agents). Nothing was started: do the work yourself."
const LEAD_CLOSED = "The conversation was closed."

/** The agents that work for a conversation. */
export class Team implements Companions {
  /** @internal */
  readonly mail: Mail
  readonly #open: OpenSubAgent
  readonly #lines: ProgressLines
  readonly #permits: AgentPermits
  readonly #agents = new Map<string, SubAgent>()
  readonly #outcomes = new Map<string, AgentOutcome>()
  /** By agent: resolves when its end is in the journal. */
  readonly #recorded = new Map<string, Promise<void>>()
  /** Agents whose call waits for them: the result of the call brings what they found. */
  readonly #awaited = new Set<string>()
  /** By agent. */
  readonly #activity = new Events<Record<string, QueryEvent>>()
  #lead: Agent | undefined
  /** Agents that are being opened count as running. `stopped`: why one must not begin. */
  readonly #opening = new Set<{ stopped?: string }>()
  #started = 0
  /** Those that are being opened and have no number yet. */
  #unnumbered = 0
  /** Reports of teammates that are being written. */
  #reporting = 0
  /** Of the last query: agents in the background spend money after it too. */
  #costLimit = Number.POSITIVE_INFINITY
  #isClosed = false

  /** @internal Use `openAgent` with `agents`. */
  constructor(open: OpenSubAgent, { clock = systemClock, cheapestModel, mail }: TeamOptions) {
    this.#open = open
    this.#lines = new ProgressLines({
      clock,
      cheapestModel,
      figures: () => this.#chat.flags.figures,
      onSpent: (decision) => void this.#spent(decision),
      onProblem: (problem) => this.mail.notice(problem),
    })
    this.#permits = new AgentPermits({ lead: () => this.#chat, clock, onChance: () => this.mail.changed() })
    this.mail = new Mail({
      ...mail,
      clock,
      agents: {
        hasResults: () => this.#due.length > 0,
        results: () =>
          Promise.all(this.#due.map((due) => arrivalOf(this.#chat, due, this.#outcomes.get(due.id)?.text))),
        isWorking: () => this.#isWorking,
        hopsOf: (name) => (name === LEAD ? this.#hops : (this.get(name)?.hops ?? 0)),
        endOf: (name) => this.view(name)?.status,
        stop: (name) => this.#stopForUser(name),
      },
    })
  }

  /** What reaches the lead: results of agents that ended, then messages. */
  get arrivals(): InboundMessages {
    return this.mail
  }

  /** @internal Takes up work for an agent that was opened. What ran when an earlier process died is recorded as killed, with all that it spent. */
  async lead(agent: Agent): Promise<void> {
    this.#lead = agent
    const { roster } = this.#chat.views.agents
    this.#started = roster.size
    const lost = [...roster.values()].filter(({ status }) => status === "running")
    if (lost.length > 0) await this.#recordLost(lost)
    await this.mail.open(this.#chat)
  }

  async #recordLost(lost: readonly AgentRecord[]): Promise<void> {
    const spent = await missingSpending({
      agents: lost.map(({ id }) => id),
      parent: newestFirst(engineOf(this.#chat).record.journal),
      openJournal: (id) => this.#chat.openAgentJournal(id),
    })
    const killed = { status: "killed", text: PROGRAM_ENDED } as const
    await this.#chat.note([...spent, ...lost.map(({ id }) => ended(id, killed))])
    for (const _ of lost) this.#count("agents.ended", { "strata.agent.status": killed.status })
  }

  /** @internal Resolves when the agent is in the journal and begins to work. Throws a sentence for the model where a limit does not allow it. */
  async start(order: AgentOrder): Promise<SubAgent> {
    const lead = this.leader
    const problem = this.#startProblem(order)
    if (problem !== undefined) throw notStarted(problem)
    const opening: { stopped?: string } = {}
    this.#opening.add(opening)
    let permit: TakenPermit | undefined
    try {
      const admitted = await this.#admitted()
      const { id } = admitted
      permit = admitted.permit
      const { definition, description, kind, callId, name = id } = order
      const prepared = this.#open(order, { id, name, lead })
      const about = definition === undefined ? {} : { definition: definition.name }
      const start = { agent: id, name, kind, description, callId, model: prepared.model, ...about }
      if (kind === "wait") this.#awaited.add(id)
      const maxTurns = definition?.maxTurns ?? this.#chat.flags.figures["agent-turns"]
      await this.#chat.note([{ type: "strata", subtype: "agent-started", ...start }])
      this.#count("agents.started", { "strata.agent.kind": kind })
      const task = await this.#begun(id, prepared)
      const agent = this.#employ(prepared, { start, task, stopped: opening.stopped, maxTurns, permit })
      this.#agents.set(id, agent)
      this.#recorded.set(id, this.#record(agent))
      return agent
    } catch (error) {
      await permit?.release().catch(() => undefined) // why it did not begin matters more
      throw error
    } finally {
      this.#opening.delete(opening)
      this.mail.changed()
    }
  }

  /** A permit among the agents of the project, and the number of the agent. Who is refused gets no number. */
  async #admitted(): Promise<{ readonly id: string; readonly permit: TakenPermit }> {
    this.#unnumbered++
    try {
      const attempt = await this.#permits.take()
      if (attempt.state === "full") throw notStarted(projectProblem(attempt.taken, this.#chat.flags.figures))
      return { id: this.#newId(), permit: attempt.permit }
    } finally {
      this.#unnumbered--
    }
  }

  /** Why no agent can be started, as a sentence. */
  #startProblem({ name, kind }: AgentOrder): string | undefined {
    if (this.#isClosed) return LEAD_CLOSED
    const { figures, on } = this.#chat.flags
    if (!on.agents) return SWITCHED_OFF
    const problem = startProblem({ running: this.#running, started: this.#started + this.#unnumbered, figures })
    if (problem !== undefined || (name === undefined && kind !== "teammate")) return problem
    return nameProblem(name ?? "", this.mail.inboxes.names())
  }

  /** It begins to work at once. */
  #employ(
    prepared: PreparedAgent,
    work: Pick<SubAgentParts, "start" | "task" | "stopped" | "maxTurns" | "permit">,
  ): SubAgent {
    const { agent: id, name } = work.start
    return new SubAgent({
      ...work,
      hops: this.#hops,
      open: async (companions) => {
        const opened = await prepared.open(companions)
        opened.conversation.on("entry", ({ entry }) => void this.#spent(spendingOf(entry, id)))
        return opened
      },
      finish: (outcome) => prepared.finish(outcome),
      inbox: this.mail.inboxes.open(name),
      nextChange: (signal) => this.mail.nextChange(signal),
      hasRoom: () => this.#running < this.#chat.flags.figures["max-agents"],
      nextPermit: (signal) => this.#permits.takeAgain(signal),
      onIdle: (text) => {
        void this.#report(id, text)
        this.mail.changed()
      },
      onEvent: (event) => this.#activity.emit(id, event),
    })
  }

  /** All agents of the conversation, in the order they were started, those of earlier processes too. */
  list(): readonly AgentView[] {
    const { location, views } = this.#chat
    const lead = { location, views }
    return [...views.agents.roster.values()].map((record) =>
      agentView({ record, live: this.#agents.get(record.id), lead }),
    )
  }

  /** The last agent with this name or id. */
  view(nameOrId: string): AgentView | undefined {
    return this.list().findLast(({ id, name }) => id === nameOrId || name === nameOrId)
  }

  /** @internal An agent of this process. */
  get(nameOrId: string): SubAgent | undefined {
    return this.#agents.get(nameOrId) ?? [...this.#agents.values()].findLast(({ name }) => name === nameOrId)
  }

  /** Calls back for everything that the agent does from now on. Call the result to end that. */
  watch(id: string, listener: (event: QueryEvent) => void): () => void {
    return this.#activity.on(id, listener)
  }

  /** Ends an agent's work. Resolves when that is in the journal. */
  async stop(nameOrId: string, why = "It was stopped."): Promise<void> {
    const agent = this.get(nameOrId)
    if (!agent) return
    agent.stop(why)
    await this.#recorded.get(agent.id)
  }

  /** @internal What the call that waits for an agent returns. */
  async result({ id, done }: SubAgent): Promise<BoundedResult & { readonly outcome: AgentOutcome }> {
    const outcome = await done
    await this.#recorded.get(id)
    return { outcome, ...(await boundedFor(this.#chat, { name: `${id}-result`, text: outcome.text })) }
  }

  /** @internal To one name, or to all but the sender. The receiver gets it at its next round; a teammate that waits begins to work. */
  deliver(message: TeamMessage): Delivery {
    return this.mail.inboxes.deliver(message)
  }

  /** @internal */
  follow({ signal, costLimit }: { readonly signal: AbortSignal; readonly costLimit: number }): () => void {
    const onAbort = () => this.#stopRunning(INTERRUPTED)
    this.#costLimit = costLimit
    signal.addEventListener("abort", onAbort)
    const unfollow = this.mail.follow()
    return () => {
      unfollow()
      signal.removeEventListener("abort", onAbort)
    }
  }

  /** Resolves when no agent works any more. */
  async settled(): Promise<void> {
    while (this.#isWorking) await this.mail.nextChange()
  }

  /** Ends all agents. Results that the lead does not have yet stay in the journal, for the next opening. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.mail.inboxes.closed = LEAD_CLOSED
    for (const opening of this.#opening) opening.stopped ??= LEAD_CLOSED
    for (const agent of this.#agents.values()) agent.stop(LEAD_CLOSED)
    while (this.#opening.size > 0) await this.mail.nextChange()
    await Promise.all(this.#recorded.values())
    await this.mail.close()
  }

  /** @internal The agent that the others work for. */
  get leader(): Agent {
    if (!this.#lead) throw new Error("The team has no lead yet.")
    return this.#lead
  }

  get #chat(): Conversation {
    return this.leader.conversation
  }

  /** Until the end of an agent is in the journal, its result is still to come. */
  get #isWorking(): boolean {
    if (this.#opening.size + this.#reporting > 0) return true
    return [...this.#agents.values()].some(
      ({ id, isWaiting }) => !isWaiting && this.#chat.views.agents.roster.get(id)?.status === "running",
    )
  }

  /** Agents that ended and whose result the lead does not have. */
  get #due(): readonly AgentRecord[] {
    return undelivered(this.#chat.views.agents).filter(({ id }) => !this.#awaited.has(id))
  }

  get #hops(): number {
    return this.#lead?.conversation.views.agents.hops ?? 0
  }

  get #running(): number {
    return this.#opening.size + [...this.#agents.values()].filter(({ status }) => status === "running").length
  }

  /** Taken at once, because several calls start agents at the same time. An imported agent may have any id. */
  #newId(): string {
    const { roster } = this.#chat.views.agents
    for (;;) {
      const id = `agent-${++this.#started}`
      if (!roster.has(id)) return id
    }
  }

  #stopRunning(why: string): void {
    for (const opening of this.#opening) opening.stopped ??= why
    for (const agent of this.#agents.values()) if (agent.status === "running") agent.stop(why)
  }

  /** An agent that cannot begin has ended. The call that started it says why. */
  async #begun(id: string, prepared: PreparedAgent): Promise<Content> {
    try {
      return await prepared.begin()
    } catch (error) {
      this.#awaited.add(id)
      await this.#ended(id, { status: "failed", text: messageOf(error) })
      throw error
    }
  }

  async #ended(agent: string, outcome: AgentOutcome): Promise<void> {
    this.#count("agents.ended", { "strata.agent.status": outcome.status })
    const hops = this.get(agent)?.hops ?? 0
    await this.#chat.note([{ ...ended(agent, outcome), ...(hops > this.#hops ? { hops } : {}) }])
  }

  #count(name: string, about: Readonly<Record<string, string>>): void {
    this.leader.shared.telemetry.count(name, about)
  }

  #stopForUser(name: string): boolean {
    const agent = this.get(name)
    if (!agent?.isActive) return false
    void this.stop(agent.id, "The user stopped it.")
    return true
  }

  /** Never rejects. If the journal cannot be written, the lead's own next entry says so, and a resume finds the agent killed. */
  async #record(agent: SubAgent): Promise<void> {
    const endLines = agent.start.kind === "wait" ? undefined : this.#lines.follow(agent)
    const outcome = await agent.done
    await endLines?.()
    this.#outcomes.set(agent.id, outcome)
    await this.#ended(agent.id, outcome).catch(() => undefined)
    this.mail.changed()
  }

  async #spent(decision: DecisionDraft | undefined): Promise<void> {
    if (!decision) return
    await this.#chat.note([decision]).catch(() => undefined) // a journal that cannot be written fails the lead's own next entry
    if (summarise(this.#chat.views.ledger).dollars >= this.#costLimit) this.#stopRunning(LIMIT_REACHED)
  }

  /** A teammate's answer reaches the lead as a message, because the teammate stays. It has the hops of what it answers. */
  async #report(id: string, text: string): Promise<void> {
    const { name, tasks, hops: own } = this.get(id)!
    const hops = Math.max(1, own)
    this.#reporting++
    try {
      const { content, handle } = await boundedFor(this.#chat, { name: `${id}-report-${tasks}`, text })
      const rest = handle === undefined ? "" : `\n\nAll of it: ${handle}`
      const report = { id: `${id}#report-${tasks}`, from: name, to: LEAD, text: `${content}${rest}`, hops }
      this.mail.inboxes.lead.push(report)
    } finally {
      this.#reporting--
      this.mail.changed()
    }
  }
}

const ended = (agent: string, { status, text }: AgentOutcome) =>
  ({ type: "strata", subtype: "agent-ended", agent, status, summary: summaryOf(text) }) as const
