/** An agent: asks the model, runs tools with permission, and records the conversation. Created by `openAgent`. */
import type { Clock } from "../base/clock.ts"
import type { PermissionMode } from "../base/enums.ts"
import { BusyError, ClosedError, CompactionFailedError } from "../base/errors.ts"
import type { Telemetry } from "../base/telemetry.ts"
import { type Conversation, engineOf } from "../conversation/conversation.ts"
import type { EditorState } from "../conversation/editor.ts"
import type { DailyBudget } from "../journal/store.ts"
import type { DreamController, DreamResult } from "../layers/6-dreaming/dreaming.ts"
import type { Content } from "../messages/blocks.ts"
import type { Uuid } from "../messages/messages.ts"
import { isRateLimit, RateLimitedError } from "../model/errors.ts"
import type { Model, RequestSlot } from "../model/model.ts"
import type { CostBudget } from "../model/spending/budget.ts"
import { fitsModel, type Thresholds } from "../tokens/window.ts"
import type { BackgroundShell, OpenToolset, ToolServer } from "../tools/tool.ts"
import type { AgentMemory, RememberResult } from "./agent-memory.ts"
import { hookReports, type RunHooks } from "./hooks/hooks.ts"
import type { InstructionWatch } from "./instructions/instruction-watch.ts"
import type { AgentLinks } from "./loop/agent-links.ts"
import type { AgentState } from "./loop/agent-state.ts"
import type { CacheKeeper } from "./loop/keep-warm.ts"
import { NoAnswerError } from "./loop/no-answer.ts"
import { pendingIntroductions } from "./loop/pending-notices.ts"
import { query } from "./loop/query.ts"
import type { QueryEnd, QueryEvent } from "./loop/query-events.ts"
import type { ToolRun } from "./loop/run-tools.ts"
import { withSideEvents } from "./loop/side-events.ts"
import { UserInput } from "./loop/user-input.ts"
import type { DuringCommand } from "./memory-writes.ts"
import { type AskOptions, checkAskOptions, checkMode, checkRule, type SingleAgentOptions } from "./options.ts"
import type { UserCommand, UserCommandEnd } from "./permissions/user-command.ts"
import { runForUser, type UserCall, type UserCallEnd } from "./permissions/user-command.ts"

/** A final answer with its cost. */
export interface Answer {
  readonly text: string
  /** Cost in dollars. Absent if the price of a model is unknown. */
  readonly cost?: number
  /** Number of requests to the model. */
  readonly turns: number
}

interface AgentDependencies {
  readonly conversation: Conversation
  readonly model: Model
  readonly toolset: Required<OpenToolset>
  readonly memory: AgentMemory
  readonly duringCommand: DuringCommand
  readonly dreaming: DreamController | undefined
  readonly state: AgentState
  readonly runHooks: RunHooks
  readonly instructions: InstructionWatch
  readonly clock: Clock
  readonly telemetry: Telemetry
  readonly askPermission: SingleAgentOptions["askPermission"]
  readonly agentLinks: AgentLinks | undefined
  readonly isSubAgent: boolean
  /** Cost budget of this agent and its sub-agents. */
  readonly budget: CostBudget
  /** Today's budget for the project's memory work. `undefined` if memory may not be written. */
  readonly daily: DailyBudget | undefined
  /** Default cost limit of a query. */
  readonly costLimit: number | undefined
  /** Whether no user is present to answer. */
  readonly isAutonomous: boolean
  /** Keeps the server's cache warm during pauses. */
  readonly keeper: CacheKeeper | undefined
  /** Set if the model's server processes one request at a time. */
  readonly slot: RequestSlot | undefined
  readonly startedBy: "startup" | "clear"
  /** Aborts running queries and hooks when the agent closes. */
  readonly closing: AbortController
  /** Sentences about what was not applied at opening: settings, a mode, instruction files. */
  readonly openingProblems: () => readonly string[]
}

