/** All views of one conversation, fed together. */
import { type CooperativeOptions, type CooperativeTask, pauseAfterSlice, runCooperatively } from "../base/work.ts"
import { type Entry, isMessage } from "../journal/entries.ts"
import type { Uuid } from "../messages/messages.ts"
import { usable } from "../messages/usable.ts"
import { createEstimator, type Estimator } from "../tokens/estimate.ts"
import type { ModelFacts, ModelOverride, TokenizerFamily } from "../tokens/models.ts"
import { type CacheHistory, cacheHistory } from "./cache/cache-history.ts"
import { ContextView } from "./context/context.ts"
import type { SavedContext } from "./context/context-state.ts"
import { type Ledger, ledger } from "./ledger/ledger.ts"
import type { PathPosition } from "./path.ts"
import type { Projection } from "./projection.ts"
import { type Artifacts, artifacts } from "./record/artifacts.ts"
import {
  type BlockIndex,
  blockIndex,
  type Compactions,
  compactions,
  type Limits,
  limits,
  type MemoryActivity,
  memories,
  type NotesState,
  notes,
  type UndoableDecisions,
  undoable,
} from "./record/decisions.ts"
import { type Names, names, type Results, results } from "./record/names.ts"
import {
  type Agents,
  agents,
  type ClientMessages,
  clientMessages,
  type WorkState,
  workState,
} from "./record/open-work.ts"
import { type Statements, statements } from "./record/statements.ts"
import { type UserMessages, userMessages } from "./record/user-messages.ts"

// View states as JSON: plain data is unchanged, and Maps become tagged lists.

const MAP = "$map"
/** Tag for plain data that itself has a tag as a key. */
const OBJECT = "$object"

export function toJson(value: unknown): unknown {
  if (value instanceof Map) return { [MAP]: [...value].map(([key, item]) => [key, toJson(item)]) }
  if (Array.isArray(value)) return value.map(toJson)
  if (typeof value !== "object" || value === null) return value
  const entries = Object.entries(value).map(([key, item]) => [key, toJson(item)] as const)
  return MAP in value || OBJECT in value ? { [OBJECT]: entries } : Object.fromEntries(entries)
}

export function fromJson(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(fromJson)
  if (typeof value !== "object" || value === null) return value
  const tagged = value as { [MAP]?: [unknown, unknown][]; [OBJECT]?: [string, unknown][] }
  if (tagged[MAP]) return new Map(tagged[MAP].map(([key, item]) => [key, fromJson(item)]))
  const entries = tagged[OBJECT] ?? Object.entries(value)
  return Object.fromEntries(entries.map(([key, item]) => [key, fromJson(item)]))
}

export interface ViewStates {
  words: UserMessages
  artifacts: Artifacts
  names: Names
  results: Results
  statements: Statements
  frontier: WorkState
  ledger: Ledger
  archive: BlockIndex
  compactions: Compactions
  notes: NotesState
  memories: MemoryActivity
  agents: Agents
  cacheHistory: CacheHistory
  undoable: UndoableDecisions
  limits: Limits
  followed: ClientMessages
}

export interface ViewOptions {
  readonly family: TokenizerFamily
  readonly models?: Readonly<Record<string, ModelOverride>>
  /** Whether the model can delete inside its cache. Default true: the view shows the state of the journal. */
  readonly editsCaches?: boolean
  /** Whether its server can clear its own copy. Default true. */
  readonly serverClears?: boolean
  /** The model whose signed summaries requests can contain. Default: none. */
  readonly signedFor?: string | undefined
  /** Update only these states and the context. The others stay empty, and there are no checkpoints. Default: all. */
  readonly only?: readonly (keyof ViewStates)[]
}

/** `sendsBetas`: whether requests reach the API with the beta headers that they name. */
export const viewOptions = (
  { id, family, accepts }: ModelFacts,
  { models, sendsBetas }: { readonly models: NonNullable<ViewOptions["models"]>; readonly sendsBetas: boolean },
): ViewOptions => ({
  family,
  models,
  editsCaches: accepts.cacheEditing,
  serverClears: accepts.contextManagement,
  signedFor: sendsBetas && accepts.signedSummaries ? id : undefined,
})

/** The views as they were right after the last boundary. */
interface Checkpoint {
  readonly version: number
  readonly boundary: string
  readonly context: SavedContext
  readonly states: Omit<ViewStates, SlowState> & Partial<ViewStates>
  /** Version of the slow states. Absent if they were not read yet. */
  readonly slow?: number
}

/** States that read every text. Opening leaves the past to them in the journal, and only compactions need them. */
type SlowState = "names" | "results" | "statements"
const SLOW: readonly SlowState[] = ["names", "results", "statements"]
type SlowStates = Pick<ViewStates, SlowState>

