/**
 * Layer 6: memories are merged, corrected and put in order while no one waits for it. A dream starts in the background when the gates are
 * open, or at once when a person asks. It can be watched, ended, reviewed and taken back.
 *
 * `dream.ts` is one dream: the lock, the copy, `consolidate/`, `check/`, the install. `due.ts` says when.
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
  /** The project's directory. */
  readonly project: string
  /** What was said in the project. */
  readonly past?: PastConversations
  readonly consolidate: Consolidate
  /** What memory work has cost, over all processes. Absent: there is no daily limit. */
  readonly daily?: DailyBudget
  /** What responses cost. */
  readonly dollarsFor?: (responses: readonly ModelResponse[]) => number
  /** What a dream about so many tokens of memories will cost. Absent: nothing. */
  readonly expectedDollars?: (tokens: number) => number
  /** Every change waits for the person's consent. */
  readonly asksFirst?: boolean
  /** For tests that end the dream or the process at a step. */
  readonly atStep?: (step: DreamStep) => void | Promise<void>
}

export interface DreamFigures extends GateFigures {
  readonly maxTurns: number
  /** Dollars. */
  readonly dailyLimit: number
}

interface DreamRequest {
  readonly figures: DreamFigures
  /** A person asked: no gate but the lock counts. */
  readonly force?: boolean
  /** The conversation that it starts from. It does not count as another one. */
  readonly conversation?: string
  /** Why it should wait although it is due, as far as the caller knows. */
  readonly hold?: DreamPostponement | undefined
  /** Takes the money for it: dollars. Absent: it may cost anything. */
  readonly takeShare?: ((expected: number) => Promise<DreamReservation>) | undefined
  readonly patience?: StreamLimits
  readonly signal?: AbortSignal
}

export type DreamReservation =
  | { readonly state: "taken"; readonly settle: (dollars: number) => Promise<void> }
  | { readonly state: "wait"; readonly message: string }

/** A reason to leave a dream that is due for later. `message` is a sentence for a person. */
export interface DreamPostponement {
  /** The conversation's share is used up, the provider's quota is short, or a message of the person waits. */
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
  /** It did not start. */
  | {
      readonly state: "skipped"
      readonly gate: DreamGate | DreamPostponement["gate"] | "running" | "unreviewed" | "nothing-to-do"
      readonly message: string
      readonly responses: readonly []
    }

export interface DreamOverview {
  /** The dream of this or another process, running or the last one. */
  readonly dream?: DreamState
  /** The time of the last consolidation. */
  readonly last?: Date
  /** A change that waits for consent. */
  readonly pending?: PendingDream
  /** Whether one could start now. */
  readonly gates: GateResult
  /** A dream that was due since the last one, and did not start. */
  readonly skipped?: SkippedDream
  /** Dollars. */
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

  /** The dream of this process, running or the last one. */
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

  /** Installs the change that waits. Where someone edited the same lines since, it stays pending. */
  async accept(): Promise<InstalledDream | { readonly state: "none" }> {
    const { bank, stateFiles } = this.#options
    const pending = await readPending(stateFiles)
    if (!pending) return { state: "none" }
    const installed = await installDream(bank, await withCurrentBase(pending, (file) => bank.text(file)))
    if (installed.state !== "conflict") await dropPending(stateFiles)
    return installed
  }

  /** Drops the change that waits. */
  async reject(): Promise<boolean> {
    const { stateFiles } = this.#options
    const pending = await readPending(stateFiles)
    await dropPending(stateFiles)
    return pending !== undefined
  }

  #gatePlace(conversation: string | undefined) {
    const { files, stateFiles, permit, clock, past } = this.#options
    return {
      ...{ files, notes: stateFiles, permit, clock, conversations: async () => (await past?.list()) ?? [] },
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
    // the reason is for a person who looks; a disk that is full is no reason to fail
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
