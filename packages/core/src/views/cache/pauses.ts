/**
 * The pauses of a conversation between an answer and the next message, and what its requests read and wrote around them. From that the
 * planner knows how long you usually stay away, and whether keeping the cache longer has paid.
 */
import { addCounts, inputTokens, NO_TOKENS, subtractCounts, type TokenCounts } from "../../base/text.ts"
import type { DecisionEntry } from "../../journal/entries.ts"
import type { Usage } from "../../messages/messages.ts"
import { type ModelFacts, priceFor, tokenCounts } from "../../tokens/models.ts"

// When the server's cache is broken, and what that costs: one rule for running conversations and for recordings.

const MIN_SHARE = 0.05 // of what was read before; smaller drops are breakpoints that moved
const MIN_TOKENS = 2_000

/** Whether this drop in tokens read from the cache is a break. */
export function isBreak(readBefore: number, read: number): boolean {
  const drop = readBefore - read
  return drop > MIN_TOKENS && drop > MIN_SHARE * readBefore
}

/** What the request itself read and wrote. Extra passes of the server have a cache of their own. */
export function cacheCounts({ iterations: _, ...usage }: Usage): TokenCounts {
  return tokenCounts(usage)
}

/** What a request left in the cache for the next one to read. */
export function cachedTokens({ cacheRead, cacheWrite5m, cacheWrite1h }: TokenCounts): number {
  return cacheRead + cacheWrite5m + cacheWrite1h
}

/** Whether all that a request wrote lives for an hour. A prompt may live longer than the messages after it: then those end the cache. */
export const livesAnHour = ({ cacheWrite5m, cacheWrite1h }: TokenCounts): boolean =>
  cacheWrite1h > 0 && cacheWrite5m === 0

/** What was paid for again after the cache was lost. */
export interface CacheMissCost {
  /** Tokens that were in the cache and were paid in full again. */
  readonly tokens: number
  /** What that cost beyond reading them. `undefined` where the price is unknown. */
  readonly dollars: number | undefined
}

export interface Loss {
  /** What could have been read. */
  readonly cachedBefore: number
  readonly counts: TokenCounts
  readonly facts: ModelFacts
}

export function cacheMissCosts({ cachedBefore, counts, facts }: Loss): CacheMissCost {
  const { cacheRead, input, cacheWrite5m, cacheWrite1h } = counts
  const unread = inputTokens(counts) - cacheRead
  const tokens = Math.max(0, Math.min(cachedBefore - cacheRead, unread))
  const price = priceFor(facts, counts)
  if (!price) return { tokens, dollars: undefined }
  if (tokens === 0) return { tokens, dollars: 0 }
  const perToken =
    (input * price.input + cacheWrite5m * price.cacheWrite5m + cacheWrite1h * price.cacheWrite1h) / unread
  return { tokens, dollars: (tokens * (perToken - price.cacheRead)) / 1_000_000 }
}

/** Pauses that five minutes do not bridge. */
export interface PauseSum {
  readonly count: number
  /** Tokens that a lost cache has to write again, summed over the pauses. */
  readonly tokens: number
}

export interface Pauses {
  /** Minutes of the latest pauses in which a cache of five minutes has to be kept warm. Newest last. */
  readonly recent: number[]
  /** Those that an hour bridges, and those that it does not. */
  withinHour: PauseSum
  beyondHour: PauseSum
  /** Tokens read after such pauses because the cache was kept for longer. Otherwise they would have been written again. */
  saved: number
  /** Tokens that were new when they were cached. */
  grown: number
  /** All requests of the conversation, and those that kept its cache warm. */
  requests: TokenCounts
  pings: TokenCounts
  /** False once the server had forgotten what was kept for an hour. */
  hourHolds: boolean
  newest: Answered | undefined
  /** When the newest message after that response was added. */
  asked: number | undefined
}

interface Answered {
  readonly id: string
  readonly at: number | undefined
  readonly counts: TokenCounts
  /** Its request asked for an hour, at least for the prompt. */
  readonly isLong: boolean
  readonly pause: Pause
}

/** Before a response: how long it was, what the response before it left, and whether anything was done to keep that. */
interface Pause {
  readonly minutes: number
  readonly before: TokenCounts | undefined
  readonly isKept: boolean
}

type PauseKind = "withinHour" | "beyondHour"

/** What one response adds to the sums. */
interface Effect {
  readonly withinHour: PauseSum
  readonly beyondHour: PauseSum
  readonly saved: number
  readonly grown: number
  readonly requests: TokenCounts
}

export interface PausedResponse {
  readonly id: string
  /** In milliseconds. Absent where the format has no times. */
  readonly at: number | undefined
  readonly counts: TokenCounts
  /** When the cache was last kept warm, and for how long. */
  readonly warmed: { readonly at: number; readonly lifetime: "5m" | "1h" } | undefined
  /** Its request asked for an hour, at least for the prompt. */
  readonly isLong: boolean
  /** The context was changed on purpose, so less is read in any case. */
  readonly isChanged: boolean
}

