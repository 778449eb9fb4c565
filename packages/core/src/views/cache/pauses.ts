/**
 * The pauses of a conversation between an answer and the next message, and what its requests read and wrote around them. From that the
 * planner knows how long you usually stay away, and whether keeping the cache longer has paid.
 */
import { addCounts, inputTokens, NO_TOKENS, subtractCounts, type TokenCounts } from "../../base/token-counts.ts"
import { cachedTokens } from "./cache-break.ts"

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

export const LEAST_PAUSE_MINUTES = 4.5 // then a cache of five minutes has to be kept warm
const FIVE_MINUTES = 5
const HOUR = 60
const MOST_RECENT = 32 // habits change
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
  if (minutes > LEAST_PAUSE_MINUTES) state.recent.push(minutes)
  if (state.recent.length > MOST_RECENT) state.recent.shift()
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
