/** What the demo shows, as a value that changes with each event. Pure: reads no clock and no conversation. */
import type {
  Accounting,
  CompactionProgress,
  ContextSize,
  Fill,
  LedgerSummary,
  QueryEvent,
  Thresholds,
} from "@strata/core/internal"
import { inputTokens } from "@strata/core/internal/base/token-counts"
import { tokenCounts } from "@strata/core/internal/tokens/price"
import { attachmentWords } from "../display/attachments.ts"
import { compactedSentence, stepWords } from "../display/compaction.ts"
import { type ContextPart, contextParts } from "../display/context-parts.ts"
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
  readonly fill: Fill["state"]
  /** The context's size after each turn. */
  readonly sizes: readonly number[]
  readonly requests: readonly DemoRequest[]
  readonly spent: LedgerSummary | undefined
  readonly happenings: readonly Happening[]
  /** The current step of a compaction, in a few words. */
  readonly compacting: string | undefined
  readonly compactions: readonly DemoCompaction[]
  /** Kinds of attachments that the current compaction has added so far. */
  readonly restored: readonly string[]
  readonly notesTokens: number
  /** System prompt and tools, known with the first answer. */
  readonly promptTokens: number | undefined
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
  /** Of a running tool call. */
  readonly id?: string
}

/** The conversation's own figures, read when an event arrives. */
export interface Reading {
  readonly accounting: Accounting
  readonly size: ContextSize
  readonly fill: Fill
  readonly spent: LedgerSummary
  readonly notesTokens: number
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
    compactions: [],
    restored: [],
    notesTokens: 0,
    parts: [],
    size: 0,
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
      const seen = measured(state, read())
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
      return { ...measured(state, read()), turnsBefore: state.turn, compacting: undefined }
    default:
      return state
  }
}

/** The state after all background work has ended. */
export const atRest = (state: DemoState, reading: Reading): DemoState => measured(state, reading)

/** All tokens that have entered the context, including those that the layers removed again. */
export const workOf = (state: DemoState): number => state.size + removedBy(state)

const removedBy = ({ spent }: DemoState): number =>
  (spent?.savings ?? []).reduce((sum, { removed }) => sum + removed, 0)

function requestOf(state: DemoState, { response }: Extract<QueryEvent, { type: "response" }>): DemoRequest {
  const counts = tokenCounts(response.usage)
  const sent = inputTokens(counts)
  return { sent, everything: sent + removedBy(state), output: counts.output }
}

function whileCompacting(state: DemoState, progress: CompactionProgress): DemoState {
  if (progress.phase === "message" || progress.phase === "failed") {
    const noted = happened(state, { kind: "notice", text: oneLine(progress.message), detail: "" })
    return progress.phase === "failed" ? { ...noted, compacting: undefined } : noted
  }
  const step = stepWords(progress)
  if (step !== undefined) return { ...state, compacting: step, restored: [] }
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
  if (at < 0) return happened(state, { ...end, text: oneLine(`${name}: ${text}`) })
  const { id: _, ...started } = state.happenings[at]!
  const line = { ...started, ...end, text: failed ? `${started.text}: ${oneLine(text)}` : started.text }
  return { ...state, happenings: state.happenings.with(at, line) }
}

/** Scales the estimated parts so that they add up to the size that the API counted. */
function measured(state: DemoState, { accounting, size, fill, spent, notesTokens }: Reading): DemoState {
  const known = size.counted > 0
  const promptTokens = state.promptTokens ?? (known ? Math.max(0, size.tokens - accounting.total) : undefined)
  const messages = Math.max(0, size.tokens - (promptTokens ?? 0))
  const scale = accounting.total === 0 ? 0 : messages / accounting.total
  const parts = contextParts(accounting).map(({ kind, tokens }) => ({ kind, tokens: Math.round(tokens * scale) }))
  return {
    ...state,
    promptTokens,
    parts: promptTokens ? [{ kind: "prompt", tokens: promptTokens }, ...parts] : parts,
    size: size.tokens,
    fill: fill.state,
    spent,
    notesTokens,
  }
}

/** Paths in the scratch copy mean nothing to the viewer. */
const withoutPath = (message: string) => oneLine(message).replace(/ in \/\S+$/, "")

const oneLine = (text: string) => printable(text).replace(/\s+/g, " ").trim()

function textIn(block: unknown): readonly string[] {
  const { type, text } = block as { type?: string; text?: string }
  return type === "text" && text ? [text] : []
}
