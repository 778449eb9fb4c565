/**
 * Compares the cache usage of a response with the prediction: either it matches, or less was read than the previous request had left, and
 * why. Works only on its arguments.
 */
import { formatNumber, inputTokens, type TokenCounts } from "../../base/text.ts"
import type { ModelFacts } from "../../tokens/models.ts"
import { type CacheChange, type CacheMissCost, cacheMissCosts, INTENDED, isBreak } from "../../views/cache/pauses.ts"
import type { RequestChange } from "./compare-requests.ts"
import type { CacheEntryLifetime } from "./prefix.ts"

/** Why the cache was not read as expected. */
export type CacheCause =
  /** The entries had expired. */
  | { readonly kind: "time-to-live"; readonly idleMs: number; readonly lifetime: CacheEntryLifetime }
  /** The model, a tool, the system prompt, a setting or a message changed. */
  | ({ readonly kind: "changed" } & RequestChange)
  /** Recorded before the conversation was reopened, so it is unknown which of system prompt, tools and preamble changed. */
  | { readonly kind: "prompt" }
  /** More blocks lie between the entry and the next breakpoint than the server looks back over. */
  | { readonly kind: "look-back"; readonly breakpoint: number; readonly items: number }
  /** The server removes thinking from before the user's last message. */
  | { readonly kind: "forgotten-thinking" }
  | { readonly kind: "below-minimum"; readonly tokens: number; readonly minimum: number }
  /** No other cause was found, so the provider dropped the entries. */
  | { readonly kind: "provider" }

/** What changed since the previous request, according to the provider. */
export interface ProviderReason {
  readonly changed: "model" | "system" | "tools" | "messages"
  readonly tokens?: number
}

/** Causes of a drop that is not a break. */
export type ExpectedDrop = CacheChange | "forgotten-thinking"

/** Whether the cache was read as expected. */
export type CacheVerdict =
  /** There was no previous request. */
  | { readonly kind: "first" }
  /** Everything that the previous request had left was read. */
  | { readonly kind: "as-predicted" }
  /** More was read than this conversation wrote: another one wrote it. */
  | { readonly kind: "more"; readonly tokens: number }
  | { readonly kind: "expected"; readonly why: readonly ExpectedDrop[]; readonly lost: number }
  /** Less was read than the previous request had left. A large drop is a break, a small one only a difference. */
  | {
      readonly kind: "break" | "less"
      readonly cause: CacheCause
      readonly lost: number
      readonly rewrittenTokens: CacheMissCost
      /** Whether the drop was predicted. */
      readonly foreseen: boolean
      /** The change that the provider reports, if it was asked and found one. */
      readonly provider?: ProviderReason
    }

export interface Prediction {
  readonly read: number
  /** Whether the value is based only on the API's counts. Otherwise it is partly estimated. */
  readonly counted: boolean
  /** Why less will be read than the previous request left. */
  readonly cause?: CacheCause
}

export interface CacheObservation {
  readonly before: { readonly read: number; readonly cached: number } | undefined
  readonly predicted: Prediction
  readonly counts: TokenCounts
  readonly facts: ModelFacts
  /** Changes recorded since the previous request. */
  readonly announced: readonly CacheChange[]
  /** The server reports other edits of its copy than before. */
  readonly editedByServer: boolean
  /** Tokens deleted from the cache since the request before. */
  readonly deleted: number
  /** Another possible explanation for an unpredicted drop. */
  readonly suspects: () => CacheCause | undefined
}

export function evaluateCacheRead(given: CacheObservation): CacheVerdict {
  const { before, predicted, counts, deleted, facts } = given
  if (!before) return { kind: "first" }
  const { cacheRead: read } = counts
  const expected = Math.max(0, predicted.read - deleted)
  const left = Math.max(before.cached - deleted, expected)
  const lost = left - read
  if (lost <= 0)
    return deleted > 0 && read < before.cached ? drop(given, ["deletion"]) : lost < 0 ? more(-lost) : AS_PREDICTED
  const meant = intendedCauses(given, expected)
  if (meant.length > 0) return drop(given, meant)
  return {
    kind: isBreak(before.read - deleted, read) ? "break" : "less",
    cause: predicted.cause ?? belowMinimum(given) ?? given.suspects() ?? { kind: "provider" },
    lost,
    rewrittenTokens: cacheMissCosts({ cachedBefore: left, counts, facts }),
    foreseen: matchesPrediction({ ...predicted, read: expected }, read),
  }
}

const AS_PREDICTED: CacheVerdict = { kind: "as-predicted" }
const more = (tokens: number): CacheVerdict => ({ kind: "more", tokens })

function drop({ before, counts }: CacheObservation, why: readonly ExpectedDrop[]): CacheVerdict {
  return { kind: "expected", why, lost: before!.cached - counts.cacheRead }
}

/**
 * A recorded change moves the baseline to the prediction after it. A drop below that is still a break, unless the prediction is an
 * estimate.
 */