export const MIN_PAUSE_MINUTES = 4.5 // then a cache of five minutes has to be kept warm
const FIVE_MINUTES = 5
const HOUR = 60
const MAX_RECENT = 32 // habits change
const MS_PER_MINUTE = 60_000

const NO_PAUSES: PauseSum = { count: 0, tokens: 0 }

export const noPauses = (): Pauses => ({
  recent: [],
  withinHour: NO_PAUSES,
  beyondHour: NO_PAUSES,
  saved: 0,
  grown: 0,
  requests: NO_TOKENS,
  pings: NO_TOKENS,
  hourHolds: true,
  newest: undefined,
  asked: undefined,
})

export function notePing(state: Pauses, counts: TokenCounts): void {
  state.pings = addCounts(state.pings, counts)
}

/** A message of the person or a result. The last one before a response ends the pause. */
export function noteMessage(state: Pauses, at: number): void {
  if (state.newest) state.asked = at
}

export function noteResponse(state: Pauses, response: PausedResponse): void {
  const { id, at, counts, warmed, isLong } = response
  const before = state.newest
  if (before?.id === id) {
    // a response in several entries: the last one has the whole usage
    add(state, effectOf(before.counts, before.pause), -1)
    add(state, effectOf(counts, before.pause), 1)
    state.newest = { ...before, at, counts }
    return
  }
  const minutes = minutesBetween(before?.at, state.asked ?? at)
  if (minutes > MIN_PAUSE_MINUTES) state.recent.push(minutes)
  if (state.recent.length > MAX_RECENT) state.recent.shift()
  if (before) state.hourHolds &&= !isForgotten(response, { before, asked: state.asked })
  const isWarmed = warmed !== undefined && warmed.at > (before?.at ?? Number.POSITIVE_INFINITY)
  const pause = { minutes, before: before?.counts, isKept: before?.isLong === true || isWarmed }
  add(state, effectOf(counts, pause), 1)
  state.newest = { id, at, counts, isLong, pause }
  state.asked = undefined
}

/** With the pause that the newest message has ended, or one that comes now. The response to it has not come yet. */
export function withNewestPause(pauses: Pauses, now: Date): Pick<Effect, PauseKind> {
  const { withinHour, beyondHour, newest, asked = now.getTime() } = pauses
  const minutes = minutesBetween(newest?.at, asked)
  if (!newest || minutes <= FIVE_MINUTES) return { withinHour, beyondHour }
  const pause = { count: 1, tokens: cachedTokens(newest.counts) }
  return minutes <= HOUR
    ? { withinHour: sumOf(withinHour, pause), beyondHour }
    : { withinHour, beyondHour: sumOf(beyondHour, pause) }
}

const minutesBetween = (from: number | undefined, to: number | undefined): number =>
  from === undefined || to === undefined ? 0 : Math.max(0, to - from) / MS_PER_MINUTE

/** What the cache held before the pause, as far as the request still sends it. */
const atStake = (before: TokenCounts, counts: TokenCounts) => Math.min(cachedTokens(before), inputTokens(counts))

function effectOf(counts: TokenCounts, { before, minutes, isKept }: Pause): Effect {
  const [withinHour, beyondHour, requests] = [NO_PAUSES, NO_PAUSES, counts]
  if (!before || minutes <= FIVE_MINUTES)
    return { withinHour, beyondHour, requests, saved: 0, grown: counts.cacheWrite5m + counts.cacheWrite1h }
  const tokens = atStake(before, counts)
  return {
    withinHour: minutes <= HOUR ? { count: 1, tokens } : withinHour,
    beyondHour: minutes > HOUR ? { count: 1, tokens } : beyondHour,
    requests,
    saved: isKept ? Math.min(counts.cacheRead, tokens) : 0,
    grown: Math.max(0, inputTokens(counts) - cachedTokens(before)),
  }
}

/** Whether less than half was read of what a request had kept for an hour. */
function isForgotten(
  { counts, warmed, isChanged, at }: PausedResponse,
  { before, asked }: { readonly before: Answered; readonly asked: number | undefined },
): boolean {
  if (isChanged || warmed?.lifetime !== "1h" || before.at === undefined || warmed.at < before.at) return false
  const since = minutesBetween(warmed.at, asked ?? at)
  return since > FIVE_MINUTES && since < HOUR && counts.cacheRead < atStake(before.counts, counts) / 2
}

function add(state: Pauses, { withinHour, beyondHour, saved, grown, requests }: Effect, sign: 1 | -1): void {
  state.withinHour = sumOf(state.withinHour, withinHour, sign)
  state.beyondHour = sumOf(state.beyondHour, beyondHour, sign)
  state.saved += sign * saved
  state.grown += sign * grown
  state.requests = (sign === 1 ? addCounts : subtractCounts)(state.requests, requests)
}

function sumOf(a: PauseSum, b: PauseSum, sign: 1 | -1 = 1): PauseSum {
  return { count: a.count + sign * b.count, tokens: a.tokens + sign * b.tokens }
}

// What earlier conversations of the same owner say about pauses, so that the next one need not lose caches to learn it.

