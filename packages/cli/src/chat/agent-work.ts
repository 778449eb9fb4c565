/** Runs the agent: starts and interrupts queries, delivers queued messages, and updates the screen meanwhile. */
import type { QueryEvent } from "@strata/core"
import { internalsOf } from "@strata/core/conversation"
import { type CompactionEnd, type CompactionWork, compactingEvents } from "../compact-request.ts"
import { titleFrom } from "../conversation-names.ts"
import type { SessionAgent, Workspace } from "../session.ts"
import { queuedOf, statusOf, workingAgents } from "./snapshot.ts"
import type { ChatStore } from "./store.ts"

/** Events that may change the status line. */
const STATUS_EVENTS: ReadonlySet<QueryEvent["type"]> = new Set([
  "request",
  "response",
  "tool-result",
  "compacted",
  "done",
])

interface LayerReport {
  readonly tone: "plain" | "warning"
  readonly text: string
}

export interface AgentWorkOptions {
  readonly store: ChatStore
  /** Returns the current agent, which changes with the model and the conversation. */
  readonly agent: () => SessionAgent
  readonly limits: Workspace["limits"]
}

export class AgentWork {
  readonly #store: ChatStore
  readonly #agent: () => SessionAgent
  readonly #limits: Workspace["limits"]
  #interruption: AbortController | undefined
  #isClosing = false
  /** Whether events of a query or a compaction are being shown. They include what the layers report. */
  #isFollowing = false
  /** Reports that no event of the query has shown yet. */
  #unshown: LayerReport[] = []
  #running: Promise<void> = Promise.resolve()
  /** After an interruption or an error, reports of other agents are held back until the user's next message. */
  #waitsForUser = false

  constructor({ store, agent, limits }: AgentWorkOptions) {
    this.#store = store
    this.#agent = agent
    this.#limits = limits
  }

  get isBusy(): boolean {
    return this.#interruption !== undefined
  }

