/** An agent at work: it asks the model, runs tools with permission, and keeps the conversation. `openAgent` makes one. */
import type { Clock } from "../base/clock.ts"
import { BusyError, ClosedError, CompactionFailedError } from "../base/errors.ts"
import type { Telemetry } from "../base/telemetry.ts"
import type { PermissionMode } from "../base/vocabulary.ts"
import { type Conversation, engineOf } from "../conversation/conversation.ts"
import type { EditorState } from "../conversation/editor.ts"
import type { Budget } from "../journal/store.ts"
import type { DreamController, DreamResult } from "../layers/6-dreaming/dreaming.ts"
import type { Content } from "../messages/blocks.ts"
import type { Uuid } from "../messages/messages.ts"
import { isRateLimit, RateLimitedError } from "../model/errors.ts"
import type { Model, Slot } from "../model/model.ts"
import type { CostBudget } from "../model/spending/budget.ts"
import { fitsModel, type Thresholds } from "../tokens/window.ts"
import type { BackgroundShell, OpenToolset, ToolServer } from "../tools/tool.ts"
import type { AgentMemory, Remembered } from "./agent-memory.ts"
import { type RunHooks, reportsOf } from "./hooks/hooks.ts"
import type { InstructionWatch } from "./instructions/instruction-watch.ts"
import type { AgentState } from "./loop/agent-state.ts"
import type { Companions } from "./loop/companions.ts"
import type { CacheKeeper } from "./loop/keep-warm.ts"
import { NoAnswerError } from "./loop/no-answer.ts"
import { UserSide } from "./loop/person-side.ts"
import { query } from "./loop/query.ts"
import type { QueryEnd, QueryEvent } from "./loop/query-events.ts"
import type { ToolRun } from "./loop/run-tools.ts"
import { withSideEvents } from "./loop/side-events.ts"
import { introductionsDue } from "./loop/what-is-due.ts"
import type { DuringCommand } from "./memory-writes.ts"
import { type AskOptions, checkAskOptions, checkMode, checkRule, type SingleAgentOptions } from "./options.ts"
import type { UserCommand, UserCommandEnd } from "./permissions/person-command.ts"
import { runForUser, type UserCall, type UserCallEnd } from "./permissions/person-command.ts"

/** A final answer, and what it took. */
export interface Answer {
  readonly text: string
  /** In dollars. Absent if the price of a model is unknown. */
  readonly cost?: number
  /** Requests to the model. */
  readonly turns: number
}

interface AgentParts {
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
  readonly companions: Companions | undefined
  readonly isSubAgent: boolean
  /** What this agent and all who work for it may spend. */
  readonly budget: CostBudget
  /** What memory work of the project has cost today. Absent where there is no memory to write. */
  readonly daily: Budget | undefined
  /** For queries that name no limit of their own. */
  readonly costLimit: number | undefined
  /** No one is there to answer. */
  readonly isAutonomous: boolean
  /** Keeps the server's cache warm in pauses. */
  readonly keeper: CacheKeeper | undefined
  /** Where the model's server works on one request at a time. */
  readonly slot: Slot | undefined
  readonly startedBy: "startup" | "clear"
  /** Aborts the queries and hooks that run when the agent closes. */
  readonly closing: AbortController
  /** Sentences about what was left out at the opening: settings, a mode, instruction files. */
  readonly leftOut: () => readonly string[]
}

export class Agent implements AsyncDisposable {
  readonly conversation: Conversation
  readonly #parts: AgentParts
  readonly #problems: string[] = []
  /** Why a hook does not let this session work. */
  #stopped: string | undefined
  #closing: Promise<void> | undefined
  #isWorking = false
  readonly #user: UserSide

  /** @internal Use `openAgent`. */
  constructor(parts: AgentParts) {
    this.#parts = parts
    this.conversation = parts.conversation
    const { conversation, instructions, isSubAgent, closing } = parts
    this.#user = new UserSide({
      ...{ conversation, instructions, isSubAgent },
      toolRun: () => ({ ...this.#toolRun(), signal: closing.signal, conversation: conversation.id }),
      isWorking: () => this.#isWorking,
    })
  }

  get model(): Model {
    return this.#parts.model
  }

  /** @internal What the agents that work for this one have from it. */
  get shared(): Pick<
    AgentParts,
    "toolset" | "state" | "askPermission" | "telemetry" | "budget" | "daily" | "duringCommand"
  > {
    return this.#parts
  }

