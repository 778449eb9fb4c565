/**
 * Layer 6: merges, corrects and organizes memories while nobody waits for it. A dream is one such memory consolidation. It starts in the
 * background when its conditions are met, or immediately on request. It can be watched, ended, reviewed and undone.
 *
 * `dream.ts` runs one dream: permit, copy, `consolidate/`, `check/`, install. `due.ts` has the conditions.
 */
import { utcDay } from "../../base/clock.ts"
import { errorMessage } from "../../base/errors.ts"
import type { DailyBudget } from "../../journal/store.ts"
import type { MemoryBank } from "../../memory/bank.ts"
import type { Memory } from "../../memory/memory.ts"
import type { ModelResponse, StreamLimits } from "../../model/model.ts"
import { describeDailyLimit } from "../budget.ts"
import type { Consolidate } from "./consolidate/consolidate.ts"
import { cannotStart, type DreamEnd, type DreamStep, NOTHING_TO_DO, runDream } from "./dream.ts"
import { type DreamKillResult, type DreamState, DreamTask, killDream, readDreamState } from "./dream-task.ts"
import { checkGates, type DreamGate, type GateFigures, type GateResult, hasWork } from "./due.ts"
import {
  diffOf,
  dropPending,
  type InstalledDream,
  installDream,
  type PendingDream,
  readPending,
  withCurrentBase,
} from "./install.ts"
import { DREAM_FILES, type DreamContext, readJson, writeStateFile } from "./state-files.ts"
import type { PastConversations } from "./transcripts.ts"

export interface DreamingOptions extends DreamContext {
  readonly bank: MemoryBank
  /** Directory of the project. */
  readonly project: string
  /** Conversations of the project. */
  readonly past?: PastConversations
  readonly consolidate: Consolidate
  /** Cost of memory work of all processes. Without it, there is no daily limit. */
  readonly daily?: DailyBudget
  /** Returns the cost of responses. */
  readonly dollarsFor?: (responses: readonly ModelResponse[]) => number
  /** Expected cost of a dream about memories of this many tokens. Without it, a dream is free. */
  readonly expectedDollars?: (tokens: number) => number
  /** Whether every change waits for the user's consent. */
  readonly asksFirst?: boolean
  /** For tests that end the dream or the process at a step. */
  readonly atStep?: (step: DreamStep) => void | Promise<void>
}

export interface DreamFigures extends GateFigures {
  readonly maxTurns: number
  /** Maximum dollars per day. */
  readonly dailyLimit: number
}

interface DreamRequest {
  readonly figures: DreamFigures
  /** Whether a user asked for the dream. Then only the permit is required. */
  readonly force?: boolean
  /** The conversation that starts the dream. It does not count as another one. */
  readonly conversation?: string
  /** Reason of the caller to postpone a dream that is due. */
  readonly hold?: DreamPostponement | undefined
  /** Reserves the expected cost in dollars. Without it, a dream may cost any amount. */
  readonly takeShare?: ((expected: number) => Promise<DreamReservation>) | undefined
  readonly patience?: StreamLimits
  readonly signal?: AbortSignal
}

export type DreamReservation =
  | { readonly state: "taken"; readonly settle: (dollars: number) => Promise<void> }
  | { readonly state: "wait"; readonly message: string }

/** Reason to postpone a dream that is due. `message` is a sentence for the user. */
export interface DreamPostponement {
  /** The conversation's share is used up, the provider's rate limit is low, or a message of the user waits. */
  readonly gate: "share" | "quota" | "waiting"
  readonly message: string
}

interface SkippedDream {
  readonly at: string
  readonly gate: DreamPostponement["gate"] | "daily-limit"
  readonly message: string
}

/** How a dream ended, or why it did not start. */
export type DreamResult =
  | DreamEnd
  /** The dream did not start. */
  | {
      readonly state: "skipped"
      readonly gate: DreamGate | DreamPostponement["gate"] | "running" | "unreviewed" | "nothing-to-do"
      readonly message: string
      readonly responses: readonly []
    }

