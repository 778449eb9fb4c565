/**
 * The pauses of a conversation between a response and the next message, and what its requests read and wrote around them. From these
 * the planner estimates how long the user usually stays away, and whether longer cache lifetimes have paid off.
 */
import { addCounts, inputTokens, NO_TOKENS, subtractCounts, type TokenCounts } from "../../base/text.ts"
import type { DecisionEntry } from "../../journal/entries.ts"
import type { Usage } from "../../messages/messages.ts"
import { type ModelFacts, priceFor, tokenCounts } from "../../tokens/models.ts"

// When the server's cache is broken, and the cost: one rule for running conversations and for recordings.

const MIN_SHARE = 0.05 // of the tokens read before; smaller drops come from moved breakpoints
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

/** The tokens that a request left in the cache for the next one to read. */
export function cachedTokens({ cacheRead, cacheWrite5m, cacheWrite1h }: TokenCounts): number {
  return cacheRead + cacheWrite5m + cacheWrite1h
}

/** Whether everything that a request wrote has a lifetime of an hour. If only the prompt does, the messages end the cache. */
export const hasHourLifetime = ({ cacheWrite5m, cacheWrite1h }: TokenCounts): boolean =>
  cacheWrite1h > 0 && cacheWrite5m === 0

/** The cost of writing lost cache content again. */
export interface CacheMissCost {
  /** Tokens that were in the cache and were billed in full again. */
  readonly tokens: number
  /** Cost beyond reading these tokens. `undefined` if the price is unknown. */
  readonly dollars: number | undefined
}

export interface CacheReadDrop {
  /** Tokens that could have been read. */
  readonly cachedBefore: number
  readonly counts: TokenCounts
  readonly facts: ModelFacts
}

