/**
 * Layer 6: memories are merged, corrected and put in order while no one waits for it. A dream starts in the background when the gates are
 * open, or at once when a person asks. It can be watched, ended, reviewed and taken back.
 */
import { dirname } from "node:path"
import type { Clock } from "../../base/clock.ts"
import type { MemoryFiles } from "../../journal/memory-files.ts"
import type { MemoryBank } from "../../memory/bank.ts"
import type { ModelResponse } from "../../model/model.ts"
import type { StreamLimits } from "../../model/stream-limits.ts"
import { readConsolidationLock } from "./consolidate-lock.ts"
import type { Consolidate } from "./consolidation.ts"
import { type DreamEnd, type DreamStep, runDream } from "./dream.ts"
import { type DreamPlaces, dreamPlaces } from "./dream-places.ts"
import { type DreamState, DreamTask, type KillAnswer, killDream, readDreamState } from "./dream-task.ts"
import { checkGates, type GateAnswer, type GateFigures, type GateName } from "./gates.ts"
import { type Installed, installDream } from "./install.ts"
import { diffOf, dropPending, type PendingDream, readPending } from "./pending.ts"

export interface DreamingOptions {
  readonly bank: MemoryBank
  readonly files: MemoryFiles
  /** Of the memory. */
  readonly directory: string
  /** The project's directory. */
  readonly project: string
  /** Directories with the project's journals, besides the one that the memory is in. */
  readonly journals?: readonly string[]
  readonly clock: Clock
  readonly consolidate: Consolidate
  /** What memory work has cost today, over all processes. Absent: there is no daily limit. */
  readonly daily?: DailyBudget
  /** Every change waits for the person's consent. */
  readonly asksFirst?: boolean
  /** For tests that end the dream or the process at a step. */
  readonly atStep?: (step: DreamStep) => void | Promise<void>
}

export interface DailyBudget {
  today(now: Date): Promise<number>
  add(dollars: number, now: Date): Promise<void>
  dollarsFor(responses: readonly ModelResponse[]): number
}

export interface DreamFigures extends GateFigures {
  readonly maxTurns: number
  /** Dollars. */
  readonly dailyLimit: number
}

export interface DreamOrder {
  readonly figures: DreamFigures
  /** A person asked: no gate but the lock counts. */
  readonly force?: boolean
  /** The conversation that it starts from. It does not count as another one. */
  readonly conversation?: string
  readonly patience?: StreamLimits
  readonly signal?: AbortSignal
}

export type Dreamed =
  | DreamEnd
  /** It did not start. */
  | {
      readonly state: "skipped"
      readonly gate: GateName | "running" | "unreviewed" | "daily-limit"
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
  readonly gates: GateAnswer
}

export class Dreaming {
  readonly #options: DreamingOptions
  readonly #places: DreamPlaces
  readonly #listeners = new Set<(state: DreamState) => void>()
  #task: DreamTask | undefined
  #isStarting = false

  constructor(options: DreamingOptions) {
    this.#options = options
    this.#places = dreamPlaces(options.directory)
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

  /** Rejects only if the directories cannot be used at all. */
  async dream(order: DreamOrder): Promise<Dreamed> {
    if (this.#isStarting) return skipped("running", "A dream is running already.")
    this.#isStarting = true
    try {
      return (await this.#obstacle(order)) ?? (await this.#run(order))
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
  killAny(): Promise<KillAnswer> {
    return this.kill() ? Promise.resolve({ state: "asked", id: this.#task!.state.id }) : killDream(this.#places)
  }

  async overview({ figures, conversation }: Pick<DreamOrder, "figures" | "conversation">): Promise<DreamOverview> {
    const { directory, clock } = this.#options
    const [dream, { last }, pending, gates] = await Promise.all([
      readDreamState(this.#places),
      readConsolidationLock({ directory, clock }),
      readPending(this.#places),
      checkGates(this.#gatePlace(conversation), figures, { look: true }),
    ])
    return { gates, ...(dream ? { dream } : {}), ...(last ? { last } : {}), ...(pending ? { pending } : {}) }
  }

  /** The change that waits for consent, with a diff. */
  async review(): Promise<(PendingDream & { readonly diff: string }) | undefined> {
    const pending = await readPending(this.#places)
    return pending && { ...pending, diff: await diffOf(pending) }
  }

  /** Installs the change that waits. Where someone edited the same lines since, it stays pending. */
  async accept(): Promise<Installed | { readonly state: "none" }> {
    const pending = await readPending(this.#places)
    if (!pending) return { state: "none" }
    const installed = await installDream(this.#options.bank, pending)
    if (installed.state !== "conflict") await dropPending(this.#places)
    return installed
  }

  /** Drops the change that waits. */
  async reject(): Promise<boolean> {
    const pending = await readPending(this.#places)
    await dropPending(this.#places)
    return pending !== undefined
  }

  #gatePlace(conversation: string | undefined) {
    const { directory, clock } = this.#options
    return {
      ...{ directory, clock, journals: this.#journals(), scanned: this.#places.scanned },
      ...(conversation === undefined ? {} : { conversation }),
    }
  }

  /** The main working directory's journals are beside the memory. */
  #journals(): readonly string[] {
    return [dirname(this.#options.directory), ...(this.#options.journals ?? [])]
  }

  async #obstacle({ figures, force = false, conversation }: DreamOrder): Promise<Dreamed | undefined> {
    if (force) return undefined
    const gates = await checkGates(this.#gatePlace(conversation), figures)
    if (!gates.open) return skipped(gates.gate, gates.reason)
    if (await readPending(this.#places))
      return skipped("unreviewed", "The last dream waits for your consent. See strata dream review.")
    const { daily, clock } = this.#options
    const spent = (await daily?.today(clock.now())) ?? 0
    if (!daily || spent < figures.dailyLimit) return undefined
    const limit = `The memory work of today has cost $${spent.toFixed(2)}, and the limit is $${figures.dailyLimit}`
    return skipped("daily-limit", `${limit} (memory-daily-limit).`)
  }

  async #run({ figures, patience, signal }: DreamOrder): Promise<DreamEnd> {
    const { daily, clock, journals: _, ...work } = this.#options
    const task = new DreamTask({ clock, places: this.#places })
    this.#task = task
    task.on((state) => {
      for (const listener of this.#listeners) listener(state)
    })
    const end = await runDream({
      ...{ ...work, clock, task, patience },
      journals: this.#journals(),
      maxTurns: figures.maxTurns,
      signal: signal ?? new AbortController().signal,
    })
    if (end.state === "locked") this.#task = undefined
    if (daily && end.responses.length > 0) await daily.add(daily.dollarsFor(end.responses), clock.now())
    return end
  }
}

const skipped = (gate: Extract<Dreamed, { state: "skipped" }>["gate"], message: string): Dreamed => ({
  state: "skipped",
  gate,
  message,
  responses: [],
})