export class Agent implements AsyncDisposable {
  readonly conversation: Conversation
  readonly #parts: AgentDependencies
  readonly #problems: string[] = []
  /** Reason why a hook stopped the session at its start. */
  #stopped: string | undefined
  #closing: Promise<void> | undefined
  #isWorking = false
  readonly #user: UserInput

  /** @internal Use `openAgent`. */
  constructor(parts: AgentDependencies) {
    this.#parts = parts
    this.conversation = parts.conversation
    const { conversation, instructions, isSubAgent, closing } = parts
    this.#user = new UserInput({
      ...{ conversation, instructions, isSubAgent },
      toolRun: () => ({ ...this.#toolRun(), signal: closing.signal, conversation: conversation.id }),
      isWorking: () => this.#isWorking,
    })
  }

  get model(): Model {
    return this.#parts.model
  }

  /** @internal The parts that this agent shares with its sub-agents. */
  get shared(): Pick<
    AgentDependencies,
    "toolset" | "state" | "askPermission" | "telemetry" | "budget" | "daily" | "duringCommand"
  > {
    return this.#parts
  }

  /** @internal The servers that provide tools, with their current state. */
  get servers(): readonly ToolServer[] {
    return this.#parts.toolset.servers()
  }

  /** @internal The skills that the model can use, by name. */
  get skills(): readonly { readonly name: string; readonly description?: string }[] {
    return this.#parts.toolset.introductions.flatMap((one) => (one.type === "skill_listing" ? one.skills : []))
  }

  /** @internal Commands that run in the background. */
  get shells(): readonly BackgroundShell[] {
    return this.#parts.toolset.shells()
  }

  get mode(): PermissionMode {
    return this.#parts.state.policy.mode
  }

