/**
 * Savings of the layers, accumulated entry by entry: the tokens that each keeps out of the requests, and what they would have cost with
 * each billed response. The newest response stays open until the next one, because its usage and the server's report about it come
 * later.
 *
 * Every number compares with a stated alternative (`COUNTERFACTUALS`): the same conversation in which only this layer had not acted.
 */
import type { TokenCounts } from "../../base/text.ts"
import {
  type DecisionEffect,
  type DecisionEntry,
  type Entry,
  isBoundaryEntry,
  isDecision,
} from "../../journal/entries.ts"
import type { AssistantMessage, Uuid } from "../../messages/messages.ts"
import type { ModelPrice } from "../../tokens/models.ts"
import { cacheCounts, cachedTokens, hasHourLifetime } from "../cache/pauses.ts"
import { clearedByServer } from "../context/overlay.ts"

// What one billed request would have cost without each layer. Tokens already in the context would have been read from the cache, or
// written again if the cache was lost anyway. New tokens would have been written. Pure.

/** Layers whose savings are counted, in the order in which they act. */
export const SAVING_LAYERS = ["tool-results", "microcompact", "fold", "server", "compaction"] as const
/** A layer whose savings the ledger counts. */
export type SavingLayer = (typeof SAVING_LAYERS)[number]

/** Tokens currently kept out of the requests. */
export interface AccumulatedSavings {
  aside: number
  cleared: number
  /** Tokens cleared instead of a compaction, which have no value in money. */
  clearedInstead: number
  /** Folded or snipped tokens. */
  folded: number
  /** Tokens folded instead of a compaction, which have no value in money. */
  foldedInstead: number
  compacted: number
}

export interface NewSavings {
  /** Tokens that were offloaded and never sent. */
  readonly aside: number
  readonly cleared: number
  /** Tokens after cleared results, which have to be written to the cache again. */
  readonly rewrites: number
  readonly folded: number
  /** Tokens after folded or snipped ranges, which have to be written to the cache again. */
  readonly foldRewrites: number
  /** Whether something was cleared or folded instead of a compaction. */
  readonly sparedCompaction?: boolean
  /** Size of the context after a new boundary. Absent without one. */
  readonly afterBoundary?: number
}

/** A request of the main conversation, with the tokens that the layers kept out of it. */
export interface BilledRequest {
  readonly id: string
  readonly model: string
  /** Time at which its response was recorded. */
  readonly at: string
  readonly counts: TokenCounts
  /** `undefined` if the price is unknown. */
  readonly price: ModelPrice | undefined
  readonly standing: Readonly<AccumulatedSavings>
  /** The part that was decided since the previous request. */
  readonly fresh: NewSavings
  /** Tokens that the server cleared from it. */
  readonly cleared: number
  /** The previous request. */
  readonly before?: Pick<BilledRequest, "model" | "at" | "counts" | "cleared">
}

export interface LayerYield {
  /** Tokens that requests did not contain, summed over the requests. */
  readonly unsent: number
  /** What they would have cost. `undefined` as soon as one request has no known price. */
  readonly gained: number | undefined
  /** The cost of cache writes that the layer caused, beyond reading. */
  readonly rewriting: number | undefined
}

export type LayerYields = Readonly<Record<SavingLayer, LayerYield>>

export const NO_YIELD: LayerYield = { unsent: 0, gained: 0, rewriting: 0 }

const MIN_READ_SHARE = 0.5 // of the tokens that the previous request left in the cache; if less was read, the cache was lost
const CACHE_LIFE_MINUTES = 5
const LONG_CACHE_LIFE_MINUTES = 60
const PER_MILLION = 1_000_000

export function addYields(a: LayerYields, b: LayerYields): LayerYields {
  const added = (layer: SavingLayer): LayerYield => ({
    unsent: a[layer].unsent + b[layer].unsent,
    gained: addKnown(a[layer].gained, b[layer].gained),
    rewriting: addKnown(a[layer].rewriting, b[layer].rewriting),
  })
  return {
    "tool-results": added("tool-results"),
    microcompact: added("microcompact"),
    fold: added("fold"),
    server: added("server"),
    compaction: added("compaction"),
  }
}

/** Adds two numbers. A sum with an unknown part is unknown. */
export const addKnown = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? undefined : a + b