const CHECKPOINT_VERSION = 33 // increase it whenever the shape or the rules of a state change
const SLOW_VERSION = 1 // the same for the slow states

/** The part of the journal that the slow states have not read. */
export interface UnreadPast {
  /** Its entries, first to last, and whether each belongs to the conversation. */
  entries(): AsyncIterable<{ readonly entry: Entry; readonly isOnPath: boolean }>
  writeCheckpoint(checkpoint: unknown): Promise<void>
}

const MAX_PENDING = 500 // entries: a journal of gigabytes must not stay in memory
const BACKLOG_SIZE = 100 // entries: from this number on, applying them between turns is worthwhile

export class Views {
  readonly estimator: Estimator
  readonly context: ContextView
  readonly #projections: { readonly [K in keyof ViewStates]: Projection<ViewStates[K]> }
  readonly #fast: readonly (keyof ViewStates)[]
  readonly #hasSlow: boolean
  readonly #states: ViewStates
  readonly #undoneMessages = new Set<Uuid>()
  /** Entries that the slow states have not read, after the past. */
  readonly #pending: Entry[] = []
  #past: UnreadPast | undefined
  /** The newest checkpoint without the slow states. It is written with them once they have read the past. */
  #incomplete: unknown
  #reading: Promise<void> | undefined
  /** Number of callers that wait until the past has been read. */
  #waiting = 0