/** What is known about pauses before a conversation has had any. */
export interface PausePrior {
  /** How long the caller's own requests ask the server to keep what they cache, where they say so. */
  readonly asked?: "5m" | "1h" | undefined
  /** A program answers: it makes no pauses, and after the end it does not come back. */
  readonly isProgram?: boolean | undefined
  readonly earlier?: EarlierPauses | undefined
}

export interface EarlierPauses {
  readonly conversations: number
  /** Pauses that an hour bridges and five minutes do not, and those that an hour does not bridge. */
  readonly withinHour: PauseSum
  readonly beyondHour: PauseSum
  /** Tokens that were new when they were cached. */
  readonly grown: number
}

export const NO_EARLIER_PAUSES: EarlierPauses = {
  conversations: 0,
  withinHour: { count: 0, tokens: 0 },
  beyondHour: { count: 0, tokens: 0 },
  grown: 0,
}

/** What a conversation has added since it was opened. */
export function pausesSince({ withinHour, beyondHour, grown }: Pauses, before: EarlierPauses): EarlierPauses {
  return {
    conversations: 1,
    withinHour: combined(withinHour, before.withinHour, -1),
    beyondHour: combined(beyondHour, before.beyondHour, -1),
    grown: grown - before.grown,
  }
}

/** Older ones count less: habits change. */
export function withConversation(earlier: EarlierPauses, added: EarlierPauses): EarlierPauses {
  const { withinHour, beyondHour, grown, conversations } = earlier
  const aged = ({ count, tokens }: PauseSum) => ({ count: AGEING * count, tokens: AGEING * tokens })
  return {
    conversations: AGEING * conversations + added.conversations,
    withinHour: combined(aged(withinHour), added.withinHour, 1),
    beyondHour: combined(aged(beyondHour), added.beyondHour, 1),
    grown: AGEING * grown + added.grown,
  }
}

const AGEING = 0.95 // for each conversation: the latest twenty count most

const combined = (a: PauseSum, b: PauseSum, sign: 1 | -1): PauseSum => ({
  count: a.count + sign * b.count,
  tokens: a.tokens + sign * b.tokens,
})

// Why a cache broke, as far as the journal shows: decisions between two responses, the pause, and how much was still read.

/** A recorded decision that changes what is sent before the newest messages. */
export type CacheChange = "compaction" | "clearing" | "deletion" | "undoing" | "rewinding" | "prompt"

/** Breaks after these are intended: the context was made smaller or replaced. */
export const MEANT: ReadonlySet<CacheChange> = new Set(["compaction", "clearing", "deletion", "undoing", "rewinding"])

/** Why the server's cache broke. */
export type BreakCause =
  | "compaction"
  | "clearing"
  | "undone"
  | "rewound"
  | "other-model"
  | "prompt-changed"
  | "hour-over"
  | "five-minutes-over"
  /** Nothing was read: the prompt or the tools changed, or the provider dropped the cache. */
  | "all-gone"
  /** Only the part that never changes was read. */
  | "prompt-left"
  | "history-changed"

/** In order of precedence. */
const CAUSE_OF: readonly (readonly [CacheChange, BreakCause])[] = [
  ["compaction", "compaction"],
  ["clearing", "clearing"],
  ["deletion", "clearing"],
  ["rewinding", "rewound"],
  ["undoing", "undone"],
]

const FIVE_MINUTES_CACHE_CAUSES = 5
const HOUR_CACHE_CAUSES = 60
const SLACK = 1.05 // a prompt is about as large each time it is read

export function changeIn(decision: DecisionEntry): CacheChange | undefined {
  switch (decision.subtype) {
    case "compacted":
      return "compaction"
    case "tool-results-cleared":
      return decision.why === "cache-edit" ? "deletion" : "clearing"
    case "cache-edits-dropped":
    case "thinking-dropped":
    case "media-withheld":
    case "folded":
    case "snipped":
      return "clearing"
    case "undone":
      return "undoing"
    case "rewound":
      return "rewinding"
    case "prompt-rendered":
      return decision.why === "start" ? undefined : "prompt"
    default:
      return undefined
  }
}

export interface Evidence {
  readonly changes: readonly CacheChange[]
  readonly otherModel: boolean
  readonly gapMinutes: number
  readonly wroteForAnHour: boolean
  readonly read: number
  /** The smallest read so far. */
  readonly minRead: number
}

/** The first cause that fits. */
export function causeOf({ changes, otherModel, gapMinutes, wroteForAnHour, read, minRead }: Evidence): BreakCause {
  const recorded = CAUSE_OF.find(([change]) => changes.includes(change))
  if (recorded) return recorded[1]
  if (otherModel) return "other-model"
  if (changes.includes("prompt")) return "prompt-changed"
  if (gapMinutes > HOUR_CACHE_CAUSES) return "hour-over"
  if (gapMinutes > FIVE_MINUTES_CACHE_CAUSES && !wroteForAnHour) return "five-minutes-over"
  if (read === 0) return "all-gone"
  return read <= SLACK * minRead ? "prompt-left" : "history-changed"
}