export function computeYields(request: BilledRequest): LayerYields {
  const { standing, fresh, cleared, counts } = request
  const lost = isLost(request)
  const priced = pricing(request, lost)
  const written = counts.cacheWrite5m + counts.cacheWrite1h
  const present = Math.max(0, standing.aside - fresh.aside)
  return {
    "tool-results": priced({ present, isNew: fresh.aside, rewritten: 0 }),
    microcompact: priced({ present: standing.cleared, isNew: 0, rewritten: lost ? 0 : fresh.rewrites }),
    fold: priced({ present: standing.folded, isNew: 0, rewritten: lost ? 0 : fresh.foldRewrites }),
    server: priced({ present: cleared, isNew: 0, rewritten: lost ? 0 : rewrittenByServer(request) }),
    compaction: priced({
      present: standing.compacted,
      isNew: 0,
      rewritten: lost ? 0 : Math.min(fresh.afterBoundary ?? 0, written),
    }),
  }
}

interface OmittedTokens {
  /** Tokens that would already have been in the context. */
  readonly present: number
  /** Tokens that would have been sent for the first time. */
  readonly isNew: number
  readonly rewritten: number
}

function pricing({ counts, price }: BilledRequest, lost: boolean): (kept: OmittedTokens) => LayerYield {
  const usesCache = cachedTokens(counts) > 0
  return ({ present, isNew, rewritten }) => {
    const unsent = present + isNew
    if (unsent === 0 && rewritten === 0) return NO_YIELD
    if (!price) return { unsent, gained: undefined, rewriting: undefined }
    const write = writePrice(counts, price)
    const first = usesCache ? write : price.input
    const again = usesCache && !lost ? price.cacheRead : first
    return {
      unsent,
      gained: (present * again + isNew * first) / PER_MILLION,
      rewriting: usesCache ? (rewritten * (write - price.cacheRead)) / PER_MILLION : 0,
    }
  }
}

/** The price for the kind of cache that the request wrote to. */
function writePrice({ cacheWrite5m, cacheWrite1h }: TokenCounts, price: ModelPrice): number {
  return cacheWrite1h > cacheWrite5m ? price.cacheWrite1h : price.cacheWrite5m
}

/** Whether the cache would have been lost without the layers too. A change that a layer made is not a loss. */
function isLost(request: BilledRequest): boolean {
  const { counts, before, fresh, cleared, model } = request
  if (!before) return false
  const taken = fresh.cleared + fresh.folded + Math.max(0, cleared - before.cleared)
  const couldBeRead = cachedTokens(before.counts) - taken
  if (counts.cacheRead >= MIN_READ_SHARE * couldBeRead) return false
  const rewrites = fresh.rewrites + fresh.foldRewrites
  const isOurs = fresh.afterBoundary !== undefined || fresh.sparedCompaction || rewrites > 0 || cleared > before.cleared
  return !isOurs || model !== before.model || isExpired(request.at, before)
}

function isExpired(at: string, before: Pick<BilledRequest, "at" | "counts">): boolean {
  const minutes = (Date.parse(at) - Date.parse(before.at)) / 60_000
  return minutes > (hasHourLifetime(before.counts) ? LONG_CACHE_LIFE_MINUTES : CACHE_LIFE_MINUTES)
}

/**
 * Tokens after the position that the server cleared: they were in the cache and were not read. Rewrites caused by Strata's own clearing
 * or a boundary in the same request are excluded.
 */
function rewrittenByServer({ counts, cleared, before, fresh }: BilledRequest): number {
  const more = cleared - (before?.cleared ?? 0)
  if (!before || more <= 0 || fresh.afterBoundary !== undefined) return 0
  const ours = fresh.cleared + fresh.rewrites + fresh.folded + fresh.foldRewrites
  const unread = cachedTokens(before.counts) - counts.cacheRead - more - ours
  return Math.max(0, Math.min(unread, counts.cacheWrite5m + counts.cacheWrite1h))
}

/** The alternative of each number, in a few sentences for the user. */
export const COUNTERFACTUALS: Readonly<Record<SavingLayer | "notes", string>> = {
  "tool-results":
    "Compared with leaving the results in the context. Each would have been written to the cache once and read with every later request until the next boundary, or written again where the cache was lost.",
  microcompact:
    "Compared with not clearing. The results would have been read with every later request until the next boundary, or written again where the cache was lost. Rewriting the cache after them is subtracted. A clearing that avoided a compaction counts neither way: the compaction would have removed the results and rewritten the cache too.",
  fold: "Compared with sending the folded and snipped ranges. They would have been read with every later request until the next boundary, or written again where the cache was lost. Rewriting the cache after them is subtracted. A fold that avoided a compaction counts neither way.",
  server:
    "Compared with a server that clears nothing. Each request would have carried what the server reports as cleared. Rewriting the cache after it is subtracted.",
  compaction:
    "Compared with an endless window. Everything summarised would still be read with every later request. The calls that wrote the summaries, and writing the rest to the cache, are subtracted.",
  notes: "Compared with no notes: these calls would not have been made. What notes save a compaction is counted there.",
}