  constructor(options: ViewOptions, from?: Pick<Checkpoint, "context" | "states">) {
    this.estimator = createEstimator(options.family, from?.context.calibration)
    this.context = new ContextView(this.estimator, from?.context, options)
    this.#projections = {
      ...{
        words: userMessages,
        artifacts,
        names,
        results,
        statements,
        frontier: workState,
        archive: blockIndex,
        compactions,
        notes,
      },
      ...{ memories, agents, undoable, limits, followed: clientMessages },
      ledger: ledger(options.models),
      cacheHistory: cacheHistory(options.models),
    }
    const all = options.only ?? (Object.keys(this.#projections) as (keyof ViewStates)[])
    this.#fast = all.filter((name) => !isSlow(name))
    this.#hasSlow = all.length > this.#fast.length
    const started = Object.entries(this.#projections).map(([name, projection]) => [name, projection.start()])
    this.#states = { ...(Object.fromEntries(started) as ViewStates), ...from?.states }
  }

  get words(): UserMessages {
    return this.#states.words
  }
  get artifacts(): Artifacts {
    return this.#states.artifacts
  }
  get names(): Names {
    this.#applyPending()
    return this.#states.names
  }
  get results(): Results {
    this.#applyPending()
    return this.#states.results
  }
  get statements(): Statements {
    this.#applyPending()
    return this.#states.statements
  }
  get frontier(): WorkState {
    return this.#states.frontier
  }
  get ledger(): Ledger {
    return this.#states.ledger
  }
  get archive(): BlockIndex {
    return this.#states.archive
  }
  get compactions(): Compactions {
    return this.#states.compactions
  }
  get notes(): NotesState {
    return this.#states.notes
  }
  get memories(): MemoryActivity {
    return this.#states.memories
  }
  get agents(): Agents {
    return this.#states.agents
  }
  get cacheHistory(): CacheHistory {
    return this.#states.cacheHistory
  }

  get undoable(): UndoableDecisions {
    return this.#states.undoable
  }

  /** Limits of servers, as revealed by refusals. */
  get limits(): Limits {
    return this.#states.limits
  }

  /** The message list of a client that resends it. */
  get followed(): ClientMessages {
    return this.#states.followed
  }

  apply(entry: Entry, place: PathPosition = "on-path"): void {
    this.applyLoaded(entry, place)
    // one at a time: applying all of them at once would take as long as many turns
    if (!this.#past && this.#pending.length > MAX_PENDING) this.#applySlow(this.#states, this.#pending.shift()!)
  }

  /** Whether a message belongs to a compaction that was undone. It is on the path, but not in view. */
  isUndone(uuid: Uuid): boolean {
    return this.#undoneMessages.has(uuid)
  }

  /** Applies an entry that was read when opening. The slow states read it later. */
  applyLoaded(entry: Entry, place: PathPosition): void {
    if (place === "on-path") this.context.apply(entry)
    this.applyPast(entry, place)
    if (place === "on-path" && this.#hasSlow) this.#pending.push(entry)
  }

  /** Applies an entry to all views except the context and the slow states, which read it later in the journal. */
  applyPast(given: Entry, place: PathPosition): void {
    if (place === "undone" && isMessage(given)) this.#undoneMessages.add(given.uuid)
    const entry = isMessage(given) ? usable(given) : given
    for (const name of this.#fast) this.#applyOne(name, entry, place)
  }

  #applyOne<K extends keyof ViewStates>(name: K, entry: Entry, place: PathPosition): void {
    const projection = this.#projections[name]
    const { scope, followsSent = false } = projection
    const counts = place === "on-path" || (place === "undone" && followsSent)
    if (counts || scope === "journal") this.#states[name] = projection.apply(this.#states[name], entry, counts)
  }

  #applySlow(states: SlowStates, given: Entry): void {
    const entry = isMessage(given) ? usable(given) : given
    states.names = this.#projections.names.apply(states.names, entry)
    states.results = this.#projections.results.apply(states.results, entry)
    states.statements = this.#projections.statements.apply(states.statements, entry)
  }

  #applyPending(): void {
    if (this.#past) throw new Error("The past was not read yet. Await catchUp() before these views are used.")
    for (const entry of this.#pending.splice(0)) this.#applySlow(this.#states, entry)
  }

  /** Whether so many entries are pending that they should be applied between turns. */
  get hasBacklog(): boolean {
    return this.#past !== undefined || this.#pending.length > BACKLOG_SIZE
  }

  /** Names what the slow states have not read. Call this before any entry is applied. */
  leavePast(past: UnreadPast, incomplete?: unknown): void {
    this.#past = past
    this.#incomplete = incomplete
  }

  /** Brings the slow states up to date, in slices: first what was left in the journal, then the pending entries. */
  async catchUp(options: CooperativeOptions = {}): Promise<void> {
    if (this.#past) {
      this.#reading ??= this.#readPast(this.#past, options).finally(() => {
        this.#reading = undefined
      })
      if (!options.yieldsToOthers) this.#waiting++
      try {
        await this.#reading
      } finally {
        if (!options.yieldsToOthers) this.#waiting--
      }
    }
    await runCooperatively(this.catchUpTask(), options)
  }

  /** Reads into new states, so that reading can be interrupted and begun again. */
  async #readPast(past: UnreadPast, { signal }: CooperativeOptions): Promise<void> {
    const states = { names: names.start(), results: results.start(), statements: statements.start() }
    let completed: unknown
    for await (const { entry, isOnPath } of past.entries()) {
      if (isOnPath) this.#applySlow(states, entry)
      const checkpoint = this.#incomplete as Checkpoint | undefined
      if (entry.uuid === checkpoint?.boundary)
        completed = {
          ...checkpoint,
          slow: SLOW_VERSION,
          states: { ...checkpoint.states, ...(toJson(states) as object) },
        }
      const pause = pauseAfterSlice({ signal, yieldsToOthers: this.#waiting === 0 })
      if (pause) await pause
    }
    Object.assign(this.#states, states)
    this.#past = undefined
    this.#incomplete = undefined
    if (completed !== undefined) await past.writeCheckpoint(completed)
  }

  /** Applies pending entries, one per step. */
  *catchUpTask(): CooperativeTask<void> {
    for (let next = this.#pending.shift(); next; next = this.#pending.shift()) {
      this.#applySlow(this.#states, next)
      yield
    }
  }

  /** Call this right after a boundary was applied. Without the slow states if they have not read the past. */
  checkpoint(boundary: string): unknown {
    if (!this.#past) this.#applyPending()
    const { names: _names, results: _results, statements: _statements, ...fast } = this.#states
    const checkpoint: Checkpoint = {
      version: CHECKPOINT_VERSION,
      boundary,
      context: this.context.save(),
      ...(this.#past ? { states: fast } : { states: this.#states, slow: SLOW_VERSION }),
    }
    const stored = toJson(checkpoint)
    if (this.#past) this.#incomplete = stored
    return stored
  }
}

const isSlow = (name: keyof ViewStates): name is SlowState => (SLOW as readonly string[]).includes(name)

/** The views about the cost of a conversation and the use of its context. */
export type CostViews = Pick<Views, "apply" | "context" | "estimator" | "ledger" | "cacheHistory" | "agents">

/** For recorded conversations. The other views, which serve ongoing work, read every text and would double the time. */
export const costViews = (options: Omit<ViewOptions, "only">): CostViews =>
  new Views({ ...options, only: ["ledger", "cacheHistory", "agents"] })

/** The boundary of a stored checkpoint. `undefined` for one of another version, because its rules may differ. */
export function boundaryOf(value: unknown): string | undefined {
  const found = (value ?? {}) as Partial<Checkpoint>
  return found.version === CHECKPOINT_VERSION ? found.boundary : undefined
}

/** Whether a stored checkpoint has the slow states. */
export const hasSlowStates = (value: unknown): boolean => (value as Checkpoint).slow === SLOW_VERSION

export function readCheckpoint(value: unknown): Checkpoint {
  const checkpoint = fromJson(value) as Checkpoint
  if (hasSlowStates(value)) return checkpoint
  const { names: _names, results: _results, statements: _statements, ...fast } = checkpoint.states
  return { ...checkpoint, states: fast }
}
