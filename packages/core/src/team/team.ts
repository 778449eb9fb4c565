/**
 * Starts, lists, watches and stops the sub-agents of one conversation, the lead, within limits. Starts, ends and spending are in the lead's
 * journal, so that even after a crash no agent is started twice and every result arrives once.
 */
import type { Agent } from "../agent/agent.ts"
import type { AgentLinks, InboundMessages } from "../agent/loop/agent-links.ts"
import type { QueryEvent } from "../agent/loop/query-events.ts"
import { type Clock, systemClock } from "../base/clock.ts"
import { errorMessage, StrataError } from "../base/errors.ts"
import { Events } from "../base/work.ts"
import { engineOf } from "../conversation/conversation.ts"
import type { Engine } from "../conversation/engine.ts"
import type { DecisionDraft } from "../journal/entries.ts"
import { newestFirst } from "../journal/newest-first.ts"
import type { TakenPermit } from "../journal/permit.ts"
import type { Content } from "../messages/blocks.ts"
import { summarise } from "../views/ledger/ledger.ts"
import { type AgentRecord, undelivered } from "../views/record/open-work.ts"
import { AgentPermits } from "./agent-permits.ts"
import type { AgentTask, AgentView } from "./agent-task.ts"
import { agentView } from "./agent-view.ts"
import { nameProblem, projectLimitProblem, startProblem } from "./limits.ts"
import { MessageRouter, type MessageRouterOptions } from "./message-router.ts"
import { type Delivery, LEAD } from "./message-transport.ts"
import type { TeamMessage } from "./messages.ts"
import type { OpenSubAgent, PreparedAgent } from "./open-sub-agent.ts"
import { ProgressLines, type ProgressLinesDependencies } from "./progress-line.ts"
import { type BoundedResult, boundForLead, inboundResult, summaryOf } from "./result.ts"
import { missingSpending, spendingOf } from "./spending.ts"
import { type AgentOutcome, LIMIT_REACHED, SubAgent, type SubAgentDependencies } from "./sub-agent.ts"

/** Creates the error for an agent that was not started. The message is a sentence for the model. */
const notStarted = (why: string) => new StrataError(why, { code: "agent-refused" })

/** @internal */
export interface TeamOptions extends Pick<ProgressLinesDependencies, "cheapestModel"> {
  /** Clock for progress lines. Default: the system clock. */
  readonly clock?: Clock | undefined
  readonly mail: MessageRouterOptions
}

const PROGRAM_ENDED = "The program ended while it was working."
const INTERRUPTED = "The conversation was interrupted."
const SWITCHED_OFF = "Agents are switched off (agents). Nothing was started: do the work yourself."
const LEAD_CLOSED = "The conversation was closed."

/** The sub-agents of a conversation. */
export class Team implements AgentLinks {
  /** @internal */
  readonly mail: MessageRouter
  readonly #open: OpenSubAgent
  readonly #lines: ProgressLines
  readonly #permits: AgentPermits
  readonly #agents = new Map<string, SubAgent>()
  readonly #outcomes = new Map<string, AgentOutcome>()
  /** For each agent id: resolves when the agent's end is in the journal. */
  readonly #endRecorded = new Map<string, Promise<void>>()
  /** Agents whose tool call waits for them: the result of the call delivers their findings. */
  readonly #awaited = new Set<string>()
  /** Query events by agent id. */
  readonly #activity = new Events<Record<string, QueryEvent>>()
  #lead: Agent | undefined
  /** Agents that are being opened. They count as running. `stopReason` is set if one must not start. */
  readonly #pendingStarts = new Set<{ stopped?: string }>()
  #started = 0
  /** Number of agents that are being opened and have no id yet. */
  #unnumbered = 0
  /** Number of teammates' reports that are being written. */
  #reporting = 0
  /** Cost limit of the last query. It applies to background agents after the query too. */
  #costLimit = Number.POSITIVE_INFINITY
  #isClosed = false