export interface Savings {
  readonly acts: Record<SavingLayer, LayerActions>
  /** Tokens currently kept out of the requests. */
  readonly standing: AccumulatedSavings
  /** Decided since the newest response. */
  fresh: NewSavings
  /** What each decision since the last boundary keeps out, so that it can be undone. */
  readonly decided: Map<Uuid, { readonly kept: KeptOutOfSavings; readonly tokens: number }>
  /** What was kept out right before each boundary, so that it can be undone. */
  readonly beforeBoundary: Map<Uuid, Readonly<AccumulatedSavings>>
  /** The newest billed request. */
  open: BilledRequest | undefined
  /** Yields of all earlier requests. */
  settled: LayerYields
}

type KeptOutOfSavings = Exclude<keyof AccumulatedSavings, "compacted">

export interface LayerActions {
  decisions: number
  /** Tokens removed from the context, each counted once. */
  removed: number
  /** Number of decisions that do not record their size. */
  unmeasured: number
  /** Number of decisions that avoided a compaction. */
  spared: number
}

const NO_NEW_SAVINGS: NewSavings = { aside: 0, cleared: 0, rewrites: 0, folded: 0, foldRewrites: 0 }
const noActions = (): LayerActions => ({ decisions: 0, removed: 0, unmeasured: 0, spared: 0 })

export function startSavings(): Savings {
  return {
    acts: {
      "tool-results": noActions(),
      microcompact: noActions(),
      fold: noActions(),
      server: noActions(),
      compaction: noActions(),
    },
    standing: { aside: 0, cleared: 0, clearedInstead: 0, folded: 0, foldedInstead: 0, compacted: 0 },
    fresh: NO_NEW_SAVINGS,
    decided: new Map(),
    beforeBoundary: new Map(),
    open: undefined,
    settled: {
      "tool-results": NO_YIELD,
      microcompact: NO_YIELD,
      fold: NO_YIELD,
      server: NO_YIELD,
      compaction: NO_YIELD,
    },
  }
}

/** Processes a decision or a boundary. `recordResponse` processes responses, with their price. */
export function followSavings(state: Savings, entry: Entry): void {
  if (isBoundaryEntry(entry) && !entry.isSidechain) {
    state.beforeBoundary.set(entry.uuid, { ...state.standing })
    state.standing.aside = 0
    state.standing.cleared = 0
    state.standing.clearedInstead = 0
    state.standing.folded = 0
    state.standing.foldedInstead = 0
    state.decided.clear()
    state.fresh = { ...NO_NEW_SAVINGS, afterBoundary: 0 }
  } else if (isDecision(entry)) followDecision(state, entry)
}

export interface BilledResponse {
  readonly entry: AssistantMessage
  readonly usage: NonNullable<AssistantMessage["message"]["usage"]>
  /** The price of this request. `undefined` if it is unknown. */
  readonly price: ModelPrice | undefined
}

/** Processes a response of the main conversation. A later entry of the same response replaces the earlier one. */
export function recordResponse(state: Savings, { entry, usage, price }: BilledResponse): void {
  const { id = entry.uuid, model = "unknown" } = entry.message
  const counts = cacheCounts(usage)
  const { open } = state
  if (open?.id === id) {
    state.open = { ...open, counts, price }
    return
  }
  if (open) state.settled = addYields(state.settled, computeYields(open))
  state.open = {
    id,
    model,
    at: entry.timestamp,
    counts,
    price,
    standing: { ...state.standing },
    fresh: state.fresh,
    cleared: 0,
    ...(open ? { before: { model: open.model, at: open.at, counts: open.counts, cleared: open.cleared } } : {}),
  }
  state.fresh = NO_NEW_SAVINGS
}

/** The yield of one layer over all requests so far. */
export function layerYield({ settled, open }: Savings, layer: SavingLayer): LayerYield {
  return open ? addYields(settled, computeYields(open))[layer] : settled[layer]
}

