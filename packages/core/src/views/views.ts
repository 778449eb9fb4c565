/** All views of one conversation, fed together, and how a journal is loaded into them. */

import { type Entry, isBoundaryEntry, isMessage } from "../journal/entries.ts"
import type { Journal } from "../journal/store.ts"
import { isBoundary } from "../messages/messages.ts"
import { usable } from "../messages/usable.ts"
import { createEstimator, type Estimator } from "../tokens/estimate.ts"
import type { ModelFacts, TokenizerFamily } from "../tokens/model-facts.ts"
import type { ModelOverride } from "../tokens/models.ts"
import { type CacheHistory, cacheHistory } from "./cache/cache-history.ts"
import { fromJson, toJson } from "./checkpoint-json.ts"
import { ContextView, type SavedContext } from "./context/context.ts"
import { type Ledger, ledger } from "./ledger/ledger.ts"
import { isOnPath, Links } from "./path.ts"
import type { Projection } from "./projection.ts"
import { type Agents, agents } from "./record/agents.ts"
import { type Archive, archive } from "./record/archive.ts"
import { type Artifacts, artifacts } from "./record/artifacts.ts"
import { type Compactions, compactions } from "./record/compactions.ts"
import { type Frontier, frontier } from "./record/frontier.ts"
import { type MemoriesKept, memories } from "./record/memories.ts"
import { type NotesTaken, notes } from "./record/notes.ts"
import { type Words, words } from "./record/words.ts"

export interface ViewStates {
  words: Words
  artifacts: Artifacts
  frontier: Frontier
  ledger: Ledger
  archive: Archive
  compactions: Compactions
  notes: NotesTaken
  memories: MemoriesKept
  agents: Agents
  cacheHistory: CacheHistory
}

export interface ViewOptions {
  readonly family: TokenizerFamily
  readonly models?: Readonly<Record<string, ModelOverride>>
  /** Whether the model can delete inside its cache. Default true: the view shows what the journal says. */
  readonly editsCaches?: boolean
  /** Whether its server can clear its own copy. Default true. */
  readonly serverClears?: boolean
}

export const viewOptions = (
  { family, accepts }: ModelFacts,
  models: NonNullable<ViewOptions["models"]>,
): ViewOptions => ({
  family,
  models,
  editsCaches: accepts.cacheEditing,
  serverClears: accepts.contextManagement,
})

/** The views as they were right after the last boundary. */
interface Checkpoint {
  readonly version: number
  readonly boundary: string
  readonly context: SavedContext
  readonly states: ViewStates
}

const CHECKPOINT_VERSION = 13 // increase it whenever the shape of a state changes

export class Views {
  readonly estimator: Estimator
  readonly context: ContextView
  readonly #projections: { readonly [K in keyof ViewStates]: Projection<ViewStates[K]> }
  readonly #states: ViewStates

  constructor(options: ViewOptions, from?: { readonly context: SavedContext; readonly states: ViewStates }) {
    this.estimator = createEstimator(options.family, from?.context.calibration)
    this.context = new ContextView(this.estimator, from?.context, options)
    this.#projections = {
      ...{ words, artifacts, frontier, archive, compactions, notes, memories, agents },
      ledger: ledger(options.models),
      cacheHistory: cacheHistory(options.models),
    }
    this.#states = from?.states ?? {
      words: words.start(),
      artifacts: artifacts.start(),
      frontier: frontier.start(),
      ledger: this.#projections.ledger.start(),
      archive: archive.start(),
      compactions: compactions.start(),
      notes: notes.start(),
      memories: memories.start(),
      agents: agents.start(),
      cacheHistory: this.#projections.cacheHistory.start(),
    }
  }

  get words(): Words {
    return this.#states.words
  }
  get artifacts(): Artifacts {
    return this.#states.artifacts
  }
  get frontier(): Frontier {
    return this.#states.frontier
  }
  get ledger(): Ledger {
    return this.#states.ledger
  }
  get archive(): Archive {
    return this.#states.archive
  }
  get compactions(): Compactions {
    return this.#states.compactions
  }
  get notes(): NotesTaken {
    return this.#states.notes
  }
  get memories(): MemoriesKept {
    return this.#states.memories
  }
  get agents(): Agents {
    return this.#states.agents
  }
  get cacheHistory(): CacheHistory {
    return this.#states.cacheHistory
  }

  apply(entry: Entry, onPath = true): void {
    if (onPath) this.context.apply(entry)
    this.applyStates(entry, onPath)
  }

  /** All views but the context. */
  applyStates(given: Entry, onPath: boolean): void {
    const entry = isMessage(given) ? usable(given) : given
    for (const name of Object.keys(this.#projections) as (keyof ViewStates)[]) this.#applyOne(name, entry, onPath)
  }

  #applyOne<K extends keyof ViewStates>(name: K, entry: Entry, onPath: boolean): void {
    const projection = this.#projections[name]
    if (onPath || projection.scope === "journal")
      this.#states[name] = projection.apply(this.#states[name], entry, onPath)
  }

  /** Take it right after a boundary was applied. */
  checkpoint(boundary: string): unknown {
    const checkpoint: Checkpoint = {
      version: CHECKPOINT_VERSION,
      boundary,
      context: this.context.save(),
      states: this.#states,
    }
    return toJson(checkpoint)
  }
}

