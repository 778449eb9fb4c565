/**
 * One sub-agent with its own journal, nested under its parent's. It works on its task and ends. A teammate waits for further messages
 * instead. Its spending and activity are reported as they happen.
 */
import type { Agent } from "../agent/agent.ts"
import type { AgentLinks } from "../agent/loop/agent-links.ts"
import type { QueryEnd, QueryEvent } from "../agent/loop/query-events.ts"
import { errorMessage } from "../base/errors.ts"
import { engineOf } from "../conversation/conversation.ts"
import type { AgentEnding, AgentStart } from "../journal/entries.ts"
import type { TakenPermit } from "../journal/permit.ts"
import { type Block, type Content, isText, textOf } from "../messages/blocks.ts"
import type { Inbox } from "./inboxes.ts"
import { oneLine } from "./progress-line.ts"

/** The ending of an agent. `text` is the last text that it wrote, or the reason why it wrote nothing. */
export interface AgentOutcome {
  readonly status: AgentEnding
  readonly text: string
}

/** All agents of a conversation share its cost limit. */
export const LIMIT_REACHED = "The conversation has reached its limit in dollars."

export interface SubAgentDependencies {
  readonly start: AgentStart
  /** The agent's first message, which contains its task. */
  readonly firstMessage: Content
  /** Hop count of the messages that the lead is answering by starting this agent. */
  readonly hops: number
  /** Set if the agent was stopped while it was being prepared: it must not start. */
  readonly stopReason: string | undefined
  readonly maxTurns: number
  readonly open: (agentLinks: AgentLinks) => Promise<Agent>
  readonly inbox: Inbox
  /** Resolves when a message may have arrived, or another agent has ended or become idle. */
  readonly nextChange: (signal: AbortSignal) => Promise<void>
  /** Whether the limit of the conversation allows one more working agent. A teammate with a message waits until then. */
  readonly hasRoom: () => boolean
  /** The agent's permit among all agents of the project, released while it is idle and after it has ended. */
  readonly permit: TakenPermit
  /** Requests a permit for the next task. Resolves with `undefined` while all are taken; `nextChange` resolves when a retry makes sense. */
  readonly nextPermit: (signal: AbortSignal) => Promise<TakenPermit | undefined>
  /** Called when a teammate has finished a task and waits for the next message. */
  readonly onIdle: (text: string) => void
  readonly onEvent: (event: QueryEvent) => void
  /** Called after the agent has ended and is closed. May append to the result for its parent. Never rejects. */
  readonly finish: (outcome: AgentOutcome) => Promise<AgentOutcome>
}

export class SubAgent {
  readonly start: AgentStart
  /** Resolves when the agent has ended. Never rejects. */
  readonly done: Promise<AgentOutcome>
  status: "running" | "idle" | AgentEnding = "running"
  /** Number of finished tasks. */
  tasks = 0
  turns = 0
  toolUses = 0
  line: string | undefined
  #lastCall: string | undefined
  readonly #parts: SubAgentDependencies
  readonly #abort = new AbortController()
  #stopReason: string | undefined
  #lastText = ""
  #agent: Agent | undefined
  #permit: TakenPermit | undefined

  constructor(parts: SubAgentDependencies) {
    this.#parts = parts
    this.start = parts.start
    this.#permit = parts.permit
    if (parts.stopReason !== undefined) this.stop(parts.stopReason)
    this.done = this.#run()
  }

  get id(): string {
    return this.start.agent
  }

  get name(): string {
    return this.start.name
  }

  /** Whether the agent still accepts messages. `false` while it is being closed. */
  get isActive(): boolean {
    return this.#parts.inbox.isOpen
  }

  /** Whether the agent has finished its task and has no message to read. */
  get isWaiting(): boolean {
    return this.status === "idle" && !this.#parts.inbox.hasAny
  }

  /** Short description of its current activity: the last progress line, else its last tool call. */
  get progress(): string | undefined {
    return this.line ?? (this.#lastCall === undefined ? undefined : oneLine(this.#lastCall))
  }

  get steps(): number {
    return this.turns + this.toolUses
  }

  /** The opened agent. `undefined` before it is open. */
  get agent(): Agent | undefined {
    return this.#agent
  }

  /** Highest hop count of the messages that the agent works on, including its lead's, so that a new agent does not reset the count. */
  get hops(): number {
    const own = this.#agent ? engineOf(this.#agent.conversation).views.agents.hops : 0
    return Math.max(this.#parts.hops, own)
  }

  /** Ends the agent's work. `why` is a sentence for its parent. */
  stop(why: string): void {
    this.#stopReason ??= why
    this.#abort.abort()
  }

  async #run(): Promise<AgentOutcome> {
    const ended = await this.#work().catch((error) =>
      this.#outcome(
        this.#abort.signal.aborted ? { reason: "aborted" } : { reason: "error", message: errorMessage(error), error },
      ),
    )
    this.#parts.inbox.isOpen = false
    await this.#agent?.close().catch(() => undefined) // its messages are in its journal
    await this.#releasePermit()
    const outcome = await this.#parts.finish(ended)
    this.status = outcome.status
    return outcome
  }

  async #work(): Promise<AgentOutcome> {
    this.#abort.signal.throwIfAborted()
    const { inbox, open } = this.#parts
    const agent = await open({ inbound: inbox, follow: () => () => undefined, close: async () => undefined })
    this.#agent = agent
    let end = await this.#query(agent, this.#parts.firstMessage)
    while (end.reason === "answer" && !inbox.isEnding) {
      if (this.start.kind === "teammate") {
        await this.#releasePermit()
        this.status = "idle"
        this.tasks++
        this.#parts.onIdle(end.text)
        if (!(await this.#nextMessage())) return { status: "completed", text: end.text }
      } else if (!inbox.hasAny) break // messages that arrived during the last hook are answered too
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
        if (text.trim() !== "") this.#lastText = text
      }
      if (event.type === "tool-start") {
        this.toolUses++
        this.#lastCall = event.summary
      }
      if (event.type === "error") event.take() // the end of the query reports it
      if (event.type === "done") end = event
      onEvent(event)
    }
    return end
  }

  /** Waits for a message, and then for a permit. `false` if the agent was stopped instead. */
  async #nextMessage(): Promise<boolean> {
    const { signal } = this.#abort
    const { inbox, hasRoom, nextChange, nextPermit } = this.#parts
    while (!signal.aborted) {
      if (inbox.hasAny && hasRoom()) {
        this.status = "running" // set synchronously after the check, so that no other agent takes the permit
        this.#permit = await nextPermit(signal)
        if (this.#permit) return !signal.aborted
        this.status = "idle"
      }
      await nextChange(signal)
    }
    return false
  }

  /** Releases the permit. If the store cannot be reached, it is released when this process ends. */
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
        return { status: "killed", text: this.#withLastText(this.#stopReason ?? "It was stopped.") }
      case "max-turns":
        return { status: "failed", text: this.#withLastText(`It used all of its ${end.limit} requests.`) }
      case "cost-limit":
        return { status: "killed", text: this.#withLastText(LIMIT_REACHED) }
      case "refusal":
        return { status: "failed", text: this.#withLastText("The model refused the task.") }
      case "error":
        return { status: "failed", text: this.#withLastText(end.message) }
      default:
        return { status: "failed", text: this.#withLastText(end.why) }
    }
  }

  #withLastText(why: string): string {
    return this.#lastText === "" ? why : `${why} The last thing it wrote:\n\n${this.#lastText}`
  }
}
