/**
 * How much fits, and when something must happen: window, output reserve, thresholds (WIN-1 to WIN-8).
 * Everything here is a pure function of the model's facts and the settings.
 */
import type { ModelFacts } from "./model-facts.ts"
import { asksForMillion } from "./models.ts"

/** Defaults, in tokens. Each can be set: `thresholds.*` in the settings. */
export const DEFAULT_WINDOW = 200_000
export const LONG_WINDOW = 1_000_000
export const OUTPUT_RESERVE = 20_000
export const AUTO_COMPACT_BUFFER = 13_000
export const WARNING_BUFFER = 20_000
export const BLOCKING_BUFFER = 3_000

const LONG_CONTEXT_BETA = /^context-1m-/

export interface WindowQuestion {
  /** The model's name as the user gave it, perhaps with `[1m]`. */
  readonly name: string
  readonly facts: ModelFacts
  /** Whether the facts are known; an unknown model's window is only a guess. */
  readonly known: boolean
  readonly betas?: readonly string[]
  /** From a setting or the environment. */
  readonly override?: number
}

export interface ResolvedWindow {
  readonly tokens: number
  readonly from: "name" | "model" | "beta" | "override" | "default"
}

/** WIN-1: the first that answers wins. */
export function resolveWindow({ name, facts, known, betas = [], override }: WindowQuestion): ResolvedWindow {
  if (asksForMillion(name)) return { tokens: LONG_WINDOW, from: "name" }
  if (known) return { tokens: facts.window, from: "model" }
  if (betas.some((beta) => LONG_CONTEXT_BETA.test(beta))) return { tokens: LONG_WINDOW, from: "beta" }
  if (override !== undefined && override > 0) return { tokens: override, from: "override" }
  return { tokens: DEFAULT_WINDOW, from: "default" }
}

export interface ThresholdQuestion {
  readonly window: number
  readonly facts: ModelFacts
  /** `max_tokens` of the requests. */
  readonly maxOutput: number
  readonly autoCompact: boolean
  /** Compact at this share of the effective window, in percent: can only lower the threshold. */
  readonly percent?: number
  /** Compact at this many tokens: can only lower the threshold. */
  readonly tokens?: number
}

export interface Thresholds {
  readonly window: number
  readonly outputReserve: number
  /** What the input may take: window less the output reserve. */
  readonly effective: number
  readonly autoCompact: number
  /** What counts as full: the auto-compact threshold where that is on, else the effective window. */
  readonly limit: number
  readonly warning: number
  readonly blocking: number
  /** What is odd about the figures given; each is told to the user once. */
  readonly notices: readonly string[]
}

export function resolveThresholds(question: ThresholdQuestion): Thresholds {
  const { window, facts, maxOutput, autoCompact: on } = question
  const notices: string[] = []
  const reserve = facts.accepts.overflowingOutput ? OUTPUT_RESERVE : Math.max(maxOutput, OUTPUT_RESERVE)
  const scale = shrinkage(window, reserve)
  if (scale < 1) {
    notices.push(
      `A window of ${window} tokens is too small for the usual reserves of ${reserve + AUTO_COMPACT_BUFFER + WARNING_BUFFER}: they are scaled to ${Math.round(scale * 100)}%.`,
    )
  }
  const part = (tokens: number) => Math.floor(tokens * scale)
  const warningBuffer = (limit: number) =>
    scale < 1 ? Math.min(part(WARNING_BUFFER), Math.floor(limit / 2)) : WARNING_BUFFER
  const outputReserve = part(reserve)
  const effective = Math.max(1, window - outputReserve)
  const standard = Math.max(1, effective - part(AUTO_COMPACT_BUFFER))
  const autoCompact = Math.min(standard, ...lowered(question, effective, notices))
  const limit = on ? autoCompact : effective
  return {
    window,
    outputReserve,
    effective,
    autoCompact,
    limit,
    warning: Math.max(1, limit - warningBuffer(limit)),
    blocking: Math.max(1, effective - part(BLOCKING_BUFFER)),
    notices,
  }
}

/** WIN-6: in a window that could not even hold them, reserve and buffers shrink in proportion. */
function shrinkage(window: number, reserve: number): number {
  const wanted = reserve + AUTO_COMPACT_BUFFER + WARNING_BUFFER
  return Math.min(1, Math.max(0, window) / wanted)
}

function lowered({ percent, tokens }: ThresholdQuestion, effective: number, notices: string[]): number[] {
  const candidates: number[] = []
  if (percent !== undefined) {
    if (percent > 0 && percent <= 100) candidates.push(Math.max(1, Math.floor((effective * percent) / 100)))
    else notices.push(`The auto-compact percentage ${percent} is not above 0 and at most 100: it is ignored.`)
  }
  if (tokens !== undefined) {
    if (tokens > 0) candidates.push(Math.floor(tokens))
    else notices.push(`The auto-compact threshold ${tokens} is not above 0: it is ignored.`)
  }
  return candidates
}

export interface Fill {
  readonly used: number
  readonly percentLeft: number
  readonly state: "fine" | "warning" | "compact" | "blocked"
}

/** WIN-4: where a conversation stands. Every limit counts as reached at `used >= limit`. */
export function fillOf(used: number, thresholds: Thresholds, autoCompact: boolean): Fill {
  const { limit, warning, blocking } = thresholds
  const percentLeft = Math.max(0, Math.round((100 * (limit - used)) / limit))
  const state =
    used >= blocking ? "blocked" : autoCompact && used >= limit ? "compact" : used >= warning ? "warning" : "fine"
  return { used, percentLeft, state }
}

/** WIN-7: whether a conversation of this size can go on with another model as it is. */
export function fitsModel(used: number, target: Thresholds): boolean {
  return used < target.limit
}