export interface LoadedViews {
  readonly views: Views
  /** What was read: from the last boundary on, or the whole journal. */
  readonly read: "tail" | "all"
}

export async function loadViews(journal: Journal, options: ViewOptions): Promise<LoadedViews> {
  const fromTail = await loadTail(journal, options)
  return fromTail ? { views: fromTail, read: "tail" } : { views: await loadAll(journal, options), read: "all" }
}

/** Resuming reads nothing before the last boundary. The checkpoint has what the views knew there. */
async function loadTail(journal: Journal, options: ViewOptions): Promise<Views | undefined> {
  const { entries, start } = await journal.tail()
  const links = new Links()
  for (const entry of entries) links.add(entry)
  const first = entries[0]
  const startsAtBoundary = first !== undefined && isBoundaryEntry(first)
  const path = links.path({ stopAt: startsAtBoundary ? first.uuid : undefined })
  if (!startsAtBoundary) {
    if (start !== 0) return undefined
    const views = new Views(options)
    for (const entry of entries) views.apply(entry, isOnPath(entry, path))
    return views
  }
  if (!path.has(first.uuid)) return undefined // the conversation went back to before this boundary
  const checkpoint = readCheckpoint(await journal.readCheckpoint())
  if (checkpoint?.boundary !== first.uuid) return undefined
  const views = new Views(options, checkpoint)
  const boundary = usable(first)
  const kept = isBoundary(boundary) ? boundary.compactMetadata?.preservedMessages?.uuids : undefined
  for (const uuid of kept ?? []) {
    const message = await journal.find(uuid)
    if (message && isMessage(message)) views.context.apply(asKept(usable(message)))
  }
  views.context.apply(first)
  for (const entry of entries.slice(1)) views.apply(entry, isOnPath(entry, path))
  return views
}

async function loadAll(journal: Journal, options: ViewOptions): Promise<Views> {
  const links = new Links()
  for await (const entry of journal.entries()) links.add(entry)
  const path = links.path()
  const views = new Views(options)
  for await (const entry of journal.entries()) {
    const onPath = isOnPath(entry, path)
    views.apply(entry, onPath)
    if (onPath && entry.uuid === links.lastBoundary)
      await journal.writeCheckpoint(views.checkpoint(entry.uuid)).catch(() => undefined)
  }
  return views
}

const COPY_BATCH = 1_000 // entries

/** Copies the path to a message, with its decisions, into another journal. */
export async function copyPath(from: Journal, to: Journal, uuid: string): Promise<void> {
  const links = new Links()
  for await (const entry of from.entries()) links.add(entry)
  const path = links.path({ from: uuid })
  let batch: Entry[] = []
  for await (const entry of from.entries()) {
    if (!isOnPath(entry, path)) continue
    batch.push(entry)
    if (batch.length < COPY_BATCH) continue
    await to.append(batch)
    batch = []
  }
  await to.append(batch)
}

/** A checkpoint of another version is ignored, because it may follow other rules. */
function readCheckpoint(value: unknown): Checkpoint | undefined {
  const { version } = (value ?? {}) as Partial<Checkpoint>
  return version === CHECKPOINT_VERSION ? (fromJson(value) as Checkpoint) : undefined
}

/** The checkpoint has learned from a kept message's usage already, and a queued one has been delivered. */
function asKept(entry: Entry): Entry {
  if (entry.type === "user") return { ...entry, isQueued: false }
  if (entry.type !== "assistant") return entry
  const { usage: _, ...message } = entry.message
  return { ...entry, message }
}
