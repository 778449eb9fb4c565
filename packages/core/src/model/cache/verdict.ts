/**
 * Compares what a response reports about the cache with the prediction: all is well, or less was read than the request before had left,
 * and why. Pure: it works only on its arguments.
 */
import { inputTokens, type TokenCounts } from "../../base/token-counts.ts"
import type { ModelFacts } from "../../tokens/model-facts.ts"
import { isBreak, type PaidAnew, paidAnew } from "../../views/cache/cache-break.ts"
import { type CacheChange, MEANT } from "../../views/cache/cache-causes.ts"
import type { ChangedPlace } from "./compare-requests.ts"
import type { Lifetime } from "./known-entries.ts"

/** Why the cache was not read as expected. */
export type CacheCause =
  /** The entries had expired. */
  | { readonly kind: "time-to-live"; readonly idleMs: number; readonly lifetime: Lifetime }
  /** Another model, tools, system prompt or setting, or a changed place among the messages. */
  | ({ readonly kind: "changed" } & ChangedPlace)
  /** Recorded before the conversation was opened again, so the place is not known: system prompt, tools or preamble. */
  | { readonly kind: "prompt" }
  /** There are more blocks between the entry and the next breakpoint than the server looks back over. */
  | { readonly kind: "look-back"; readonly breakpoint: number; readonly items: number }
  /** The model gets no thinking from before the user's last message. */
  | { readonly kind: "forgotten-thinking" }
  | { readonly kind: "below-minimum"; readonly tokens: number; readonly minimum: number }
  /** Nothing here explains it. */
  | { readonly kind: "provider" }

/** What the provider says changed since the request before. */
export interface ProviderReason {
  readonly changed: "model" | "system" | "tools" | "messages"
  readonly tokens?: number
}

/** Causes of a drop that is not a break. */
export type ExpectedDrop = CacheChange | "forgotten-thinking"

/** Whether the cache was read as expected. */
export type CacheVerdict =
  /** There was no request before this one. */
  | { readonly kind: "first" }
  /** All was read that the request before had left. */
  | { readonly kind: "as-predicted" }
  /** More was read than this conversation wrote: another one wrote it. */
  | { readonly kind: "more"; readonly tokens: number }
  | { readonly kind: "expected"; readonly why: readonly ExpectedDrop[]; readonly lost: number }
  /** Less was read than the request before had left. A large drop is a break, a small one only a difference. */
  | {
      readonly kind: "break" | "less"
      readonly cause: CacheCause
      readonly lost: number
      readonly paidAnew: PaidAnew
      /** It was predicted. */
      readonly foreseen: boolean
      /** What the provider says changed, where it was asked and saw a change. */
      readonly provider?: ProviderReason
    }

export interface Prediction {
  readonly read: number
  /** From the API's own counts alone; otherwise an estimate is part of it. */
  readonly counted: boolean
  /** Why less than the request before had left. */
  readonly cause?: CacheCause
}

export interface Case {
  readonly before: { readonly read: number; readonly cached: number } | undefined
  readonly predicted: Prediction
  readonly counts: TokenCounts
  readonly facts: ModelFacts
  /** Recorded between the request before and this one. */
  readonly announced: readonly CacheChange[]
  /** The server says it edited its copy differently than before. */
  readonly editedByServer: boolean
  /** Tokens deleted from the cache since the request before. */
  readonly deleted: number
  /** What else could explain an unpredicted drop. */
  readonly suspects: () => CacheCause | undefined
}

export function judge(given: Case): CacheVerdict {
  const { before, predicted, counts, deleted, facts } = given
  if (!before) return { kind: "first" }
  const { cacheRead: read } = counts
  const expected = Math.max(0, predicted.read - deleted)
  const left = Math.max(before.cached - deleted, expected)
  const lost = left - read
  if (lost <= 0) return deleted > 0 && read < before.cached ? drop(given, ["deletion"]) : lost < 0 ? more(-lost) : FINE
  const meant = whyMeant(given, expected)
  if (meant.length > 0) return drop(given, meant)
  return {
    kind: isBreak(before.read - deleted, read) ? "break" : "less",
    cause: predicted.cause ?? belowMinimum(given) ?? given.suspects() ?? { kind: "provider" },
    lost,
    paidAnew: paidAnew({ cachedBefore: left, counts, facts }),
    foreseen: isAsSaid({ ...predicted, read: expected }, read),
  }
}

const FINE: CacheVerdict = { kind: "as-predicted" }
const more = (tokens: number): CacheVerdict => ({ kind: "more", tokens })

function drop({ before, counts }: Case, why: readonly ExpectedDrop[]): CacheVerdict {
  return { kind: "expected", why, lost: before!.cached - counts.cacheRead }
}

/**
 * A recorded change moves the baseline to what is predicted after it. A drop below that still counts, unless the prediction is an
 * estimate.
 */
function whyMeant({ announced, editedByServer, predicted, counts }: Case, expected: number): readonly ExpectedDrop[] {
  if (editedByServer) return ["clearing"]
  if (predicted.counted && isBreak(expected, counts.cacheRead)) return []
  const recorded = announced.filter((change) => MEANT.has(change))
  if (recorded.length > 0) return recorded
  return predicted.cause?.kind === "forgotten-thinking" ? ["forgotten-thinking"] : []
}

function belowMinimum({ counts, facts }: Case): CacheCause | undefined {
  const tokens = inputTokens(counts)
  const isCached = counts.cacheRead + counts.cacheWrite5m + counts.cacheWrite1h > 0
  if (isCached || tokens >= facts.minCacheable) return undefined
  return { kind: "below-minimum", tokens, minimum: facts.minCacheable }
}

function isAsSaid({ read: predicted, counted }: Prediction, read: number): boolean {
  return counted ? predicted === read : !isBreak(Math.max(predicted, read), Math.min(predicted, read))
}
