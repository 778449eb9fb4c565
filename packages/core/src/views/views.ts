/** All views of one conversation, fed together. */
import type { CooperativeTask } from "../base/work.ts"
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
  readonly states: ViewStates
}

const CHECKPOINT_VERSION = 32 // increase it whenever the shape or the rules of a state change

const MAX_PENDING = 500 // entries: a journal of gigabytes must not stay in memory
const BACKLOG_SIZE = 100 // entries: from this number on, applying them between turns is worthwhile

export class Views {
  readonly estimator: Estimator
  readonly context: ContextView
  readonly #projections: { readonly [K in keyof ViewStates]: Projection<ViewStates[K]> }
  readonly #names: readonly (keyof ViewStates)[]
  readonly #states: ViewStates
  readonly #undoneMessages = new Set<Uuid>()
  /** Pending entries of projections that are applied when they are read. */
  readonly #pending: (() => void)[] = []

  constructor(options: ViewOptions, from?: { readonly context: SavedContext; readonly states: ViewStates }) {
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
    this.#names = options.only ?? (Object.keys(this.#projections) as (keyof ViewStates)[])
    this.#states = from?.states ?? {
      words: userMessages.start(),
      artifacts: artifacts.start(),
      names: names.start(),
      results: results.start(),
      statements: statements.start(),
      frontier: workState.start(),
      ledger: this.#projections.ledger.start(),
      archive: blockIndex.start(),
      compactions: compactions.start(),
      notes: notes.start(),
      memories: memories.start(),
      agents: agents.start(),
      cacheHistory: this.#projections.cacheHistory.start(),
      undoable: undoable.start(),
      limits: limits.start(),
      followed: clientMessages.start(),
    }
  }

  get words(): UserMessages {
    return this.#states.words
  }
  get artifacts(): Artifacts {
    return this.#states.artifacts
  }
  get names(): Names {
    this.#catchUp()
    return this.#states.names
  }
  get results(): Results {
    this.#catchUp()
    return this.#states.results
  }
  get statements(): Statements {
    this.#catchUp()
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
    if (place === "on-path") this.context.apply(entry)
    this.applyStates(entry, place)
  }

  /** Whether a message belongs to a compaction that was undone. It is on the path, but not in view. */
  isUndone(uuid: Uuid): boolean {
    return this.#undoneMessages.has(uuid)
  }

  /** Applies an entry to all views except the context. */
  applyStates(given: Entry, place: PathPosition): void {
    if (place === "undone" && isMessage(given)) this.#undoneMessages.add(given.uuid)
    const entry = isMessage(given) ? usable(given) : given
    const later = this.#names.flatMap((name) => this.#applyOne(name, entry, place) ?? [])
    if (later.length > 0)
      this.#pending.push(() => {
        for (const work of later) work()
      })
    // one at a time: applying all of them at once would take as long as many turns
    while (this.#pending.length > MAX_PENDING) this.#pending.shift()!()
  }

  /** Applies an entry, or returns the work that can wait until someone reads the state. */
  #applyOne<K extends keyof ViewStates>(name: K, entry: Entry, place: PathPosition): (() => void) | undefined {
    const projection = this.#projections[name]
    const { scope, followsSent = false, whenRead = false } = projection
    const counts = place === "on-path" || (place === "undone" && followsSent)
    if (!counts && scope !== "journal") return undefined
    const work = () => {
      this.#states[name] = projection.apply(this.#states[name], entry, counts)
    }
    if (whenRead) return work
    work()
    return undefined
  }

  #catchUp(): void {
    for (const work of this.#pending.splice(0)) work()
  }

  /** Whether so many entries are pending that they should be applied between turns. */
  get hasBacklog(): boolean {
    return this.#pending.length > BACKLOG_SIZE
  }

  /** Applies pending entries, one per step. */
  *catchUpTask(): CooperativeTask<void> {
    for (let next = this.#pending.shift(); next; next = this.#pending.shift()) {
      next()
      yield
    }
  }

  /** Call this right after a boundary was applied. */
  checkpoint(boundary: string): unknown {
    this.#catchUp()
    const checkpoint: Checkpoint = {
      version: CHECKPOINT_VERSION,
      boundary,
      context: this.context.save(),
      states: this.#states,
    }
    return toJson(checkpoint)
  }
}

/** The views about the cost of a conversation and the use of its context. */
export type CostViews = Pick<Views, "apply" | "context" | "estimator" | "ledger" | "cacheHistory" | "agents">

/** For recorded conversations. The other views, which serve ongoing work, read every text and would double the time. */
export const costViews = (options: Omit<ViewOptions, "only">): CostViews =>
  new Views({ ...options, only: ["ledger", "cacheHistory", "agents"] })

/** A checkpoint of another version is ignored, because its rules may differ. */
export function isCheckpointAt(value: unknown, boundary: string): boolean {
  const found = (value ?? {}) as Partial<Checkpoint>
  return found.version === CHECKPOINT_VERSION && found.boundary === boundary
}

export const readCheckpoint = (value: unknown): Checkpoint => fromJson(value) as Checkpoint
