/** What the demo shows, as a value that grows with each event. Pure: the clock and the conversation are read elsewhere. */
import type { Accounting, ContextSize, Fill, LedgerSummary, Thresholds } from "@strata/core"
import type { CompactionProgress, QueryEvent } from "@strata/core/agent"
import { compactedSentence, stepWords } from "../display/compaction.ts"
import { type ContextPart, contextParts } from "../display/context-parts.ts"
import { printable } from "../display/text.ts"
import { duration, resultSummary } from "../display/wording.ts"

export interface DemoState {
  readonly model: string
  readonly thresholds: Thresholds
  /** Turns it will take, about. */
  readonly planned: number
  readonly turn: number
  /** Turns of the tasks that are over. */
  readonly turnsBefore: number
  readonly tasks: number
  readonly parts: readonly ContextPart[]
  readonly size: number
  readonly fill: Fill["state"]
  /** The context's size after each turn. */
  readonly sizes: readonly number[]
  readonly spent: LedgerSummary | undefined
  readonly happenings: readonly Happening[]
  /** What a compaction does right now, in a few words. */
  readonly compacting: string | undefined
  readonly compactions: readonly DemoCompaction[]
  /** What the compaction that is being installed puts behind its summary. */
  readonly restored: readonly string[]
  readonly notesTokens: number
  /** System prompt and tools, known with the first answer. */
  readonly promptTokens: number | undefined
}

export interface DemoCompaction {
  readonly turn: number
  /** How many sizes were known when it came. */
  readonly at: number
  readonly tokensBefore: number
  readonly tokensAfter: number
  readonly route: string
  /** Messages that the summary tells. */
  readonly told: number
  /** Messages that stayed word for word. */
  readonly kept: number
  /** Kinds of what was put behind the summary. */
  readonly restored: readonly string[]
}

/** One line of what happened. */
export interface Happening {
  readonly turn: number
  readonly kind: "running" | "done" | "failed" | "said" | "retry" | "attached" | "notice" | "compacted"
  readonly text: string
  readonly detail: string
  /** Of a tool call, until its result is there. */
  readonly id?: string
}

/** What the conversation itself says, read when an event came. */
export interface Reading {
  readonly accounting: Accounting
  readonly size: ContextSize
  readonly fill: Fill
  readonly spent: LedgerSummary
  readonly notesTokens: number
  /** Of the last boundary: messages that its summary tells, and those that were kept. */
  readonly boundary?: { readonly told: number; readonly kept: number } | undefined
}

/** `read` is asked only where the event may have changed the context. */
export interface Witnessed {
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
    spent: undefined,
    happenings: [],
    promptTokens: undefined,
  }
}

/** The state after an event. */
export function after(state: DemoState, { event, read }: Witnessed): DemoState {
  switch (event.type) {
    case "user": {
      const seen = { ...measured(state, read()), tasks: state.tasks + 1 }
      return happened(seen, { kind: "notice", text: `You: ${oneLine(event.text)}`, detail: "" })
    }
    case "request":
      return { ...measured(state, read()), turn: state.turnsBefore + event.turn, compacting: undefined }
    case "response": {
      const seen = measured(state, read())
      const words = event.response.content.flatMap((block) => textIn(block)).join(" ")
      const told = words === "" ? seen : happened(seen, { kind: "said", text: oneLine(words), detail: "" })
      return { ...told, sizes: [...seen.sizes, seen.size] }
    }
    case "retry":
      return happened(state, {
        kind: "retry",
        text: `${oneLine(event.reason)}: tried again`,
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
      return happened(state, { kind: "attached", text: oneLine(`${event.kind} ${event.about}`), detail: "" })
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

/** What the conversation says when everything has come to rest. */
export const atRest = (state: DemoState, reading: Reading): DemoState => measured(state, reading)

/** Tokens that have entered the context so far, those that left it again included. */
export function workOf({ size, spent }: DemoState): number {
  return size + (spent?.savings ?? []).reduce((sum, { removed }) => sum + removed, 0)
}

function whileCompacting(state: DemoState, progress: CompactionProgress): DemoState {
  if (progress.phase === "message" || progress.phase === "failed") {
    const told = happened(state, { kind: "notice", text: oneLine(progress.message), detail: "" })
    return progress.phase === "failed" ? { ...told, compacting: undefined } : told
  }
  const step = stepWords(progress)
  if (step !== undefined) return { ...state, compacting: step, restored: [] }
  return progress.phase === "done" ? { ...state, compacting: undefined } : state
}

type Compacted = Extract<QueryEvent, { type: "compacted" }> & { readonly reading: Reading }

function compacted(state: DemoState, { tokensBefore, tokensAfter, route, reading }: Compacted): DemoState {
  const { told = 0, kept = 0 } = reading.boundary ?? {}
  const { turn, restored, sizes } = state
  const newest = { turn, at: sizes.length, tokensBefore, tokensAfter, route, told, kept, restored }
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

/** The line of a call gets its outcome. A call that never started (its input was no good) gets a line of its own. */
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

/** The parts add up to the size that the API counted: what is estimated is scaled to it. */
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

/** A path in the scratch copy says nothing to whoever watches. */
const withoutPath = (message: string) => oneLine(message).replace(/ in \/\S+$/, "")

const oneLine = (text: string) => printable(text).replace(/\s+/g, " ").trim()

function textIn(block: unknown): readonly string[] {
  const { type, text } = block as { type?: string; text?: string }
  return type === "text" && text ? [text] : []
}