function followDecision(state: Savings, decision: DecisionEntry): void {
  if (decision.subtype === "tool-result-persisted") offload(state, decision.uuid, decision.effect)
  else if (decision.subtype === "tool-results-cleared") clear(state, decision.uuid, decision.effect)
  else if (decision.subtype === "folded" || decision.subtype === "snipped") fold(state, decision.uuid, decision.effect)
  else if (decision.subtype === "server-edited") clearOnServer(state, clearedByServer(decision))
  else if (decision.subtype === "compacted") compact(state, decision.tokensBefore, decision.tokensAfter)
  else if (decision.subtype === "undone") undo(state, decision.decision)
}

function offload(state: Savings, uuid: Uuid, effect: DecisionEffect | undefined): void {
  const tokens = countAction(state.acts["tool-results"], effect?.saves)
  state.standing.aside += tokens
  state.fresh = { ...state.fresh, aside: state.fresh.aside + tokens }
  state.decided.set(uuid, { kept: "aside", tokens })
}

/**
 * Processes a clearing. Instead of a compaction it neither saves nor costs, because the compaction would have removed the results and
 * rewritten the cache too.
 */
function clear(state: Savings, uuid: Uuid, effect: DecisionEffect | undefined): void {
  const tokens = countAction(state.acts.microcompact, effect?.saves)
  const { fresh } = state
  if (effect?.spares) {
    state.acts.microcompact.spared++
    state.standing.clearedInstead += tokens
    state.decided.set(uuid, { kept: "clearedInstead", tokens })
    state.fresh = { ...fresh, sparedCompaction: true }
    return
  }
  state.standing.cleared += tokens
  state.fresh = {
    ...fresh,
    cleared: fresh.cleared + tokens,
    rewrites: fresh.rewrites + Math.max(0, effect?.rewrites ?? 0),
  }
  state.decided.set(uuid, { kept: "cleared", tokens })
}

/** Processes a fold. Several ranges that are folded together avoid one compaction. */
function fold(state: Savings, uuid: Uuid, effect: DecisionEffect | undefined): void {
  const tokens = countAction(state.acts.fold, effect?.saves)
  const { fresh } = state
  if (effect?.spares) {
    if (!fresh.sparedCompaction) state.acts.fold.spared++
    state.standing.foldedInstead += tokens
    state.decided.set(uuid, { kept: "foldedInstead", tokens })
    state.fresh = { ...fresh, sparedCompaction: true }
    return
  }
  state.standing.folded += tokens
  const foldRewrites = fresh.foldRewrites + Math.max(0, effect?.rewrites ?? 0)
  state.fresh = { ...fresh, folded: fresh.folded + tokens, foldRewrites }
  state.decided.set(uuid, { kept: "folded", tokens })
}

/** Processes a report of the server. Each response reports everything cleared from its request, so only the increase is new. */
function clearOnServer(state: Savings, cleared: number): void {
  if (!state.open) return
  const more = cleared - Math.max(state.open.cleared, state.open.before?.cleared ?? 0)
  state.open = { ...state.open, cleared }
  if (more > 0) countAction(state.acts.server, more)
}

function compact(state: Savings, before: number, after: number): void {
  state.standing.compacted += countAction(state.acts.compaction, before - after)
  state.fresh = { ...state.fresh, afterBoundary: after }
}

function undo(state: Savings, uuid: Uuid): void {
  const before = state.beforeBoundary.get(uuid)
  if (before) undoCompaction(state, before)
  const decided = state.decided.get(uuid)
  if (!decided) return
  state.decided.delete(uuid)
  const { kept, tokens } = decided
  state.standing[kept] -= tokens
  if (kept === "clearedInstead" || kept === "foldedInstead") return
  state.fresh = { ...state.fresh, [kept]: Math.max(0, state.fresh[kept] - tokens) }
}

/** Processes an undone compaction: everything sent before the compaction is sent again. */
function undoCompaction(state: Savings, before: Readonly<AccumulatedSavings>): void {
  Object.assign(state.standing, before)
  const { afterBoundary: _, ...fresh } = state.fresh
  state.fresh = fresh
}

/** Counts the action and returns the tokens it removes from the context. */
function countAction(acts: LayerActions, tokens: number | undefined): number {
  acts.decisions++
  if (tokens === undefined) acts.unmeasured++
  const removed = Math.max(0, tokens ?? 0)
  acts.removed += removed
  return removed
}