function intendedCauses(
  { announced, editedByServer, predicted, counts }: CacheObservation,
  expected: number,
): readonly ExpectedDrop[] {
  if (editedByServer) return ["clearing"]
  if (predicted.counted && isBreak(expected, counts.cacheRead)) return []
  const recorded = announced.filter((change) => INTENDED.has(change))
  if (recorded.length > 0) return recorded
  return predicted.cause?.kind === "forgotten-thinking" ? ["forgotten-thinking"] : []
}

function belowMinimum({ counts, facts }: CacheObservation): CacheCause | undefined {
  const tokens = inputTokens(counts)
  const isCached = counts.cacheRead + counts.cacheWrite5m + counts.cacheWrite1h > 0
  if (isCached || tokens >= facts.minCacheable) return undefined
  return { kind: "below-minimum", tokens, minimum: facts.minCacheable }
}

function matchesPrediction({ read: predicted, counted }: Prediction, read: number): boolean {
  return counted ? predicted === read : !isBreak(Math.max(predicted, read), Math.min(predicted, read))
}

// The provider's own explanation of a cache miss, and whether it agrees with ours.

const CHANGED: ReadonlyMap<unknown, ProviderReason["changed"]> = new Map([
  ["model_changed", "model"],
  ["system_changed", "system"],
  ["tools_changed", "tools"],
  ["messages_changed", "messages"],
] as const)

/** Returns `undefined` if the provider found no change or cannot tell. */
export function providerReason(diagnostics: unknown): ProviderReason | undefined {
  const { cache_miss_reason: reason } = (diagnostics ?? {}) as { readonly cache_miss_reason?: unknown }
  const { type, cache_missed_input_tokens: tokens } = (reason ?? {}) as Readonly<Record<string, unknown>>
  const changed = CHANGED.get(type)
  return changed && { changed, ...(typeof tokens === "number" ? { tokens } : {}) }
}

/** Only causes that change bytes can be compared with the provider's finding. */
export function agreesWith({ changed }: ProviderReason, cause: CacheCause): boolean {
  if (cause.kind === "prompt") return changed !== "model"
  if (cause.kind === "forgotten-thinking") return changed === "messages"
  return cause.kind === "changed" && (cause.part === changed || cause.part === "settings" || cause.part === "betas")
}

// Describes a cache break for the user in one line: its cost and its cause.

export type CacheBreakVerdict = Extract<CacheVerdict, { readonly kind: "break" | "less" }>

const MINUTE_MS = 60_000
const LIFETIMES = { "5m": "5 minutes", "1h": "an hour" } as const

export function describeBreak({ rewrittenTokens, cause, provider }: CacheBreakVerdict): string {
  const { tokens, dollars } = rewrittenTokens
  const cost = dollars === undefined ? "" : ` for $${dollars < 0.01 ? dollars.toFixed(4) : dollars.toFixed(2)} more`
  return `The cache was lost: ${formatNumber(tokens)} tokens had to be sent again${cost}, because ${describeCause(cause)}.${provider ? ` ${describeProviderReason(provider, cause)}` : ""}`
}

const CHANGED_PART_LABELS = {
  model: "the model",
  system: "the system prompt",
  tools: "the tools",
  messages: "the messages",
} as const

function describeProviderReason(provider: ProviderReason, cause: CacheCause): string {
  const size = provider.tokens === undefined ? "" : `, ${formatNumber(provider.tokens)} tokens`
  if (agreesWith(provider, cause)) return `The provider reports the same cause${size}.`
  return `The provider reports that ${CHANGED_PART_LABELS[provider.changed]} changed${size}; a second comparison of the requests shows no such change.`
}

function describeCause(cause: CacheCause): string {
  switch (cause.kind) {
    case "time-to-live":
      return `${formatIdleTime(cause.idleMs)} had passed, and it is kept for ${LIFETIMES[cause.lifetime]}`
    case "changed":
      return describeChange(cause)
    case "prompt":
      return "system prompt, tools or instructions changed"
    case "look-back":
      return `${cause.items} blocks had been added since the last request, more than the server looks back over`
    case "forgotten-thinking":
      return "the model drops its earlier thinking when you send a message"
    case "below-minimum":
      return `${formatNumber(cause.tokens)} tokens are too few for a cache (${formatNumber(cause.minimum)} are needed)`
    case "provider":
      return "the provider dropped it: nothing had changed here"
  }
}

function describeChange(cause: Extract<CacheCause, { kind: "changed" }>): string {
  switch (cause.part) {
    case "model":
      return "another model was used"
    case "tools":
      return "the tools changed"
    case "system":
      return "the system prompt changed"
    case "settings":
      return `the setting "${cause.setting}" changed`
    case "messages":
      return `message ${cause.message + 1} changed (block ${cause.block + 1}, byte ${cause.byte})`
    case "betas":
      return "other beta features were requested"
  }
}

function formatIdleTime(ms: number): string {
  if (!Number.isFinite(ms)) return "a long time"
  const minutes = Math.floor(ms / MINUTE_MS)
  return minutes === 1 ? "1 minute" : `${formatNumber(minutes)} minutes`
}
