/** What the demo shows, as a value that changes with each event. Pure: reads no clock and no conversation. */

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
  /** Turns of the finished tasks. */
  readonly turnsBefore: number
  readonly tasks: number
  readonly parts: readonly ContextPart[]
  readonly size: number
  /** The part of the size that no answer has counted yet. */
  readonly estimated: number
  readonly fill: WindowUsage["state"]
  /** All tokens that have entered the context, including those that the layers removed again. Never decreases. */
  readonly work: number
  /** The context's size after each turn. */
  readonly sizes: readonly number[]
  readonly requests: readonly DemoRequest[]
  readonly spent: LedgerSummary | undefined
  /** The current step of a compaction, in a few words. */
  readonly compacting: string | undefined
  /** Summaries that a request waited for. The others were written in the background. */
  readonly waits: number
  readonly compactions: readonly DemoCompaction[]
  /** Kinds of attachments that the current compaction has added so far. */
  readonly restored: readonly string[]
  readonly notesTokens: number
  /** System prompt and tools, known with the first answer. */
  readonly promptTokens: number | undefined
  /** Tokens of tool results by tool, as of the last request. */
  readonly results: ContextBreakdown["toolResults"]
}

/** One answered request. */
export interface DemoRequest {
  /** Input tokens that were sent. */
  readonly sent: number
  /** Input tokens if the layers had never removed anything. */
  readonly everything: number
  readonly output: number
}

export interface DemoCompaction {
  readonly turn: number
  /** The number of known sizes when it happened. */
  readonly at: number
  readonly tokensBefore: number
  readonly tokensAfter: number
  readonly route: string
  /** Messages replaced by the summary. */
  readonly summarised: number
  /** Messages kept unchanged. */
  readonly kept: number
  /** Kinds of attachments added after the summary. */
  readonly restored: readonly string[]
}

/** The conversation's own figures, read when an event arrives. */
export interface ConversationMetrics {
  readonly accounting: ContextBreakdown
  readonly size: ContextSize
  readonly fill: WindowUsage
  readonly spent: LedgerSummary
  readonly notesTokens: number
  /** An estimate of system prompt and tools. Zero until a request was prepared. */
  readonly promptEstimate: number
  /** Messages summarised and kept by the last boundary. */
  readonly boundary?: { readonly summarised: number; readonly kept: number } | undefined
}

/** `read` is called only if the event may have changed the context. */
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

/** Taken when an answer has counted the context. Estimates are cautious, so between answers the sum would rise and fall again. */
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

/** An answer with calls has stand-ins for the missing results. They are no results yet, so each tool keeps what it had. */
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
 * Scales the estimated parts so that they add up to the size that the API counted. Before a request was prepared, system prompt and
 * tools are unknown, and shares of the rest would mislead: then nothing is shown.
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
