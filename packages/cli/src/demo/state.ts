/** The state of the demo's screen, updated by each event. Pure: reads no clock and no conversation. */

import type { CompactionProgress, QueryEvent, Thresholds, WindowUsage } from "@strata/core"
import { inputTokens } from "@strata/core/base"
import type { ContextBreakdown, ContextSize } from "@strata/core/tokens"
import { tokenCounts } from "@strata/core/tokens"
import { describeStep } from "../display/compaction.ts"
import { type ContextPart, contextParts } from "../display/context-parts.ts"
import type { LedgerSummary } from "../display/ledger.ts"

export interface DemoState {
  readonly model: string
  readonly thresholds: Thresholds
  /** The planned number of turns. */
  readonly planned: number
  readonly turn: number
  /** Number of turns in finished tasks. */
  readonly turnsBefore: number
  readonly tasks: number
  readonly parts: readonly ContextPart[]
  readonly size: number
  /** Part of the size that is estimated, because no response has counted it yet. */
  readonly estimated: number
  readonly fill: WindowUsage["state"]
  /** All tokens that ever entered the context, including removed ones. Never decreases. */
  readonly work: number
  /** The context's size after each turn. */
  readonly sizes: readonly number[]
  readonly requests: readonly DemoRequest[]
  readonly spent: LedgerSummary | undefined
  /** The current step of a compaction, in a few words. */
  readonly compacting: string | undefined
  /** Number of summaries that a request waited for. Others were written in the background. */
  readonly waits: number
  readonly compactions: readonly DemoCompaction[]
  /** Kinds of attachments added by the current compaction so far. */
  readonly restored: readonly string[]
  readonly notesTokens: number
  /** Tokens of system prompt and tools, known after the first response. */
  readonly promptTokens: number | undefined
  /** Tokens of tool results by tool, at the last request. */
  readonly results: ContextBreakdown["toolResults"]
}

/** One answered request. */
export interface DemoRequest {
  /** Input tokens sent. */
  readonly sent: number
  /** Input tokens that would have been sent if the layers had removed nothing. */
  readonly everything: number
  readonly output: number
}

export interface DemoCompaction {
  readonly turn: number
  /** Index in `sizes` at the time of the compaction. */
  readonly at: number
  readonly tokensBefore: number
  readonly tokensAfter: number
  readonly route: string
  /** Number of messages replaced by the summary. */
  readonly summarised: number
  /** Number of messages in the tail. */
  readonly kept: number
  /** Kinds of attachments added after the summary. */
  readonly restored: readonly string[]
}

/** Metrics of the conversation, read when an event arrives. */
export interface ConversationMetrics {
  readonly accounting: ContextBreakdown
  readonly size: ContextSize
  readonly fill: WindowUsage
  readonly spent: LedgerSummary
  readonly notesTokens: number
  /** Estimated tokens of system prompt and tools. Zero before the first request. */
  readonly promptEstimate: number
  /** Numbers of messages that the last compaction summarised and preserved. */
  readonly boundary?: { readonly summarised: number; readonly kept: number } | undefined
}

/** An event; `measure` is called only if the event may have changed the context. */
export interface ObservedEvent {
  readonly event: QueryEvent
  readonly measure: () => ConversationMetrics
}

export function initialState(facts: Pick<DemoState, "model" | "thresholds" | "planned">): DemoState {
  return {
    ...facts,
    turn: 0,
    turnsBefore: 0,
    tasks: 0,
    compacting: undefined,
    waits: 0,
    compactions: [],
    restored: [],
    notesTokens: 0,
    parts: [],
    size: 0,
    estimated: 0,
    work: 0,
    results: {},
    fill: "fine",
    sizes: [],
    requests: [],
    spent: undefined,
    promptTokens: undefined,
  }
}

/** The state after an event. */
export function after(state: DemoState, { event, measure }: ObservedEvent): DemoState {
  switch (event.type) {
    case "user":
      return { ...applyMetrics(state, measure()), tasks: state.tasks + 1 }
    case "request":
      return { ...applyMetrics(state, measure()), turn: state.turnsBefore + event.turn, compacting: undefined }
    case "response": {
      const seen = withWork(applyMetrics(state, beforeResults(state, measure())))
      return { ...seen, sizes: [...seen.sizes, seen.size], requests: [...seen.requests, requestOf(seen, event)] }
    }
    case "attached":
      return state.compacting === undefined ? state : { ...state, restored: [...state.restored, event.kind] }
    case "notice":
      return applyMetrics(state, measure())
    case "compaction":
      return whileCompacting(state, event.progress)
    case "compacted":
      return addCompaction(state, { ...event, reading: measure() })
    case "done":
      return { ...withWork(applyMetrics(state, measure())), turnsBefore: state.turn, compacting: undefined }
    default:
      return state
  }
}

