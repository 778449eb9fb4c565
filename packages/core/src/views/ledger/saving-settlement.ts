/**
 * What one billed request would have cost without each layer. Tokens already in the context would have been read from the cache, or
 * written again where the cache was lost anyway. New tokens would have been written. Pure.
 */
import type { TokenCounts } from "../../base/token-counts.ts"
import type { Price } from "../../tokens/model-facts.ts"
import { cachedTokens, livesAnHour } from "../cache/cache-break.ts"

/** Layers whose saving is counted, in the order they act. */
export const SAVING_LAYERS = ["tool-results", "microcompact", "fold", "server", "compaction"] as const
/** A layer whose savings the ledger counts. */
export type SavingLayer = (typeof SAVING_LAYERS)[number]

/** Tokens kept out of the requests. */
export interface Standing {
  aside: number
  cleared: number
  /** Cleared in place of a compaction, so not counted in money. */
  clearedInstead: number
  /** Folded or snipped. */
  folded: number
  /** Folded in place of a compaction, so not counted in money. */
  foldedInstead: number
  compacted: number
}

export interface Fresh {
  /** Put aside and never sent. */
  readonly aside: number
  readonly cleared: number
  /** After cleared results, to be written to the cache again. */
  readonly rewrites: number
  readonly folded: number
  /** After folded or snipped ranges, to be written to the cache again. */
  readonly foldRewrites: number
  /** Something was cleared or folded in place of a compaction. */
  readonly sparedCompaction?: boolean
  /** Size of the context after a new boundary. Absent without one. */
  readonly afterBoundary?: number
}

/** A request of the main conversation, with what the layers kept out of it. */
export interface BilledRequest {
  readonly id: string
  readonly model: string
  /** When its answer was recorded. */
  readonly at: string
  readonly counts: TokenCounts
  /** `undefined` where it is unknown. */
  readonly price: Price | undefined
  readonly standing: Readonly<Standing>
  /** The part that was decided since the previous request. */
  readonly fresh: Fresh
  /** What the server cleared from it. */
  readonly cleared: number
  /** The previous request. */
  readonly before?: Pick<BilledRequest, "model" | "at" | "counts" | "cleared">
}

export interface Yield {
  /** Tokens that requests did not carry, summed over the requests. */
  readonly unsent: number
  /** What they would have cost. `undefined` as soon as one request has no known price. */
  readonly gained: number | undefined
  /** The cost of cache writes that the layer caused, beyond reading. */
  readonly rewriting: number | undefined
}

export type Yields = Readonly<Record<SavingLayer, Yield>>

export const NO_YIELD: Yield = { unsent: 0, gained: 0, rewriting: 0 }

const LOST_SHARE = 0.5 // of what the previous request left in the cache; less read than that means it was lost
const CACHE_LIFE_MINUTES = 5
const LONG_CACHE_LIFE_MINUTES = 60
const PER_MILLION = 1_000_000

export function addYields(a: Yields, b: Yields): Yields {
  const added = (layer: SavingLayer): Yield => ({
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

/** A sum with an unknown part is unknown. */
export const addKnown = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? undefined : a + b

export function settle(request: BilledRequest): Yields {
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

interface KeptOut {
  /** Would have been in the context already. */
  readonly present: number
  /** Would have been sent for the first time. */
  readonly isNew: number
  readonly rewritten: number
}

function pricing({ counts, price }: BilledRequest, lost: boolean): (kept: KeptOut) => Yield {
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

/** Of the kind of cache that the request wrote to. */
function writePrice({ cacheWrite5m, cacheWrite1h }: TokenCounts, price: Price): number {
  return cacheWrite1h > cacheWrite5m ? price.cacheWrite1h : price.cacheWrite5m
}

/** Whether the cache would have been lost without the layers too. A change that a layer made is not a loss. */
function isLost(request: BilledRequest): boolean {
  const { counts, before, fresh, cleared, model } = request
  if (!before) return false
  const taken = fresh.cleared + fresh.folded + Math.max(0, cleared - before.cleared)
  const couldBeRead = cachedTokens(before.counts) - taken
  if (counts.cacheRead >= LOST_SHARE * couldBeRead) return false
  const rewrites = fresh.rewrites + fresh.foldRewrites
  const isOurs = fresh.afterBoundary !== undefined || fresh.sparedCompaction || rewrites > 0 || cleared > before.cleared
  return !isOurs || model !== before.model || isExpired(request.at, before)
}

function isExpired(at: string, before: Pick<BilledRequest, "at" | "counts">): boolean {
  const minutes = (Date.parse(at) - Date.parse(before.at)) / 60_000
  return minutes > (livesAnHour(before.counts) ? LONG_CACHE_LIFE_MINUTES : CACHE_LIFE_MINUTES)
}

/**
 * What came after the place that the server cleared: it was in the cache and was not read. Rewrites that our own clearing or a boundary
 * caused in the same request are theirs.
 */
function rewrittenByServer({ counts, cleared, before, fresh }: BilledRequest): number {
  const more = cleared - (before?.cleared ?? 0)
  if (!before || more <= 0 || fresh.afterBoundary !== undefined) return 0
  const ours = fresh.cleared + fresh.rewrites + fresh.folded + fresh.foldRewrites
  const unread = cachedTokens(before.counts) - counts.cacheRead - more - ours
  return Math.max(0, Math.min(unread, counts.cacheWrite5m + counts.cacheWrite1h))
}
