/**
 * One sub-agent: an agent of its own, with its own journal under its parent's. It works on its task, then ends. A teammate waits for
 * messages in between. What it spends and what it does is reported as it happens.
 */
import type { Agent } from "../agent/agent.ts"
import type { Companions } from "../agent/loop/companions.ts"
import type { QueryEnd, QueryEvent } from "../agent/loop/query-events.ts"
import { messageOf } from "../base/errors.ts"
import type { AgentEnding, AgentStart } from "../journal/entries.ts"
import type { TakenPermit } from "../journal/permit.ts"
import { type Block, type Content, isText, textOf } from "../messages/blocks.ts"
import type { Inbox } from "./inboxes.ts"
import { oneLine } from "./progress-line.ts"

/** How an agent ended. `text` is the last thing it wrote, or why there is nothing. */
export interface AgentOutcome {
  readonly status: AgentEnding
  readonly text: string
}

/** Everyone spends from one purse. */
export const LIMIT_REACHED = "The conversation has reached its limit in dollars."

export interface SubAgentParts {
  readonly start: AgentStart
  /** Its first message: the task. */
  readonly task: Content
  /** The hops of what its lead answers with it. */
  readonly hops: number
  /** Why it must not begin: it was stopped while it was prepared. */
  readonly stopped: string | undefined
  readonly maxTurns: number
  readonly open: (companions: Companions) => Promise<Agent>
  readonly inbox: Inbox
  /** Resolves when a message may have come, or another agent has ended or waits. */
  readonly nextChange: (signal: AbortSignal) => Promise<void>
  /** Whether another agent of the conversation may work now. A teammate that has a message waits until then. */
  readonly hasRoom: () => boolean
  /** Its place among all agents of the project. It gives it back when it waits, and when it has ended. */
  readonly permit: TakenPermit
  /** A place for its next task. Nothing while all are taken: then there is a change when it should ask again. */
  readonly nextPermit: (signal: AbortSignal) => Promise<TakenPermit | undefined>
  /** A teammate has finished a task and waits for the next message. */
  readonly onIdle: (text: string) => void
  readonly onEvent: (event: QueryEvent) => void
  /** Called when it has ended and is closed. May add to what its parent gets. Never rejects. */
  readonly finish: (outcome: AgentOutcome) => Promise<AgentOutcome>
}

export class SubAgent {
  readonly start: AgentStart
  /** Never rejects. */
  readonly done: Promise<AgentOutcome>
  status: "running" | "idle" | AgentEnding = "running"
  /** How many tasks it has finished. */
  tasks = 0
  turns = 0
  toolUses = 0
  /** The last progress line. */
  line: string | undefined
  #call: string | undefined
  readonly #parts: SubAgentParts
  readonly #abort = new AbortController()
  #why: string | undefined
  #last = ""
  #agent: Agent | undefined
  #permit: TakenPermit | undefined

  constructor(parts: SubAgentParts) {
    this.#parts = parts
    this.start = parts.start
    this.#permit = parts.permit
    if (parts.stopped !== undefined) this.stop(parts.stopped)
    this.done = this.#run()
  }

  get id(): string {
    return this.start.agent
  }

  get name(): string {
    return this.start.name
  }

  /** While it is being closed, it takes no message any more. */
  get isActive(): boolean {
    return this.#parts.inbox.isOpen
  }

  /** It has finished its task, and no message is there for it. */
  get isWaiting(): boolean {
    return this.status === "idle" && !this.#parts.inbox.hasAny
  }

