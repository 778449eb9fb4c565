/** What the demo shows, as a value that grows with each event. Pure: the clock and the conversation are read elsewhere. */
import type { Accounting, ContextSize, Fill, LedgerSummary, Thresholds } from "@strata/core"
import type { QueryEvent } from "@strata/core/agent"
import { type ContextPart, contextParts } from "../display/context-parts.ts"
import { duration } from "../display/numbers.ts"
import { printable } from "../display/text.ts"
import { resultSummary } from "../wording.ts"

export interface DemoState {
  readonly model: string
  readonly thresholds: Thresholds
  /** Turns it will take, about. */
  readonly planned: number
  readonly turn: number
  readonly parts: readonly ContextPart[]
  readonly size: number
  readonly fill: Fill["state"]
  /** The context's size after each turn. */
  readonly sizes: readonly number[]
  readonly spent: LedgerSummary | undefined
  readonly happenings: readonly Happening[]
  /** System prompt and tools, known with the first answer. */
  readonly promptTokens: number | undefined
}

/** One line of what happened. */
export interface Happening {
  readonly turn: number
  readonly kind: "running" | "done" | "failed" | "said" | "retry" | "attached" | "notice"
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
    case "user":
      return happened(measured(state, read()), { kind: "notice", text: `You: ${oneLine(event.text)}`, detail: "" })
    case "request":
      return { ...measured(state, read()), turn: event.turn }
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
      return happened(state, { kind: "attached", text: oneLine(`${event.kind} ${event.about}`), detail: "" })
    case "notice":
      return happened(state, { kind: "notice", text: oneLine(event.message), detail: "" })
    case "done":
      return measured(state, read())
    default:
      return state
  }
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
function measured(state: DemoState, { accounting, size, fill, spent }: Reading): DemoState {
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
  }
}

const oneLine = (text: string) => printable(text).replace(/\s+/g, " ").trim()

function textIn(block: unknown): readonly string[] {
  const { type, text } = block as { type?: string; text?: string }
  return type === "text" && text ? [text] : []
}
