/** What the demo shows, as a value that changes with each event. Pure: reads no clock and no conversation. */

import type { CompactionProgress, Fill, QueryEvent, Thresholds } from "@strata/core"
import { inputTokens } from "@strata/core/base"
import type { Accounting, ContextSize } from "@strata/core/tokens"
import { tokenCounts } from "@strata/core/tokens"
import { attachmentWords, compactedSentence } from "@strata/page"
import { stepWords } from "../display/compaction.ts"
import { type ContextPart, contextParts } from "../display/context-parts.ts"
import type { LedgerSummary } from "../display/ledger.ts"
import { duration } from "../display/numbers.ts"
import { resultSummary } from "../display/tool-calls.ts"
import { printable } from "../display/visible.ts"

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
  readonly fill: Fill["state"]
  /** All tokens that have entered the context, including those that the layers removed again. Never decreases. */
  readonly work: number
  /** The context's size after each turn. */
  readonly sizes: readonly number[]
  readonly requests: readonly DemoRequest[]
  readonly spent: LedgerSummary | undefined
  readonly happenings: readonly Happening[]
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
  readonly results: Accounting["toolResults"]
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

/** One line of the log. */
export interface Happening {
  readonly turn: number
  readonly kind: "running" | "done" | "failed" | "said" | "retry" | "attached" | "notice" | "compacted"
  readonly text: string
  readonly detail: string
  /** Of a tool call. */
  readonly id?: string
}

/** The conversation's own figures, read when an event arrives. */
export interface Reading {
  readonly accounting: Accounting
  readonly size: ContextSize
  readonly fill: Fill
  readonly spent: LedgerSummary
  readonly notesTokens: number
  /** An estimate of system prompt and tools. Zero until a request was prepared. */
  readonly promptEstimate: number
  /** Messages summarised and kept by the last boundary. */
  readonly boundary?: { readonly summarised: number; readonly kept: number } | undefined
}

/** `read` is called only if the event may have changed the context. */
export interface Observed {
  readonly event: QueryEvent
  readonly read: () => Reading
}

const MOST_HAPPENINGS = 40 // more than any window shows

export function beginning(facts: Pick<DemoState, "model" | "thresholds" | "planned">): DemoState {
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
    happenings: [],
    promptTokens: undefined,
  }
}

/** The state after an event. */
export function after(state: DemoState, { event, read }: Observed): DemoState {
  switch (event.type) {
    case "user": {
      const seen = { ...measured(state, read()), tasks: state.tasks + 1 }
      return happened(seen, { kind: "notice", text: `You: ${oneLine(event.text)}`, detail: "" })
    }
    case "request":
      return { ...measured(state, read()), turn: state.turnsBefore + event.turn, compacting: undefined }
    case "response": {
      const seen = withWork(measured(state, beforeResults(state, read())))
      const text = event.response.content.flatMap((block) => textIn(block)).join(" ")
      const said = text === "" ? seen : happened(seen, { kind: "said", text: oneLine(text), detail: "" })
      return { ...said, sizes: [...seen.sizes, seen.size], requests: [...seen.requests, requestOf(seen, event)] }
    }
    case "retry":
      return happened(state, {
        kind: "retry",
        text: `${oneLine(event.reason)}: retried`,
        detail: `in ${duration(event.delayMs)}`,
      })
    case "tool-start": {
      const text = event.name === "Bash" ? `$ ${event.summary}` : event.summary
      return happened(state, { kind: "running", text: oneLine(text), detail: "", id: event.id })
    }
    case "tool-denied":
      return happened(state, { kind: "notice", text: `not allowed: ${oneLine(event.why)}`, detail: "" })
    case "tool-result":
      return finished(state, event)
    case "attached":
      if (state.compacting !== undefined) return { ...state, restored: [...state.restored, event.kind] }
      return happened(state, { kind: "attached", text: oneLine(attachmentWords(event)), detail: "" })
    case "notice":
      return happened(measured(state, read()), { kind: "notice", text: withoutPath(event.message), detail: "" })
    case "compaction":
      return whileCompacting(state, event.progress)
    case "compacted":
      return compacted(state, { ...event, reading: read() })
    case "done":
      return { ...withWork(measured(state, read())), turnsBefore: state.turn, compacting: undefined }
    default:
      return state
  }
}