  /** What it does now, in a few words: the last line about it, else its last call. */
  get progress(): string | undefined {
    return this.line ?? (this.#call === undefined ? undefined : oneLine(this.#call))
  }

  get steps(): number {
    return this.turns + this.toolUses
  }

  /** The agent itself, while it is open. */
  get agent(): Agent | undefined {
    return this.#agent
  }

  /** Of the messages that it works on, its lead's included: a new agent does not begin to count again. */
  get hops(): number {
    return Math.max(this.#parts.hops, this.#agent?.conversation.views.agents.hops ?? 0)
  }

  /** Ends its work. `why` is a sentence for its parent. */
  stop(why: string): void {
    this.#why ??= why
    this.#abort.abort()
  }

  async #run(): Promise<AgentOutcome> {
    const ended = await this.#work().catch((error) =>
      this.#outcome(
        this.#abort.signal.aborted ? { reason: "aborted" } : { reason: "error", message: messageOf(error), error },
      ),
    )
    this.#parts.inbox.isOpen = false
    await this.#agent?.close().catch(() => undefined) // what it wrote is in its journal
    await this.#releasePermit()
    const outcome = await this.#parts.finish(ended)
    this.status = outcome.status
    return outcome
  }

  async #work(): Promise<AgentOutcome> {
    this.#abort.signal.throwIfAborted()
    const { inbox, open } = this.#parts
    const agent = await open({ arrivals: inbox, follow: () => () => undefined, close: async () => undefined })
    this.#agent = agent
    let end = await this.#query(agent, this.#parts.task)
    while (end.reason === "answer" && !inbox.isEnding) {
      if (this.start.kind === "teammate") {
        await this.#releasePermit()
        this.status = "idle"
        this.tasks++
        this.#parts.onIdle(end.text)
        if (!(await this.#nextMessage())) return { status: "completed", text: end.text }
      } else if (!inbox.hasAny) break // what came during its last hook is answered too
      end = await this.#query(agent)
    }
    return this.#outcome(end)
  }

  async #query(agent: Agent, task?: Content): Promise<QueryEnd> {
    let end: QueryEnd = { reason: "aborted" }
    const { maxTurns, onEvent } = this.#parts
    for await (const event of agent.query(task, { signal: this.#abort.signal, maxTurns })) {
      if (event.type === "response") {
        this.turns++
        const text = textOf((event.response.content as readonly Block[]).filter(isText))
        if (text.trim() !== "") this.#last = text
      }
      if (event.type === "tool-start") {
        this.toolUses++
        this.#call = event.summary
      }
      if (event.type === "error") event.take() // the end says it
      if (event.type === "done") end = event
      onEvent(event)
    }
    return end
  }

  /** Waits for a message, and then for room to work. `false` where it was stopped instead. */
  async #nextMessage(): Promise<boolean> {
    const { signal } = this.#abort
    const { inbox, hasRoom, nextChange, nextPermit } = this.#parts
    while (!signal.aborted) {
      if (inbox.hasAny && hasRoom()) {
        this.status = "running" // in the same step as the look, so that no other takes the room
        this.#permit = await nextPermit(signal)
        if (this.#permit) return !signal.aborted
        this.status = "idle"
      }
      await nextChange(signal)
    }
    return false
  }

  /** If the store cannot be reached, the permit is free when this process ends. */
  async #releasePermit(): Promise<void> {
    const permit = this.#permit
    this.#permit = undefined
    await permit?.release().catch(() => undefined)
  }

  #outcome(end: QueryEnd): AgentOutcome {
    switch (end.reason) {
      case "answer":
        return { status: "completed", text: end.text }
      case "aborted":
        return { status: "killed", text: this.#withLast(this.#why ?? "It was stopped.") }
      case "max-turns":
        return { status: "failed", text: this.#withLast(`It used all of its ${end.limit} requests.`) }
      case "cost-limit":
        return { status: "killed", text: this.#withLast(LIMIT_REACHED) }
      case "refusal":
        return { status: "failed", text: this.#withLast("The model refused the task.") }
      case "error":
        return { status: "failed", text: this.#withLast(end.message) }
      default:
        return { status: "failed", text: this.#withLast(end.why) }
    }
  }

  #withLast(why: string): string {
    return this.#last === "" ? why : `${why} The last thing it wrote:\n\n${this.#last}`
  }
}
