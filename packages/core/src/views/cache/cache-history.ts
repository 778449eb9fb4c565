/**
 * How the server's cache served a conversation: what the latest responses read and wrote, where the cache broke, why, and the cost.
 * Computed from the journal alone, so it also works for recordings of other programs.
 *
 * Decisions between two responses name the cause; otherwise the pause and the token counts do. Deleting results inside the cache is not
 * a break.
 */

import type { CacheLifetime, RequestSource } from "../../base/enums.ts"
import { NO_TOKENS, type TokenCounts } from "../../base/text.ts"
import {
  type ChosenLifetimes,
  type DecisionOf,
  type Entry,
  isBoundaryEntry,
  isDecision,
} from "../../journal/entries.ts"
import { type AssistantMessage, isSynthetic, usableUsage } from "../../messages/messages.ts"
import { findModel, type ModelOverride } from "../../tokens/models.ts"
import type { Projection } from "../projection.ts"
import {
  type BreakCause,
  type CacheChange,
  cacheChangeOf,
  cacheCounts,
  cachedTokens,
  cacheMissCosts,
  findBreakCause,
  hasHourLifetime,
  isBreak,
  noPauses,
  noteKeepWarm,
  noteMessage,
  noteResponse,
  type Pauses,
} from "./pauses.ts"

/** Why an hour was expected to pay off before any pause showed it. */
export type HourExpectationReason = NonNullable<DecisionOf<"cache-lifetime">["expected"]>

export interface CacheHistory {
  /** Number of responses, including those without usage. */
  turns: number
  turnId: string | undefined
  /** The latest responses with usage, newest last. */
  readonly responses: CachedResponse[]
  /** Changes recorded since the newest response. */
  changes: CacheChange[]
  /** The edits that the server reported last, and the response that reported them. */
  serverEdits: { readonly turn: number; readonly text: string } | undefined
  /** The smallest number of tokens read so far: about the size of the shared prefix. */
  minRead: number | undefined
  /** Whether the last write to the cache has a lifetime of an hour. */
  wroteForAnHour: boolean
  /** The last keep-warm request of a pause: its time, the lifetime from then on, and the number of tokens. */
  warmed: { readonly at: string; readonly lifetime: "5m" | "1h"; readonly tokens: number } | undefined
  readonly pauses: Pauses
  /** The cache lifetimes that the planner chose, and why. Absent if it has not decided. */
  chosen: (ChosenLifetimes & { readonly why: string }) | undefined
  /** Why it expected an hour to pay off when the conversation started, if it did. */
  expected: HourExpectationReason | undefined
  /**
   * State at Strata's first own request: the number of responses before it, and whether another program's last write has a lifetime of
   * an hour.
   */
  begun: { readonly turns: number; readonly forAnHour: boolean } | undefined
  /** The most expensive breaks, in chronological order. */
  readonly breaks: CacheBreak[]
  readonly totals: Map<BreakCause, CacheBreakTotal>
  /** The break at the newest response, if there is one. */
  newestBreak: CacheBreak | undefined
}

export interface CachedResponse {
  readonly id: string
  readonly turn: number
  /** Time at which its response started. Absent if the format has no times. */
  readonly at?: string
  readonly model: string
  readonly counts: TokenCounts
  /** Total of tokens deleted from the cache. */
  readonly deleted: number
  /** Changes recorded between the previous response and this one. */
  readonly changes: readonly CacheChange[]
  readonly apiReason?: string
}

/** A break of the cache: a request that read much less from it than the one before. */
export interface CacheBreak {
  readonly turn: number
  readonly model: string
  readonly readBefore: number
  readonly read: number
  /** Input that was in the cache and was written or billed in full again. */
  readonly rewrittenTokens: number
  /** Cost beyond reading these tokens. Absent if the price is unknown. */
  readonly dollars?: number
  /** Minutes since the previous response. Absent if the format has no times. */
  readonly gapMinutes?: number
  readonly cause: BreakCause
  /** The response that read less. */
  readonly responseId: string
  /** The reason that the API reported, such as `system_changed`, if it was recorded. */
  readonly apiReason?: string
}

/** Totals of several breaks. */
export interface CacheBreakTotal {
  breaks: number
  rewrittenTokens: number
  /** Total of the breaks with a known price. */
  dollars: number
  /** Number of breaks without a known price. */
  unpriced: number
}

const KEEPING_WARM: RequestSource = "keep-warm"
const MAX_RESPONSES = 32
const MAX_BREAKS = 100
const NO_TIME = "1970-01-01" // importers use this date for formats without times