  /** Shows reports of the layers, including those after the end of a query. Returns a function that stops it. */
  watch(): () => void {
    const { conversation: chat } = this.#agent()
    const stops = [
      chat.on("layerActed", ({ message }) => {
        if (message !== undefined) this.#report({ tone: "plain", text: message })
        else if (!this.#isClosing) this.refresh() // the action may have cost something
      }),
      chat.on("layerFailed", ({ layer, reason }) => this.#report({ tone: "warning", text: `${layer}: ${reason}` })),
      chat.on("notice", ({ message }) => this.#report({ tone: "warning", text: message })),
      chat.on("compaction", (progress) => {
        if (progress.phase === "message") this.#report({ tone: "plain", text: progress.message })
      }),
      this.#watchAgents(),
    ]
    return () => {
      for (const stop of stops) stop()
    }
  }

  /** Sub-agents start and end independently of the query. A report that arrives while the agent is idle starts the next query. */
  #watchAgents(): () => void {
    const { team } = this.#agent()
    const { signal, abort } = createStopper()
    const watch = async () => {
      while (team && !signal.aborted) {
        await team.mail.nextChange(signal)
        if (signal.aborted || this.#isClosing) return
        this.#store.dismissSubAgents(this.#working())
        this.refresh()
        if (!this.isBusy && !this.#waitsForUser && team.inbound.hasAny) this.#start(undefined)
      }
    }
    void watch().catch((error: unknown) => this.#store.fail(error))
    return abort
  }

  #working(): readonly string[] {
    return workingAgents(this.#agent()).map(({ name }) => name)
  }

  #report(report: LayerReport): void {
    if (this.#isFollowing) this.#unshown.push(report)
    else this.#show(report)
  }

  #show({ text, tone }: LayerReport): void {
    this.#store.say(text, tone)
    if (!this.#isClosing) this.refresh()
  }

  /** Interrupts the work and waits until it has ended. */
  async close(): Promise<void> {
    this.#isClosing = true
    this.interrupt()
    await this.#running
  }

  /** Stops the agent. Everything it has done so far is kept. */
  interrupt(): void {
    if (!this.#interruption) return
    this.#interruption.abort()
    this.#store.dispatch({ type: "work", work: { type: "interrupting" } })
    this.#store.dismissAgent()
  }

  /**
   * Sends a message. `written` is the part that the user typed, if a slash command added the rest. While the agent works, the message is
   * journaled at once and delivered at the next turn. If it cannot be recorded, for example because a hook blocks it, it goes back to the
   * input.
   */
  async send(text: string, written = text): Promise<void> {
    this.#waitsForUser = false
    if (!this.#interruption) return this.#start(text, written)
    try {
      await this.#agent().enqueue(text, { mentions: true, ...(written === text ? {} : { written }) })
    } catch (error) {
      return this.#store.giveBack(text, error)
    }
    this.refresh()
    if (!this.#interruption) this.#start(undefined)
  }

  /** Runs work that is not a query. Messages typed meanwhile are answered afterwards, whatever the outcome. */
  async occupy(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    this.#interruption = new AbortController()
    const running = work(this.#interruption.signal)
    this.#running = running.catch(() => undefined).then(() => this.#rest(true)) // the caller reports the failure
    await running
  }

  async compact(compacting: Omit<CompactionWork, "agent">): Promise<CompactionEnd> {
    const end = await this.#follow(compactingEvents({ agent: this.#agent(), ...compacting }))
    if (end.kind === "given-up") this.#store.say("Cancelled. Nothing was changed.", "plain")
    return end
  }

  /** Updates the status line and the queued messages. */
  refresh(): void {
    const agent = this.#agent()
    this.#store.dispatch({ type: "status", status: statusOf(agent), queued: queuedOf(agent) })
  }

  #start(prompt: string | undefined, written = prompt): void {
    this.#interruption = new AbortController()
    const { signal } = this.#interruption
    let isKept = false
    const onKept = () => {
      isKept = true
    }
    const userText = written === undefined ? {} : { written }
    const events = this.#agent().query(prompt, { ...this.#limits, signal, mentions: true, ...userText })
    this.#running = this.#follow(events, onKept)
      .then(({ reason }) => {
        this.#waitsForUser = reason !== "answer"
        if (reason === "error" && !isKept && prompt !== undefined) this.#store.putBack(prompt)
        return reason === "answer" || reason === "aborted"
      })
      .catch((error: unknown) => {
        this.#waitsForUser = true
        this.#store.fail(error)
        return false
      })
      .then((mayGoOn) => this.#rest(mayGoOn))
  }

  /** Shows the events and resolves with the final value. */
  async #follow<End>(events: AsyncGenerator<QueryEvent, End>, onKept = () => {}): Promise<End> {
    this.#store.dispatch({ type: "work", work: { type: "working", since: Date.now() } })
    this.#isFollowing = true
    try {
      for (;;) {
        const { value, done } = await events.next()
        if (done) return value
        this.#store.dispatch({ type: "event", event: value, at: Date.now() })
        this.#shown(value)
        if (value.type === "user") {
          onKept()
          await this.#nameOnce(value.text)
        }
        if (STATUS_EVENTS.has(value.type)) this.refresh()
      }
    } finally {
      this.#isFollowing = false
      for (const report of this.#unshown.splice(0)) this.#show(report)
    }
  }

  /** Removes a pending report that an event has just shown. */
  #shown(event: QueryEvent): void {
    const text =
      event.type === "notice"
        ? event.message
        : event.type === "compaction" && event.progress.phase === "message"
          ? event.progress.message
          : undefined
    const at = this.#unshown.findIndex((report) => report.text === text)
    if (at >= 0) this.#unshown.splice(at, 1)
  }

  /** Queued messages and reports of other agents start the next query, unless nothing more can be sent. */
  #rest(mayGoOn: boolean): void {
    this.#interruption = undefined
    this.#store.dismissAgent(this.#working())
    this.#store.dispatch({ type: "work", work: { type: "idle" } })
    if (!mayGoOn || this.#isClosing) return
    const { conversation, team } = this.#agent()
    const hasReports = !this.#waitsForUser && (team?.inbound.hasAny ?? false)
    if (hasReports || internalsOf(conversation).views.context.queued.length > 0) this.#start(undefined)
  }

  async #nameOnce(message: string): Promise<void> {
    const { conversation: chat } = this.#agent()
    if (internalsOf(chat).views.context.session?.title === undefined) await chat.setTitle(titleFrom(message))
  }
}

function createStopper(): { readonly signal: AbortSignal; readonly abort: () => void } {
  const controller = new AbortController()
  return { signal: controller.signal, abort: () => controller.abort() }
}