export interface DreamOverview {
  /** The dream of this or another process: the running one, or the last. */
  readonly dream?: DreamState
  /** Time of the last consolidation. */
  readonly last?: Date
  /** A change that waits for consent. */
  readonly pending?: PendingDream
  /** Whether a dream could start now. */
  readonly gates: GateResult
  /** The last dream that was due and did not start, if no other has started since. */
  readonly skipped?: SkippedDream
  /** Dollars of today's memory work, and the limit. */
  readonly today?: { readonly spent: number; readonly limit: number }
}

/** Shows the consolidation of memories, ends it, and accepts or rejects a change that waits for consent. */
export class DreamController {
  readonly #options: DreamingOptions
  readonly #listeners = new Set<(state: DreamState) => void>()
  #task: DreamTask | undefined
  #isStarting = false

  /** @internal Every agent with a memory has one. */
  constructor(options: DreamingOptions) {
    this.#options = options
  }

  /** The dream of this process: the running one, or the last. */
  get state(): DreamState | undefined {
    return this.#task?.state
  }

  /** Calls back after every step of every dream of this process. Returns a function that stops it. */
  on(listener: (state: DreamState) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** @internal Use `agent.dream()`. */
  async dream(order: DreamRequest): Promise<DreamResult> {
    if (this.#isStarting) return skipped("running", "A dream is running already.")
    this.#isStarting = true
    try {
      return (await this.#obstacle(order)) ?? (await this.#runWithin(order))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === undefined) throw error
      this.#task = undefined
      return cannotStart(error)
    } finally {
      this.#isStarting = false
    }
  }

  /** Ends the dream of this process. */
  kill(): boolean {
    if (this.#task?.state.status !== "running") return false
    this.#task.kill()
    return true
  }

  /** Asks the dream of any process to end. */
  killAny(): Promise<DreamKillResult> {
    return this.kill() ? Promise.resolve({ state: "asked", id: this.#task!.state.id }) : killDream(this.#options)
  }

  /** @internal */
  async overview({ figures, conversation }: Pick<DreamRequest, "figures" | "conversation">): Promise<DreamOverview> {
    const { permit, stateFiles, clock, daily } = this.#options
    const [dream, { last }, pending, gates, skipped, spent, usedUp] = await Promise.all([
      readDreamState(this.#options),
      permit.state(),
      readPending(stateFiles),
      checkGates(this.#gatePlace(conversation), figures, { look: true }),
      readJson<SkippedDream>(stateFiles, DREAM_FILES.skipped),
      daily?.spentOn(utcDay(clock.now())),
      this.#usedUp(figures),
    ])
    const isNews = skipped && (!dream || skipped.at > dream.startedAt)
    return {
      gates: gates.open && usedUp ? { open: false, gate: usedUp.gate, reason: usedUp.message } : gates,
      ...(dream ? { dream } : {}),
      ...(last ? { last } : {}),
      ...(pending ? { pending } : {}),
      ...(isNews ? { skipped } : {}),
      ...(spent === undefined ? {} : { today: { spent, limit: figures.dailyLimit } }),
    }
  }

  /** The change that waits for consent, with a diff. */
  async review(): Promise<(PendingDream & { readonly diff: string }) | undefined> {
    const pending = await readPending(this.#options.stateFiles)
    return pending && { ...pending, diff: await diffOf(pending) }
  }

  /** Installs the change that waits. It keeps waiting if someone has edited the same lines since. */
  async accept(): Promise<InstalledDream | { readonly state: "none" }> {
    const { bank, stateFiles } = this.#options
    const pending = await readPending(stateFiles)
    if (!pending) return { state: "none" }
    const installed = await installDream(bank, await withCurrentBase(pending, (file) => bank.text(file)))
    if (installed.state !== "conflict") await dropPending(stateFiles)
    return installed
  }

  /** Rejects the change that waits. */
  async reject(): Promise<boolean> {
    const { stateFiles } = this.#options
    const pending = await readPending(stateFiles)
    await dropPending(stateFiles)
    return pending !== undefined
  }

  #gatePlace(conversation: string | undefined) {
    const { files, stateFiles, permit, clock, past } = this.#options
    return {
      ...{ files, stateFiles, permit, clock, conversations: async () => (await past?.list()) ?? [] },
      ...(conversation === undefined ? {} : { conversation }),
    }
  }

  async #obstacle({ figures, force = false, conversation, hold }: DreamRequest): Promise<DreamResult | undefined> {
    if (force) return (await this.#hasWork()) ? undefined : { state: "nothing", message: NOTHING_TO_DO, responses: [] }
    const gates = await checkGates(this.#gatePlace(conversation), figures)
    if (!gates.open) return skipped(gates.gate, gates.reason)
    if (await readPending(this.#options.stateFiles))
      return skipped("unreviewed", "The last dream waits for your consent. See strata dream review.")
    if (!(await this.#hasWork())) return skipped("nothing-to-do", NOTHING_TO_DO)
    const reason = hold ?? (await this.#usedUp(figures))
    return reason && this.#skip(reason)
  }

  async #skip(reason: Omit<SkippedDream, "at">): Promise<DreamResult> {
    const { clock, stateFiles } = this.#options
    const record: SkippedDream = { at: clock.now().toISOString(), ...reason }
    // the reason is only informational; a full disk must not fail the dream
    await writeStateFile(stateFiles, DREAM_FILES.skipped, `${JSON.stringify(record)}\n`).catch(() => undefined)
    return skipped(reason.gate, reason.message)
  }

  async #hasWork(): Promise<boolean> {
    const { clock, bank, files, stateFiles, permit, project } = this.#options
    const { last } = await permit.state()
    return hasWork({ bank, files, stateFiles, project, last, now: clock.now() })
  }

  async #usedUp({ dailyLimit }: DreamFigures): Promise<{ gate: "daily-limit"; message: string } | undefined> {
    const { daily, clock } = this.#options
    const spent = (await daily?.spentOn(utcDay(clock.now()))) ?? 0
    if (!daily || spent < dailyLimit) return undefined
    return { gate: "daily-limit", message: `No dream now: ${describeDailyLimit(spent, dailyLimit)}` }
  }

  async #runWithin(order: DreamRequest): Promise<DreamResult> {
    const { force = false, takeShare } = order
    if (force || !takeShare) return this.#run(order)
    const { bank, expectedDollars = () => 0, dollarsFor = () => 0 } = this.#options
    const share = await takeShare(expectedDollars(tokensIn(await bank.all())))
    if (share.state === "wait") return this.#skip({ gate: "share", message: share.message })
    let dollars = 0
    try {
      const end = await this.#run(order)
      dollars = dollarsFor(end.responses)
      return end
    } finally {
      await share.settle(dollars)
    }
  }

  async #run({ figures, patience, signal }: DreamRequest): Promise<DreamEnd> {
    const { daily, ...work } = this.#options
    const { clock, stateFiles, dollarsFor } = work
    const onChange = (state: DreamState) => {
      for (const listener of this.#listeners) listener(state)
    }
    const task = new DreamTask({ clock, notes: stateFiles, onChange })
    this.#task = task
    const end = await runDream({
      ...{ ...work, task, patience },
      maxTurns: figures.maxTurns,
      signal: signal ?? new AbortController().signal,
    })
    if (end.state === "locked") this.#task = undefined
    if (!daily || !dollarsFor || end.responses.length === 0) return end
    return daily.add(dollarsFor(end.responses), utcDay(clock.now())).then(
      () => end,
      (error: unknown) => ({ ...end, message: `${end.message} Its cost could not be counted. ${errorMessage(error)}` }),
    )
  }
}

const CHARACTERS_PER_TOKEN = 4

const tokensIn = (memories: readonly Memory[]): number =>
  memories.reduce((sum, { description, body }) => sum + description.length + body.length, 0) / CHARACTERS_PER_TOKEN

const skipped = (gate: Extract<DreamResult, { state: "skipped" }>["gate"], message: string): DreamResult => ({
  state: "skipped",
  gate,
  message,
  responses: [],
})