export function cacheHistory(overrides: Readonly<Record<string, ModelOverride>> = {}): Projection<CacheHistory> {
  return {
    name: "cacheHistory",
    scope: "path",
    followsSent: true,
    start: () => ({
      turns: 0,
      turnId: undefined,
      responses: [],
      changes: [],
      serverEdits: undefined,
      minRead: undefined,
      wroteForAnHour: false,
      warmed: undefined,
      pauses: noPauses(),
      chosen: undefined,
      expected: undefined,
      begun: undefined,
      breaks: [],
      totals: new Map(),
      newestBreak: undefined,
    }),
    apply(state, entry) {
      if (isDecision(entry) && entry.subtype === "server-edited") noteServerEdits(state, entry.edits, overrides)
      else if (isDecision(entry) && entry.subtype === "spent" && entry.purpose === KEEPING_WARM) {
        if (entry.estimated) return state // may not have reached the server
        const usage = usableUsage(entry.usage)
        const counts = usage ? cacheCounts(usage) : NO_TOKENS
        noteKeepWarm(state.pauses, counts)
        state.warmed = { at: entry.timestamp, lifetime: entry.lifetime ?? "5m", tokens: cachedTokens(counts) }
      } else if (isDecision(entry) && entry.subtype === "cache-lifetime") {
        state.chosen = { forPrompt: entry.forPrompt, forMessages: entry.forMessages, why: entry.why }
        state.expected ??= entry.expected
      } else if (isAnswer(entry)) noteAnswer(state, entry, overrides)
      else {
        if (entry.type === "user" && !entry.isSidechain && isTimed(entry))
          noteMessage(state.pauses, Date.parse(entry.timestamp))
        const change = isBoundaryEntry(entry) ? "compaction" : isDecision(entry) ? cacheChangeOf(entry) : undefined
        if (isDecision(entry) && entry.subtype === "prompt-rendered" && entry.why === "start")
          state.begun = { turns: state.turns, forAnHour: state.wroteForAnHour }
        if (change && !state.changes.includes(change)) state.changes.push(change)
      }
      return state
    },
  }
}

/** Totals of all breaks. */
export function totalBreaks({ totals }: CacheHistory): CacheBreakTotal {
  const sum = (key: keyof CacheBreakTotal) => [...totals.values()].reduce((all, total) => all + total[key], 0)
  return {
    breaks: sum("breaks"),
    rewrittenTokens: sum("rewrittenTokens"),
    dollars: sum("dollars"),
    unpriced: sum("unpriced"),
  }
}

/** The chosen lifetime for messages. Default: five minutes. */
export const messageLifetime = ({ forPrompt, forMessages }: Partial<ChosenLifetimes> = {}): CacheLifetime =>
  forMessages === "1h" ? "1h" : forPrompt === "1h" ? "prompt-1h" : "5m"

const isTimed = ({ timestamp }: { readonly timestamp: string }) => !timestamp.startsWith(NO_TIME)

function isAnswer(entry: Entry): entry is AssistantMessage {
  return entry.type === "assistant" && !entry.isSidechain && !isSynthetic(entry)
}

type Overrides = Readonly<Record<string, ModelOverride>>

function noteAnswer(state: CacheHistory, entry: AssistantMessage, overrides: Overrides): void {
  const { id = entry.uuid, model = "unknown", usage } = entry.message
  if (state.turnId !== id) {
    state.turnId = id
    state.turns++
  }
  if (usage === undefined) return
  const counts = cacheCounts(usage)
  const deleted = usage.cache_deleted_input_tokens ?? 0
  const newest = state.responses.at(-1)
  const reason = entry.cacheMissReason === undefined ? {} : { apiReason: entry.cacheMissReason }
  notePauseBefore(state, { ...entry, id, model, counts })
  if (newest?.id === id) {
    // a response in several entries: the first has the time, the last the complete usage
    replaceNewest(state, { ...newest, counts, deleted, ...reason }, overrides)
    return
  }
  const timed = isTimed(entry) ? { at: entry.timestamp } : {}
  if (newest && writtenLifetime(newest.counts)) state.wroteForAnHour = hasHourLifetime(newest.counts)
  state.responses.push({ id, turn: state.turns, ...timed, model, counts, deleted, changes: state.changes, ...reason })
  if (state.responses.length > MAX_RESPONSES) state.responses.shift()
  state.changes = []
  state.newestBreak = undefined
  detectBreak(state, overrides)
}