  /**
   * Problems found at opening and messages of start hooks: untrusted project settings, a mode that a resume ended, omitted instruction
   * files, MCP servers that did not start, unreadable skills, failed hooks.
   */
  get problems(): readonly string[] {
    return [...this.#parts.openingProblems(), ...this.#parts.toolset.problems, ...this.#problems]
  }

  /** Changes the mode at once. Resolves when the change is in the journal. The model is informed with the next request. */
  setMode(mode: PermissionMode): Promise<void> {
    checkMode(mode)
    return this.#parts.state.setMode(mode)
  }

  /** Sets what the user's editor shows: its file or the selected lines. The model receives it with the next message, once per change. */
  showEditor(state: EditorState | undefined): void {
    this.#parts.state.editor = state
  }

  /** Adds an allow rule for the rest of this conversation. */
  allow(rule: string): void {
    checkRule(rule)
    this.#parts.state.allow(rule)
  }

  /** Runs a query and resolves with the final answer. Throws if it fails. */
  async ask(prompt: Content, options: AskOptions = {}): Promise<Answer> {
    checkAskOptions("ask", options)
    const before = this.conversation.ledger().dollars
    let done: Extract<QueryEvent, { type: "done" }> | undefined
    for await (const event of this.query(prompt, options)) if (event.type === "done") done = event
    if (done?.reason === "aborted") options.signal?.throwIfAborted()
    if (done?.reason === "aborted" && this.#closing) throw new ClosedError()
    if (done?.reason !== "answer") throw new NoAnswerError(done ?? { reason: "aborted" })
    const { dollars, unpriced } = this.conversation.ledger()
    const cost = unpriced.length > 0 ? {} : { cost: dollars - before }
    return { text: done.text, turns: done.turns, ...cost }
  }

  /**
   * Runs a query and yields its events. Without a prompt it continues an interrupted query. An error is an event, and is also thrown after
   * the last event unless you call its `take()`.
   */
  query(prompt?: Content, options: AskOptions = {}): AsyncGenerator<QueryEvent, QueryEnd> {
    checkAskOptions("query", options)
    return this.#alone(this.#query(prompt, options))
  }

  /** Allows one query at a time: concurrent queries would answer each other's tool calls. */
  async *#alone(events: AsyncGenerator<QueryEvent, QueryEnd>): AsyncGenerator<QueryEvent, QueryEnd> {
    if (this.#isWorking) throw new BusyError()
    this.#isWorking = true
    const { telemetry, model, keeper, slot } = this.#parts
    const release = slot?.claim()
    const { name, provider } = model
    const trace = telemetry.query({ conversation: this.conversation.id, model: name, provider })
    let end = "aborted" // default, because the reader may leave at any event
    try {
      for (;;) {
        const { value, done } = await trace.within(() => events.next())
        if (done) return value
        if (value.type === "done") end = value.reason
        this.#noteQuota(value)
        yield value
      }
    } finally {
      trace.ended(end)
      release?.()
      await events.return({ reason: "aborted" })
      if (end === "aborted") keeper?.stop()
      this.#isWorking = false
      if (!this.#closing) await this.#user.keepCommands()
    }
  }

  /** Pauses background work while the provider's rate limits are exhausted. */
  #noteQuota(event: QueryEvent): void {
    const isRefused =
      (event.type === "retry" && isRateLimit(event.reason)) ||
      (event.type === "error" && event.error instanceof RateLimitedError)
    if (isRefused) this.#parts.memory.quotaRefused(this.#parts.clock.now())
  }

  #query(prompt: Content | undefined, options: AskOptions): AsyncGenerator<QueryEvent, QueryEnd> {
    const { model, toolset, instructions } = this.#parts
    toolset.later.wake()
    return query(prompt, {
      conversation: this.conversation,
      model,
      onLimits: (limits) => this.#parts.memory.quotaLeft(limits),
      attachmentsFor: async (touched) => {
        const attachments = await instructions.due(touched)
        return { attachments, problems: instructions.newProblems() }
      },
      tools: this.#toolRun(),
      typed: this.#user.typed,
      isSubAgent: this.#parts.isSubAgent,
      budget: this.#parts.budget,
      ...(this.#parts.costLimit === undefined ? {} : { costLimit: this.#parts.costLimit }),
      isAutonomous: this.#parts.isAutonomous,
      ...(this.#parts.agentLinks ? { agentLinks: this.#parts.agentLinks } : {}),
      ...(this.#parts.keeper ? { keeper: this.#parts.keeper } : {}),
      ...(this.#stopped === undefined ? {} : { stopped: this.#stopped }),
      ...options,
      signal: AbortSignal.any([this.#parts.closing.signal, ...(options.signal ? [options.signal] : [])]),
    })
  }

  #toolRun(): Omit<ToolRun, "signal" | "conversation"> {
    const { toolset, runHooks, telemetry, clock, state, askPermission } = this.#parts
    return {
      get tools() {
        return toolset.tools // more tools may arrive while the agent works
      },
      runHooks,
      telemetry,
      context: state.toolContext,
      policy: () => state.policy,
      refusals: state.refusals,
      now: () => clock.now().getTime(),
      ...(askPermission ? { askPermission } : {}),
    }
  }

  /** Runs an operation on the conversation, such as a compaction, and yields what it reports as query events. */
  watch<Result>(work: () => Promise<Result>): AsyncGenerator<QueryEvent, Result> {
    // biome-ignore lint/correctness/useYield: the events come from the conversation
    async function* working(): AsyncGenerator<QueryEvent, Result> {
      return work()
    }
    return withSideEvents(working(), this)
  }

  /** @internal Runs a tool call for the user, with rules, hooks and questions. It does not become part of the conversation. */
  runForUser(call: UserCall, signal: AbortSignal): Promise<UserCallEnd> {
    const closing = AbortSignal.any([this.#parts.closing.signal, signal])
    return runForUser(call, { ...this.#toolRun(), signal: closing, conversation: this.conversation.id })
  }

  /**
   * Queues a message that the user typed while the agent works. It is sent with the next request. Throws if a UserPromptSubmit hook blocks
   * it; the message is then not stored.
   */
  enqueue(text: string, options: { readonly mentions?: boolean; readonly written?: string } = {}): Promise<Uuid> {
    return this.#user.enqueue(text, options)
  }

  /**
   * @internal Runs a shell command for the user. Its output is added to the conversation at once, or with the next request while the agent
   * works.
   */
  runCommand(command: UserCommand): Promise<UserCommandEnd> {
    return this.#user.runCommand(command)
  }

  /** Controls memory consolidation and reports its progress. `undefined` if the memory is off or read-only. */
  get dreaming(): DreamController | undefined {
    return this.#parts.dreaming
  }

  /**
   * Consolidates the memory now and records its cost in the journal. Only another dream can prevent it. `undefined` if the memory is
   * read-only.
   */
  dream(): Promise<DreamResult | undefined> {
    return this.#parts.memory.dream()
  }

  /** The running extraction of memories from recent messages. Never rejects. */
  get extracting(): Promise<void> | undefined {
    return this.#parts.memory.extracting
  }

  /** Saves a memory at the user's request, effective at once. Throws if it contains a secret, or if the memory is off. */
  remember(text: string): Promise<RememberResult> {
    return this.#parts.memory.remember(text)
  }

  /** Prepares a switch to another model: compacts with the present model if the conversation would not fit. */
  async makeRoomFor(target: Model, { signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
    const { conversation } = this
    const { window, views } = engineOf(conversation)
    const limits = window.of(target)
    if (fitsModel(conversation.windowUsage().used, limits)) return
    const fixed = views.context.promptTokens
    if (!fitsModel(fixed, limits)) throw noRoom(target, { limits, taken: `instructions and tools alone take ${fixed}` })
    await conversation.compact({ trigger: "auto", target: limits }, signal ? { signal } : {})
    const { used } = conversation.windowUsage()
    if (!fitsModel(used, limits)) throw noRoom(target, { limits, taken: `the summary left ${used}` })
  }

  /** @internal */
  async start(): Promise<void> {
    const { instructions, toolset, runHooks } = this.#parts
    const { conversation } = this
    const { resumed } = conversation.openResult
    const { context } = engineOf(conversation).views
    const before = context.storedMessages()
    instructions.remember(before, context.prompt?.context)
    if (!this.#parts.isSubAgent) {
      for (const path of instructions.paths) {
        const eventFields = { file_path: path, load_reason: "session_start" }
        this.#problems.push(...hookReports(await runHooks("InstructionsLoaded", { eventFields })))
      }
      const source = resumed ? "resume" : this.#parts.startedBy
      const outcome = await runHooks("SessionStart", { eventFields: { source, model: this.model.name } })
      this.#problems.push(...hookReports(outcome))
      this.#stopped = outcome.stop
      for (const { hook, text } of outcome.contexts)
        await conversation.attach({ type: "hook_output", hook, content: text })
    }
    const introductions = pendingIntroductions(toolset.introductions, {
      messages: before,
      isCompacted: engineOf(conversation).views.compactions.count > 0,
    })
    for (const attachment of introductions) await conversation.attach(attachment)
  }

  /** Closes the conversation and everything the agent opened, such as shells and MCP servers. Further calls have no effect. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #close(): Promise<void> {
    this.#parts.closing.abort()
    this.#parts.keeper?.stop()
    try {
      await this.#parts.agentLinks?.close()
      if (!this.#parts.isSubAgent) await this.#parts.runHooks("SessionEnd", { eventFields: { reason: "exit" } })
      await this.conversation.close()
    } finally {
      await this.#parts.toolset.close()
      await this.#parts.memory.close() // after the toolset is closed, so that no command is running
    }
  }
}

function noRoom({ name }: Model, { limits, taken }: { readonly limits: Thresholds; readonly taken: string }) {
  return new CompactionFailedError(
    "out-of-reach",
    `The conversation cannot continue with ${name}: it takes ${limits.limit} tokens, and ${taken}. Everything is kept.`,
  )
}