export function cacheMissCosts({ cachedBefore, counts, facts }: CacheReadDrop): CacheMissCost {
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

/** Totals of the pauses in one range of lengths. */
export interface PauseSum {
  readonly count: number
  /** Tokens that have to be written again if the cache is lost, summed over the pauses. */
  readonly tokens: number
}

export interface Pauses {
  /** Minutes of the latest pauses that are too long for a cache of five minutes without keep-warm requests. Newest last. */
  readonly recent: number[]
  /** Pauses that a lifetime of an hour covers; `beyondHour`: longer ones. */
  withinHour: PauseSum
  beyondHour: PauseSum
  /** Tokens read after such pauses only because of a longer lifetime. Otherwise they would have been written again. */
  saved: number
  /** Tokens that were new when they were cached. */
  grown: number
  /** Token counts of all requests of the conversation, and of those that kept its cache warm. */
  requests: TokenCounts
  pings: TokenCounts
  /** False once the server lost content before its lifetime of an hour ended. */
  hourHolds: boolean
  newest: LastResponse | undefined
  /** Time of the newest message after that response. */
  asked: number | undefined
}

interface LastResponse {
  readonly id: string
  readonly at: number | undefined
  readonly counts: TokenCounts
  /** Its request used a lifetime of an hour, at least for the prompt. */
  readonly isLong: boolean
  readonly pause: Pause
}

/** The pause before a response: its length, the cached tokens before it, and whether anything was done to preserve them. */
interface Pause {
  readonly minutes: number
  readonly before: TokenCounts | undefined
  readonly isKept: boolean
}

type PauseRange = "withinHour" | "beyondHour"

/** What one response adds to the totals. */
interface PauseEffect {
  readonly withinHour: PauseSum
  readonly beyondHour: PauseSum
  readonly saved: number
  readonly grown: number
  readonly requests: TokenCounts
}

export interface PausedResponse {
  readonly id: string
  /** In milliseconds. Absent if the format has no times. */
  readonly at: number | undefined
  readonly counts: TokenCounts
  /** The last keep-warm request: its time and the lifetime from then on. */
  readonly warmed: { readonly at: number; readonly lifetime: "5m" | "1h" } | undefined
  /** Its request used a lifetime of an hour, at least for the prompt. */
  readonly isLong: boolean
  /** Whether the context was changed on purpose, so that less is read in any case. */
  readonly isChanged: boolean
}

export const MIN_PAUSE_MINUTES = 4.5 // from this length on, a cache of five minutes needs keep-warm requests
const FIVE_MINUTES = 5
const HOUR = 60
const MAX_RECENT = 32 // older pauses are dropped, because behaviour changes
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

export function noteKeepWarm(state: Pauses, counts: TokenCounts): void {
  state.pings = addCounts(state.pings, counts)
}

/** Notes a message of the user or a result. The last one before a response ends the pause. */
export function noteMessage(state: Pauses, at: number): void {
  if (state.newest) state.asked = at
}

export function noteResponse(state: Pauses, response: PausedResponse): void {
  const { id, at, counts, warmed, isLong } = response
  const before = state.newest
  if (before?.id === id) {
    // a response in several entries: the last one has the complete usage
    add(state, pauseEffect(before.counts, before.pause), -1)
    add(state, pauseEffect(counts, before.pause), 1)
    state.newest = { ...before, at, counts }
    return
  }
  const minutes = minutesBetween(before?.at, state.asked ?? at)
  if (minutes > MIN_PAUSE_MINUTES) state.recent.push(minutes)
  if (state.recent.length > MAX_RECENT) state.recent.shift()
  if (before) state.hourHolds &&= !wasExpired(response, { before, asked: state.asked })
  const isWarmed = warmed !== undefined && warmed.at > (before?.at ?? Number.POSITIVE_INFINITY)
  const pause = { minutes, before: before?.counts, isKept: before?.isLong === true || isWarmed }
  add(state, pauseEffect(counts, pause), 1)
  state.newest = { id, at, counts, isLong, pause }
  state.asked = undefined
}

/** The totals including the pause that the newest message has ended, or that ends now. The response to it has not arrived yet. */
export function withNewestPause(pauses: Pauses, now: Date): Pick<PauseEffect, PauseRange> {
  const { withinHour, beyondHour, newest, asked = now.getTime() } = pauses
  const minutes = minutesBetween(newest?.at, asked)
  if (!newest || minutes <= FIVE_MINUTES) return { withinHour, beyondHour }
  const pause = { count: 1, tokens: cachedTokens(newest.counts) }
  return minutes <= HOUR
    ? { withinHour: pauseSum(withinHour, pause), beyondHour }
    : { withinHour, beyondHour: pauseSum(beyondHour, pause) }
}

const minutesBetween = (from: number | undefined, to: number | undefined): number =>
  from === undefined || to === undefined ? 0 : Math.max(0, to - from) / MS_PER_MINUTE

/** The cached tokens before the pause that the request still sends. */
const tokensAtRisk = (before: TokenCounts, counts: TokenCounts) => Math.min(cachedTokens(before), inputTokens(counts))

function pauseEffect(counts: TokenCounts, { before, minutes, isKept }: Pause): PauseEffect {
  const [withinHour, beyondHour, requests] = [NO_PAUSES, NO_PAUSES, counts]
  if (!before || minutes <= FIVE_MINUTES)
    return { withinHour, beyondHour, requests, saved: 0, grown: counts.cacheWrite5m + counts.cacheWrite1h }
  const tokens = tokensAtRisk(before, counts)
  return {
    withinHour: minutes <= HOUR ? { count: 1, tokens } : withinHour,
    beyondHour: minutes > HOUR ? { count: 1, tokens } : beyondHour,
    requests,
    saved: isKept ? Math.min(counts.cacheRead, tokens) : 0,
    grown: Math.max(0, inputTokens(counts) - cachedTokens(before)),
  }
}

/** Whether less than half of the content with a lifetime of an hour was read. */
function wasExpired(
  { counts, warmed, isChanged, at }: PausedResponse,
  { before, asked }: { readonly before: LastResponse; readonly asked: number | undefined },
): boolean {
  if (isChanged || warmed?.lifetime !== "1h" || before.at === undefined || warmed.at < before.at) return false
  const since = minutesBetween(warmed.at, asked ?? at)
  return since > FIVE_MINUTES && since < HOUR && counts.cacheRead < tokensAtRisk(before.counts, counts) / 2
}

function add(state: Pauses, { withinHour, beyondHour, saved, grown, requests }: PauseEffect, sign: 1 | -1): void {
  state.withinHour = pauseSum(state.withinHour, withinHour, sign)
  state.beyondHour = pauseSum(state.beyondHour, beyondHour, sign)
  state.saved += sign * saved
  state.grown += sign * grown
  state.requests = (sign === 1 ? addCounts : subtractCounts)(state.requests, requests)
}

function pauseSum(a: PauseSum, b: PauseSum, sign: 1 | -1 = 1): PauseSum {
  return { count: a.count + sign * b.count, tokens: a.tokens + sign * b.tokens }
}

// What earlier conversations of the same owner reveal about pauses, so that a new one need not lose caches to learn it.

/** What is known about pauses before a conversation has had any. */
export interface PausePrior {
  /** The cache lifetime in the client's own requests, if they set one. */
  readonly asked?: "5m" | "1h" | undefined
  /** Whether a program answers: it makes no pauses, and does not return after the end. */
  readonly isProgram?: boolean | undefined
  readonly earlier?: EarlierPauses | undefined
}

export interface EarlierPauses {
  readonly conversations: number
  /** Pauses longer than five minutes that a lifetime of an hour covers; `beyondHour`: longer ones. */
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
    withinHour: combineSums(withinHour, before.withinHour, -1),
    beyondHour: combineSums(beyondHour, before.beyondHour, -1),
    grown: grown - before.grown,
  }
}