/** The state after all background work has ended. */
export const stateAtRest = (state: DemoState, reading: ConversationMetrics): DemoState =>
  withWork(applyMetrics(state, reading))

/** Updates `work` after a response has counted the context. Estimates are cautious, so the sum would otherwise rise and fall. */
const withWork = (state: DemoState): DemoState => ({
  ...state,
  work: Math.max(state.work, state.size + removedTokens(state)),
})

const removedTokens = ({ spent }: DemoState): number =>
  (spent?.savings ?? []).reduce((sum, { removed }) => sum + removed, 0)

function requestOf(state: DemoState, { response }: Extract<QueryEvent, { type: "response" }>): DemoRequest {
  const counts = tokenCounts(response.usage)
  const sent = inputTokens(counts)
  const before = state.requests.at(-1)?.everything ?? 0
  return { sent, everything: Math.max(before, sent + removedTokens(state)), output: counts.output }
}

function whileCompacting(state: DemoState, progress: CompactionProgress): DemoState {
  const waits = state.waits + (progress.phase === "preparing" ? 1 : 0)
  const step = describeStep(progress)
  if (step !== undefined) return { ...state, waits, compacting: step, restored: [] }
  return progress.phase === "done" || progress.phase === "failed" ? { ...state, compacting: undefined } : state
}

type CompactionEvent = Extract<QueryEvent, { type: "compacted" }> & { readonly reading: ConversationMetrics }

function addCompaction(state: DemoState, { tokensBefore, tokensAfter, route, reading }: CompactionEvent): DemoState {
  const { summarised = 0, kept = 0 } = reading.boundary ?? {}
  const { turn, restored, sizes } = state
  const newest = { turn, at: sizes.length, tokensBefore, tokensAfter, route, summarised, kept, restored }
  return {
    ...applyMetrics(state, reading),
    ...{ compacting: undefined, restored: [], compactions: [...state.compactions, newest] },
  }
}

/** Uses the previous sizes of tool results, because a response with calls has only placeholders for the missing results. */
function beforeResults({ results }: DemoState, reading: ConversationMetrics): ConversationMetrics {
  const { accounting } = reading
  const kept = Object.entries(accounting.toolResults).map(
    ([tool, tokens]) => [tool, Math.min(tokens, results[tool] ?? 0)] as const,
  )
  const all = (values: readonly number[]) => values.reduce((sum, tokens) => sum + tokens, 0)
  const left = all(Object.values(accounting.toolResults)) - all(kept.map(([, tokens]) => tokens))
  return {
    ...reading,
    accounting: { ...accounting, toolResults: Object.fromEntries(kept), total: accounting.total - left },
  }
}

/**
 * Scales the estimated parts to add up to the size that the API counted. Before the first request, system prompt and tools are unknown and
 * shares would mislead, so nothing is shown.
 */
function applyMetrics(
  state: DemoState,
  { accounting, size, fill, spent, notesTokens, promptEstimate }: ConversationMetrics,
): DemoState {
  const isCounted = size.counted > 0
  if (!isCounted && promptEstimate === 0) return { ...state, spent, notesTokens }
  const counted = state.promptTokens ?? (isCounted ? Math.max(0, size.tokens - accounting.total) : undefined)
  const prompt = Math.min(size.tokens, counted ?? promptEstimate)
  const scale = accounting.total === 0 ? 0 : (size.tokens - prompt) / accounting.total
  const parts = contextParts(accounting).map(({ kind, tokens }) => ({ kind, tokens: Math.round(tokens * scale) }))
  return {
    ...state,
    promptTokens: counted,
    parts: prompt > 0 ? [{ kind: "prompt", tokens: prompt }, ...parts] : parts,
    results: accounting.toolResults,
    size: size.tokens,
    estimated: size.estimated,
    fill: fill.state,
    spent,
    notesTokens,
  }
}