  /** @internal The servers that tools come from, as they are now. */
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
   * What is missing, and what hooks said at the start: settings of the project that no one trusted, a mode that a resume ended, instruction
   * files that were left out, MCP servers that did not start, skills that cannot be read, hooks that failed.
   */
  get problems(): readonly string[] {
    return [...this.#parts.leftOut(), ...this.#parts.toolset.problems, ...this.#problems]
  }

  /** The mode changes at once. Resolves when it is in the journal. The model is informed with the next request. */
  setMode(mode: PermissionMode): Promise<void> {
    checkMode(mode)
    return this.#parts.state.setMode(mode)
  }

  /** What the person's editor shows: its file, or the lines that are selected. It is said with their next message, once for each change. */
  showEditor(state: EditorState | undefined): void {
    this.#parts.state.editor = state
  }

  /** Allows what a rule names for the rest of this conversation. */
  allow(rule: string): void {
    checkRule(rule)
    this.#parts.state.allow(rule)
  }

  /** Asks the agent for something and resolves with its final answer. Throws what went wrong. */
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
   * Asks the agent for something and yields what happens. Without a prompt it continues where it was interrupted. An error is an event of
   * its own, and is thrown after the last event unless you call its `take()`.
   */
  query(prompt?: Content, options: AskOptions = {}): AsyncGenerator<QueryEvent, QueryEnd> {
    checkAskOptions("query", options)
    return this.#alone(this.#query(prompt, options))
  }

  /** Two queries at once would answer each other's tool calls. */
  async *#alone(events: AsyncGenerator<QueryEvent, QueryEnd>): AsyncGenerator<QueryEvent, QueryEnd> {
    if (this.#isWorking) throw new BusyError()
    this.#isWorking = true
    const { telemetry, model, keeper, slot } = this.#parts
    const release = slot?.claim()
    const { name, provider } = model
    const trace = telemetry.query({ conversation: this.conversation.id, model: name, provider })
    let end = "aborted" // unless it says otherwise: the reader may leave at any event
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

  /** Background work waits while the provider's limits are near. */
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
      ...(this.#parts.companions ? { companions: this.#parts.companions } : {}),
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
        return toolset.tools // more may come while it works
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

  /** Runs work on the conversation, such as a compaction, and yields what it reports as events of a query. */
  watch<Result>(work: () => Promise<Result>): AsyncGenerator<QueryEvent, Result> {
    // biome-ignore lint/correctness/useYield: the events come from the conversation
    async function* working(): AsyncGenerator<QueryEvent, Result> {
      return work()
    }
    return withSideEvents(working(), this)
  }

  /** @internal Runs a call that the person asked for, with rules, hooks and questions. It is no part of the conversation. */
  runForUser(call: UserCall, signal: AbortSignal): Promise<UserCallEnd> {
    const closing = AbortSignal.any([this.#parts.closing.signal, signal])
    return runForUser(call, { ...this.#toolRun(), signal: closing, conversation: this.conversation.id })
  }

  /**
   * Keeps what the user types while the agent works. It is sent with the next request. Throws if a hook on UserPromptSubmit blocks it:
   * then it is not kept.
   */
  enqueue(text: string, options: { readonly mentions?: boolean; readonly written?: string } = {}): Promise<Uuid> {
    return this.#user.enqueue(text, options)
  }

  /** @internal Runs a command for the person. What it printed joins the conversation: at once, or with the next request while the agent works. */
  runCommand(command: UserCommand): Promise<UserCommandEnd> {
    return this.#user.runCommand(command)
  }

  /** Consolidates the memory, and shows a consolidation at work. Absent where the memory is off or may not be written. */
  get dreaming(): DreamController | undefined {
    return this.#parts.dreaming
  }

  /** Consolidates the memory now, and journals what it cost. Only another dream can prevent it. Nothing where the memory may not be written. */
  dream(): Promise<DreamResult | undefined> {
    return this.#parts.memory.dream()
  }

  /** The work under way that writes memories of what was just said. It never rejects. */
  get extracting(): Promise<void> | undefined {
    return this.#parts.memory.extracting
  }

  /** Keeps something for later conversations at once, in the person's name. Throws if it contains a secret, or if the memory is off. */
  remember(text: string): Promise<Remembered> {
    return this.#parts.memory.remember(text)
  }

  /** Before a switch to another model: compacts with the present model if the conversation would not fit. */
  async makeRoomFor(target: Model, { signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
    const { conversation } = this
    const limits = engineOf(conversation).window.of(target)
    if (fitsModel(conversation.windowUsage().used, limits)) return
    const fixed = conversation.views.context.promptTokens
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
    const { context } = conversation.views
    const before = context.storedMessages()
    instructions.remember(before, context.prompt?.context)
    if (!this.#parts.isSubAgent) {
      for (const path of instructions.paths) {
        const about = { file_path: path, load_reason: "session_start" }
        this.#problems.push(...reportsOf(await runHooks("InstructionsLoaded", { about })))
      }
      const source = resumed ? "resume" : this.#parts.startedBy
      const outcome = await runHooks("SessionStart", { about: { source, model: this.model.name } })
      this.#problems.push(...reportsOf(outcome))
      this.#stopped = outcome.stop
      for (const { hook, text } of outcome.contexts)
        await conversation.attach({ type: "hook_output", hook, content: text })
    }
    const introductions = introductionsDue(toolset.introductions, {
      messages: before,
      isCompacted: conversation.views.compactions.count > 0,
    })
    for (const attachment of introductions) await conversation.attach(attachment)
  }

  /** Closes the conversation and everything the agent opened: shells, MCP servers. Calling it again does nothing. */
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
      await this.#parts.companions?.close()
      if (!this.#parts.isSubAgent) await this.#parts.runHooks("SessionEnd", { about: { reason: "exit" } })
      await this.conversation.close()
    } finally {
      await this.#parts.toolset.close()
      await this.#parts.memory.close() // no command runs any more
    }
  }
}

function noRoom({ name }: Model, { limits, taken }: { readonly limits: Thresholds; readonly taken: string }) {
  return new CompactionFailedError(
    "out-of-reach",
    `The conversation cannot continue with ${name}: it takes ${limits.limit} tokens, and ${taken}. Everything is kept.`,
  )
}