  /** @internal Use `openAgent` with `agents`. */
  constructor(open: OpenSubAgent, { clock = systemClock, cheapestModel, mail }: TeamOptions) {
    this.#open = open
    this.#lines = new ProgressLines({
      clock,
      cheapestModel,
      figures: () => this.#engine.flags.figures,
      onSpent: (decision) => void this.#spent(decision),
      onProblem: (problem) => this.mail.notice(problem),
    })
    this.#permits = new AgentPermits({
      attachLead: () => this.#engine,
      clock,
      onChance: () => this.mail.changed(),
    })
    this.mail = new MessageRouter({
      ...mail,
      clock,
      agents: {
        hasResults: () => this.#pendingResults.length > 0,
        results: () =>
          Promise.all(
            this.#pendingResults.map((due) =>
              inboundResult(this.leader.conversation, due, this.#outcomes.get(due.id)?.text),
            ),
          ),
        isWorking: () => this.#isWorking,
        hopsOf: (name) => (name === LEAD ? this.#hops : (this.get(name)?.hops ?? 0)),
        endOf: (name) => this.view(name)?.status,
        stop: (name) => this.#stopForUser(name),
      },
    })
  }

  /** Messages for the lead: results of ended agents first, then other messages. */
  get inbound(): InboundMessages {
    return this.mail
  }

  /**
   * @internal Attaches the team to an opened lead. Agents that were running when an earlier process died are recorded as killed, with all
   * their
   * spending.
   */
  async attachLead(agent: Agent): Promise<void> {
    this.#lead = agent
    const { roster } = this.#engine.views.agents
    this.#started = roster.size
    const lost = [...roster.values()].filter(({ status }) => status === "running")
    if (lost.length > 0) await this.#recordLost(lost)
    await this.mail.open(agent.conversation)
  }

  async #recordLost(lost: readonly AgentRecord[]): Promise<void> {
    const spent = await missingSpending({
      agents: lost.map(({ id }) => id),
      parent: newestFirst(this.#engine.record.journal),
      openJournal: (id) => this.#engine.openAgentJournal(id),
    })
    const killed = { status: "killed", text: PROGRAM_ENDED } as const
    await this.#engine.note([...spent, ...lost.map(({ id }) => endedDecision(id, killed))])
    for (const _ of lost) this.#count("agents.ended", { "strata.agent.status": killed.status })
  }

  /**
   * @internal Starts an agent. Resolves when its start is in the journal and it works. If a limit is reached, throws a sentence for the
   * model.
   */
  async start(task: AgentTask): Promise<SubAgent> {
    const lead = this.leader
    const problem = this.#startProblem(task)
    if (problem !== undefined) throw notStarted(problem)
    const opening: { stopped?: string } = {}
    this.#pendingStarts.add(opening)
    let permit: TakenPermit | undefined
    try {
      const admitted = await this.#admit()
      const { id } = admitted
      permit = admitted.permit
      const { definition, description, kind, callId, name = id } = task
      const prepared = this.#open(task, { id, name, lead })
      const about = definition === undefined ? {} : { definition: definition.name }
      const start = { agent: id, name, kind, description, callId, model: prepared.model, ...about }
      if (kind === "wait") this.#awaited.add(id)
      const maxTurns = definition?.maxTurns ?? this.#engine.flags.figures["agent-turns"]
      await this.#engine.note([{ type: "strata", subtype: "agent-started", ...start }])
      this.#count("agents.started", { "strata.agent.kind": kind })
      const firstMessage = await this.#begin(id, prepared)
      const agent = this.#createAgent(prepared, { start, firstMessage, stopReason: opening.stopped, maxTurns, permit })
      this.#agents.set(id, agent)
      this.#endRecorded.set(id, this.#record(agent))
      return agent
    } catch (error) {
      await permit?.release().catch(() => undefined) // the cause of the failed start matters more
      throw error
    } finally {
      this.#pendingStarts.delete(opening)
      this.mail.changed()
    }
  }

  /** Takes a permit among the agents of the project, and then an agent id. A refused agent gets no id. */
  async #admit(): Promise<{ readonly id: string; readonly permit: TakenPermit }> {
    this.#unnumbered++
    try {
      const attempt = await this.#permits.take()
      if (attempt.state === "full") throw notStarted(projectLimitProblem(attempt.taken, this.#engine.flags.figures))
      return { id: this.#newId(), permit: attempt.permit }
    } finally {
      this.#unnumbered--
    }
  }

  /** The reason why no agent can be started, as a sentence. */
  #startProblem({ name, kind }: AgentTask): string | undefined {
    if (this.#isClosed) return LEAD_CLOSED
    const { figures, on } = this.#engine.flags
    if (!on.agents) return SWITCHED_OFF
    const problem = startProblem({ running: this.#running, started: this.#started + this.#unnumbered, figures })
    if (problem !== undefined || (name === undefined && kind !== "teammate")) return problem
    return nameProblem(name ?? "", this.mail.inboxes.names())
  }

  /** Creates the agent, which starts to work at once. */
  #createAgent(
    prepared: PreparedAgent,
    work: Pick<SubAgentDependencies, "start" | "firstMessage" | "stopReason" | "maxTurns" | "permit">,
  ): SubAgent {
    const { agent: id, name } = work.start
    return new SubAgent({
      ...work,
      hops: this.#hops,
      open: async (agentLinks) => {
        const opened = await prepared.open(agentLinks)
        opened.conversation.on("entry", ({ entry }) => void this.#spent(spendingOf(entry, id)))
        return opened
      },
      finish: (outcome) => prepared.finish(outcome),
      inbox: this.mail.inboxes.open(name),
      nextChange: (signal) => this.mail.nextChange(signal),
      hasRoom: () => this.#running < this.#engine.flags.figures["max-agents"],
      nextPermit: (signal) => this.#permits.takeAgain(signal),
      onIdle: (text) => {
        void this.#report(id, text)
        this.mail.changed()
      },
      onEvent: (event) => this.#activity.emit(id, event),
    })
  }

  /** All agents of the conversation in the order they were started, including those of earlier processes. */
  list(): readonly AgentView[] {
    const { location } = this.leader.conversation
    const { views } = this.#engine
    const lead = { location, views }
    return [...views.agents.roster.values()].map((record) =>
      agentView({ record, live: this.#agents.get(record.id), lead }),
    )
  }

  /** The latest agent with this name or id. */
  view(nameOrId: string): AgentView | undefined {
    return this.list().findLast(({ id, name }) => id === nameOrId || name === nameOrId)
  }

  /** @internal The agent of this process with this name or id. */
  get(nameOrId: string): SubAgent | undefined {
    return this.#agents.get(nameOrId) ?? [...this.#agents.values()].findLast(({ name }) => name === nameOrId)
  }

  /** Calls back for all events of the agent from now on. Call the returned function to stop. */
  watch(id: string, listener: (event: QueryEvent) => void): () => void {
    return this.#activity.on(id, listener)
  }

  /** Stops an agent. Resolves when its end is in the journal. */
  async stop(nameOrId: string, why = "It was stopped."): Promise<void> {
    const agent = this.get(nameOrId)
    if (!agent) return
    agent.stop(why)
    await this.#endRecorded.get(agent.id)
  }

  /** @internal The result that the tool call waiting for an agent returns. */
  async result({ id, done }: SubAgent): Promise<BoundedResult & { readonly outcome: AgentOutcome }> {
    const outcome = await done
    await this.#endRecorded.get(id)
    return { outcome, ...(await boundForLead(this.leader.conversation, { name: `${id}-result`, text: outcome.text })) }
  }

  /**
   * @internal Delivers to one name, or to all except the sender. The receiver reads it in its next round, and an idle teammate starts
   * working.
   */
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

  /** Resolves when no agent is working. */
  async settled(): Promise<void> {
    while (this.#isWorking) await this.mail.nextChange()
  }

  /** Stops all agents. Undelivered results remain in the journal for the next time the conversation is opened. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.mail.inboxes.closed = LEAD_CLOSED
    for (const opening of this.#pendingStarts) opening.stopped ??= LEAD_CLOSED
    for (const agent of this.#agents.values()) agent.stop(LEAD_CLOSED)
    while (this.#pendingStarts.size > 0) await this.mail.nextChange()
    await Promise.all(this.#endRecorded.values())
    await this.mail.close()
  }

  /** @internal The lead of the team. */
  get leader(): Agent {
    if (!this.#lead) throw new Error("The team has no lead yet.")
    return this.#lead
  }

  get #engine(): Engine {
    return engineOf(this.leader.conversation)
  }

  /** Whether results may still arrive. An agent counts until its end is in the journal. */
  get #isWorking(): boolean {
    if (this.#pendingStarts.size + this.#reporting > 0) return true
    return [...this.#agents.values()].some(
      ({ id, isWaiting }) => !isWaiting && this.#engine.views.agents.roster.get(id)?.status === "running",
    )
  }

  /** Agents that have ended and whose result the lead has not received. */
  get #pendingResults(): readonly AgentRecord[] {
    return undelivered(this.#engine.views.agents).filter(({ id }) => !this.#awaited.has(id))
  }

  get #hops(): number {
    return this.#lead ? this.#engine.views.agents.hops : 0
  }

  get #running(): number {
    return this.#pendingStarts.size + [...this.#agents.values()].filter(({ status }) => status === "running").length
  }

  /** Assigned synchronously, because several calls start agents concurrently. Skips ids that imported agents use. */
  #newId(): string {
    const { roster } = this.#engine.views.agents
    for (;;) {
      const id = `agent-${++this.#started}`
      if (!roster.has(id)) return id
    }
  }

  #stopRunning(why: string): void {
    for (const opening of this.#pendingStarts) opening.stopped ??= why
    for (const agent of this.#agents.values()) if (agent.status === "running") agent.stop(why)
  }

  /** Prepares the agent. If that fails, the agent is recorded as ended, and the call that started it reports the error. */
  async #begin(id: string, prepared: PreparedAgent): Promise<Content> {
    try {
      return await prepared.begin()
    } catch (error) {
      this.#awaited.add(id)
      await this.#ended(id, { status: "failed", text: errorMessage(error) })
      throw error
    }
  }

  async #ended(agent: string, outcome: AgentOutcome): Promise<void> {
    this.#count("agents.ended", { "strata.agent.status": outcome.status })
    const hops = this.get(agent)?.hops ?? 0
    await this.#engine.note([{ ...endedDecision(agent, outcome), ...(hops > this.#hops ? { hops } : {}) }])
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

  /**
   * Records the end of the agent. Never rejects. If the journal cannot be written, the lead's next entry fails, and the agent is found
   * killed when the conversation is resumed.
   */
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
    await this.#engine.note([decision]).catch(() => undefined) // a journal that cannot be written also fails the lead's next entry
    if (summarise(this.#engine.views.ledger).dollars >= this.#costLimit) this.#stopRunning(LIMIT_REACHED)
  }

  /**
   * Delivers a teammate's answer to the lead as a message, because the teammate continues to exist. It has the hop count of what it
   * answers.
   */
  async #report(id: string, text: string): Promise<void> {
    const { name, tasks, hops: agentHops } = this.get(id)!
    const hops = Math.max(1, agentHops)
    this.#reporting++
    try {
      const { content, handle } = await boundForLead(this.leader.conversation, { name: `${id}-report-${tasks}`, text })
      const rest = handle === undefined ? "" : `\n\nAll of it: ${handle}`
      const report = { id: `${id}#report-${tasks}`, from: name, to: LEAD, text: `${content}${rest}`, hops }
      this.mail.inboxes.lead.push(report)
    } finally {
      this.#reporting--
      this.mail.changed()
    }
  }
}

const endedDecision = (agent: string, { status, text }: AgentOutcome) =>
  ({ type: "strata", subtype: "agent-ended", agent, status, summary: summaryOf(text) }) as const