function notePauseBefore(
  { pauses, warmed, chosen, changes, responses }: CacheHistory,
  response: Pick<CachedResponse, "id" | "model" | "counts"> & Pick<AssistantMessage, "timestamp">,
): void {
  const { id, model, counts, timestamp } = response
  noteResponse(pauses, {
    id,
    counts,
    at: isTimed(response) ? Date.parse(timestamp) : undefined,
    warmed: warmed && { at: Date.parse(warmed.at), lifetime: warmed.lifetime },
    isLong: chosen?.forPrompt === "1h",
    isChanged: changes.length > 0 || model !== responses.at(-1)?.model, // each model has its own cache
  })
}

const writtenLifetime = ({ cacheWrite5m, cacheWrite1h }: TokenCounts) => cacheWrite5m + cacheWrite1h > 0

/** Records edits that the server reports with a response. A repeated report is not a new edit. */
function noteServerEdits(state: CacheHistory, edits: readonly unknown[], overrides: Overrides): void {
  const [newest, before] = [state.responses.at(-1), state.responses.at(-2)]
  if (!newest) return
  const text = JSON.stringify(edits)
  const isNew = state.serverEdits?.text !== text || state.serverEdits.turn !== before?.turn
  state.serverEdits = { turn: newest.turn, text }
  if (isNew) replaceNewest(state, { ...newest, changes: [...newest.changes, "clearing"] }, overrides)
}

function replaceNewest(state: CacheHistory, response: CachedResponse, overrides: Overrides): void {
  state.responses[state.responses.length - 1] = response
  withdrawNewest(state)
  detectBreak(state, overrides)
}

function detectBreak(state: CacheHistory, overrides: Overrides): void {
  const [response, before] = [state.responses.at(-1)!, state.responses.at(-2)]
  const { cacheRead: read } = response.counts
  if (read > 0) state.minRead = Math.min(state.minRead ?? read, read)
  if (!before) return
  const deletedSince = Math.max(0, response.deleted - before.deleted)
  const readBefore = before.counts.cacheRead - deletedSince
  if (!isBreak(readBefore, read)) return
  const gapMinutes = gapBetween(before, response)
  const { tokens, dollars } = cacheMissCosts({
    cachedBefore: cachedTokens(before.counts) - deletedSince,
    counts: response.counts,
    facts: findModel(response.model, overrides).facts,
  })
  recordBreak(state, {
    turn: response.turn,
    model: response.model,
    readBefore,
    read,
    rewrittenTokens: tokens,
    ...(dollars === undefined ? {} : { dollars }),
    ...(gapMinutes === undefined ? {} : { gapMinutes }),
    cause: findBreakCause({
      changes: response.changes,
      otherModel: response.model !== before.model,
      gapMinutes: gapMinutes ?? 0,
      wroteForAnHour: state.wroteForAnHour,
      read,
      minRead: state.minRead ?? 0,
    }),
    responseId: response.id,
    ...(response.apiReason === undefined ? {} : { apiReason: response.apiReason }),
  })
}

function gapBetween(before: CachedResponse, response: CachedResponse): number | undefined {
  if (before.at === undefined || response.at === undefined) return undefined
  return Math.max(0, (Date.parse(response.at) - Date.parse(before.at)) / 60_000)
}

function recordBreak(state: CacheHistory, found: CacheBreak): void {
  state.newestBreak = found
  state.breaks.push(found)
  if (state.breaks.length > MAX_BREAKS) {
    const min = Math.min(...state.breaks.map((each) => each.rewrittenTokens))
    state.breaks.splice(
      state.breaks.findIndex((each) => each.rewrittenTokens === min),
      1,
    )
  }
  addToTotal(state, found, 1)
}

/** Removes the break of the newest response, which is then evaluated again. */
function withdrawNewest(state: CacheHistory): void {
  const found = state.newestBreak
  if (!found) return
  state.newestBreak = undefined
  if (state.breaks.at(-1)?.turn === found.turn) state.breaks.pop()
  addToTotal(state, found, -1)
}

function addToTotal({ totals }: CacheHistory, found: CacheBreak, sign: 1 | -1): void {
  const total = totals.get(found.cause) ?? { breaks: 0, rewrittenTokens: 0, dollars: 0, unpriced: 0 }
  total.breaks += sign
  total.rewrittenTokens += sign * found.rewrittenTokens
  total.dollars += sign * (found.dollars ?? 0)
  total.unpriced += found.dollars === undefined ? sign : 0
  if (total.breaks === 0) totals.delete(found.cause)
  else totals.set(found.cause, total)
}