/** Adds a conversation. Older ones weigh less, because behaviour changes. */
export function withConversation(earlier: EarlierPauses, added: EarlierPauses): EarlierPauses {
  const { withinHour, beyondHour, grown, conversations } = earlier
  const aged = ({ count, tokens }: PauseSum) => ({ count: DECAY * count, tokens: DECAY * tokens })
  return {
    conversations: DECAY * conversations + added.conversations,
    withinHour: combineSums(aged(withinHour), added.withinHour, 1),
    beyondHour: combineSums(aged(beyondHour), added.beyondHour, 1),
    grown: DECAY * grown + added.grown,
  }
}

const DECAY = 0.95 // per conversation: the latest twenty have most of the weight

const combineSums = (a: PauseSum, b: PauseSum, sign: 1 | -1): PauseSum => ({
  count: a.count + sign * b.count,
  tokens: a.tokens + sign * b.tokens,
})

// Why a cache broke, as far as the journal shows: decisions between two responses, the pause, and how much was still read.

/** A recorded decision that changes the request before the newest messages. */
export type CacheChange = "compaction" | "clearing" | "deletion" | "undoing" | "rewinding" | "prompt"

/** Breaks after these changes are intended: the context was reduced or replaced. */
export const INTENDED: ReadonlySet<CacheChange> = new Set([
  "compaction",
  "clearing",
  "deletion",
  "undoing",
  "rewinding",
])

/** The cause of a break in the server's cache. */
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
  /** Only the constant prefix was read. */
  | "prompt-left"
  | "history-changed"

/** In order of precedence. */
const CAUSE_BY_CHANGE: readonly (readonly [CacheChange, BreakCause])[] = [
  ["compaction", "compaction"],
  ["clearing", "clearing"],
  ["deletion", "clearing"],
  ["rewinding", "rewound"],
  ["undoing", "undone"],
]

const FIVE_MINUTES_CACHE_CAUSES = 5
const HOUR_CACHE_CAUSES = 60
const SLACK = 1.05 // a prompt has about the same size each time it is read

export function cacheChangeOf(decision: DecisionEntry): CacheChange | undefined {
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

export interface BreakEvidence {
  readonly changes: readonly CacheChange[]
  readonly otherModel: boolean
  readonly gapMinutes: number
  readonly wroteForAnHour: boolean
  readonly read: number
  /** The smallest number of tokens read so far. */
  readonly minRead: number
}

/** The first cause that fits the evidence. */
export function findBreakCause({
  changes,
  otherModel,
  gapMinutes,
  wroteForAnHour,
  read,
  minRead,
}: BreakEvidence): BreakCause {
  const recorded = CAUSE_BY_CHANGE.find(([change]) => changes.includes(change))
  if (recorded) return recorded[1]
  if (otherModel) return "other-model"
  if (changes.includes("prompt")) return "prompt-changed"
  if (gapMinutes > HOUR_CACHE_CAUSES) return "hour-over"
  if (gapMinutes > FIVE_MINUTES_CACHE_CAUSES && !wroteForAnHour) return "five-minutes-over"
  if (read === 0) return "all-gone"
  return read <= SLACK * minRead ? "prompt-left" : "history-changed"
}