/** The state after all background work has ended. */
export const atRest = (state: DemoState, reading: Reading): DemoState => withWork(measured(state, reading))

/** Taken when an answer has counted the context. Estimates are cautious, so between answers the sum would rise and fall again. */
const withWork = (state: DemoState): DemoState => ({
  ...state,
  work: Math.max(state.work, state.size + removedBy(state)),
})

const removedBy = ({ spent }: DemoState): number =>
  (spent?.savings ?? []).reduce((sum, { removed }) => sum + removed, 0)

function requestOf(state: DemoState, { response }: Extract<QueryEvent, { type: "response" }>): DemoRequest {
  const counts = tokenCounts(response.usage)
  const sent = inputTokens(counts)
  const before = state.requests.at(-1)?.everything ?? 0
  return { sent, everything: Math.max(before, sent + removedBy(state)), output: counts.output }
}

function whileCompacting(state: DemoState, progress: CompactionProgress): DemoState {
  if (progress.phase === "message" || progress.phase === "failed") {
    const noted = happened(state, { kind: "notice", text: oneLine(progress.message), detail: "" })
    return progress.phase === "failed" ? { ...noted, compacting: undefined } : noted
  }
  const waits = state.waits + (progress.phase === "preparing" ? 1 : 0)
  const step = stepWords(progress)
  if (step !== undefined) return { ...state, waits, compacting: step, restored: [] }
  return progress.phase === "done" ? { ...state, compacting: undefined } : state
}

type Compacted = Extract<QueryEvent, { type: "compacted" }> & { readonly reading: Reading }

function compacted(state: DemoState, { tokensBefore, tokensAfter, route, reading }: Compacted): DemoState {
  const { summarised = 0, kept = 0 } = reading.boundary ?? {}
  const { turn, restored, sizes } = state
  const newest = { turn, at: sizes.length, tokensBefore, tokensAfter, route, summarised, kept, restored }
  const seen = {
    ...measured(state, reading),
    compacting: undefined,
    restored: [],
    compactions: [...state.compactions, newest],
  }
  return happened(seen, { kind: "compacted", text: compactedSentence(newest), detail: "" })
}

function happened(state: DemoState, what: Omit<Happening, "turn">): DemoState {
  return { ...state, happenings: [...state.happenings, { turn: state.turn, ...what }].slice(-MOST_HAPPENINGS) }
}

/** Adds the outcome to the line of the call. A call that never started (invalid input) gets a new line. */
function finished(state: DemoState, { id, name, result, ms }: Extract<QueryEvent, { type: "tool-result" }>): DemoState {
  const { state: outcome, text } = resultSummary(result)
  const failed = outcome === "failed"
  const end = { kind: failed ? ("failed" as const) : ("done" as const), detail: duration(ms) }
  const at = state.happenings.findIndex((one) => one.id === id)
  if (at < 0) return happened(state, { ...end, text: oneLine(`${name}: ${text}`), id })
  const started = state.happenings[at]!
  const line = { ...started, ...end, text: failed ? `${started.text}: ${oneLine(text)}` : started.text }
  return { ...state, happenings: state.happenings.with(at, line) }
}

/** An answer with calls has stand-ins for the missing results. They are no results yet, so each tool keeps what it had. */
function beforeResults({ results }: DemoState, reading: Reading): Reading {
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
function measured(
  state: DemoState,
  { accounting, size, fill, spent, notesTokens, promptEstimate }: Reading,
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

const withoutPath = (message: string) => oneLine(message).replace(/ in \/\S+$/, "")

/** Paths of the scratch copy mean nothing to the viewer: they are shown from its root. */
const oneLine = (text: string) =>
  printable(text)
    .replace(/\s+/g, " ")
    .replace(/(?:\/[^\s/"'`]+)*\/strata-demo-\d+\/[^\s/"'`]+(\/?)/g, (_, slash: string) => (slash === "" ? "." : ""))
    .trim()

function textIn(block: unknown): readonly string[] {
  const { type, text } = block as { type?: string; text?: string }
  return type === "text" && text ? [text] : []
}
