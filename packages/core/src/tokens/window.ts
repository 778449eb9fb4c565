/** How much fits, and when layers must act: window, output reserve, thresholds. Pure functions of the model and the settings. */
import { inline } from "../messages/inline.ts"
import type { ModelFacts } from "./model-facts.ts"
import { asksForMillion, LONG_WINDOW } from "./models.ts"

/** Defaults, in tokens. */
const DEFAULT_WINDOW = 200_000
export const OUTPUT_RESERVE = 20_000
const AUTO_COMPACT_BUFFER = 13_000
const WARNING_BUFFER = 20_000
const BLOCKING_BUFFER = 3_000

const LONG_CONTEXT_BETA = /^context-1m-/

export interface WindowInput {
  /** The model's name as given, perhaps with `[1m]`. */
  readonly name: string
  readonly facts: ModelFacts
  /** Whether the model is in the table. Otherwise its window is an assumption. */
  readonly known: boolean
  /** Beta headers that requests are sent with. */
  readonly betas?: readonly string[]
  /** From a setting or the environment. */
  readonly override?: number
  /** What a refusal of the server has shown. */
  readonly learnt?: number
}

export interface ResolvedWindow {
  readonly tokens: number
  readonly from: "name" | "model" | "beta" | "override" | "default" | "learnt"
}

/** The first source that knows a window wins. A setting or a refusal can make any window smaller, but never larger than it is. */
export function resolveWindow(input: WindowInput): ResolvedWindow {
  const believed = believedWindow(input)
  const { learnt = believed.tokens } = input
  return learnt < believed.tokens ? { tokens: learnt, from: "learnt" } : believed
}

function believedWindow(input: WindowInput): ResolvedWindow {
  const { override = 0 } = input
  const known = knownWindow(input)
  if (known && !(override > 0 && override < known.tokens)) return known
  return override > 0 ? { tokens: override, from: "override" } : { tokens: DEFAULT_WINDOW, from: "default" }
}

function knownWindow({ name, facts, known, betas = [] }: WindowInput): ResolvedWindow | undefined {
  const hasBeta = betas.some((beta) => LONG_CONTEXT_BETA.test(beta))
  const isGiven = !known || facts.window >= LONG_WINDOW || hasBeta
  if (asksForMillion(name) && isGiven) return { tokens: LONG_WINDOW, from: "name" }
  if (known) return { tokens: facts.window, from: "model" }
  if (hasBeta) return { tokens: LONG_WINDOW, from: "beta" }
  return undefined
}

export interface ThresholdInput {
  readonly window: number
  readonly facts: ModelFacts
  /** `max_tokens` of the requests. */
  readonly maxOutput: number
  readonly autoCompact: boolean
  /** Compact at this percentage of the effective window. It can only lower the threshold. */
  readonly percent?: number | string
  /** Compact at this many tokens. It can only lower the threshold. */
  readonly tokens?: number
  /** The window that was believed, where a refusal has shown a smaller one. */
  readonly believed?: number
}

/** The sizes at which something happens, in tokens. */
export interface Thresholds {
  readonly window: number
  /** Set where the window is a learnt limit: the window that was believed before. */
  readonly believed?: number
  /** Whether input and `max_tokens` together must fit the window. Otherwise an answer may fill what the input leaves. */
  readonly countsOutput: boolean
  readonly outputReserve: number
  /** `max_tokens` to ask for. In a small window it is less than what the model could write. */
  readonly maxOutput: number
  /** The tokens available for input: the window minus the output reserve. */
  readonly effective: number
  readonly autoCompact: number
  /** What counts as full: the auto-compact threshold if auto-compaction is on, otherwise the effective window. */
  readonly limit: number
  readonly warning: number
  readonly blocking: number
  /** Problems with the given figures. The person sees each of them once. */
  readonly notices: readonly string[]
}

export function resolveThresholds(input: ThresholdInput): Thresholds {
  const { window, facts, maxOutput, autoCompact: on, believed } = input
  const notices: string[] = []
  const reserve = facts.accepts.overflowingOutput ? OUTPUT_RESERVE : Math.max(maxOutput, OUTPUT_RESERVE)
  const scale = shrinkage(window, reserve)
  if (scale < 1) {
    notices.push(
      `A window of ${window} tokens is too small for the usual reserves of ${reserve + AUTO_COMPACT_BUFFER + WARNING_BUFFER} tokens, so they are scaled to ${Math.round(scale * 100)}%.`,
    )
  }
  const part = (tokens: number) => Math.floor(tokens * scale)
  const warningBuffer = (limit: number) =>
    scale < 1 ? Math.min(part(WARNING_BUFFER), Math.floor(limit / 2)) : WARNING_BUFFER
  const outputReserve = part(reserve)
  const effective = Math.max(1, window - outputReserve)
  const standard = Math.max(1, effective - part(AUTO_COMPACT_BUFFER))
  const autoCompact = Math.min(standard, ...lowered(input, effective, notices))
  const limit = on ? autoCompact : effective
  return {
    window,
    ...(believed === undefined ? {} : { believed }),
    countsOutput: !facts.accepts.overflowingOutput,
    outputReserve,
    maxOutput: facts.accepts.overflowingOutput ? maxOutput : Math.max(1, Math.min(maxOutput, outputReserve)),
    effective,
    autoCompact,
    limit,
    warning: Math.max(1, limit - warningBuffer(limit)),
    blocking: Math.max(1, effective - part(BLOCKING_BUFFER)),
    notices,
  }
}

/** If the window is too small for the reserve and the buffers, they shrink in proportion. */
function shrinkage(window: number, reserve: number): number {
  const wanted = reserve + AUTO_COMPACT_BUFFER + WARNING_BUFFER
  return Math.min(1, Math.max(0, window) / wanted)
}

function lowered({ percent, tokens }: ThresholdInput, effective: number, notices: string[]): number[] {
  const candidates: number[] = []
  if (percent !== undefined) {
    if (typeof percent === "number" && percent > 0 && percent <= 100)
      candidates.push(Math.max(1, Math.floor((effective * percent) / 100)))
    else
      notices.push(
        `The auto-compact percentage ${inline(String(percent))} is ignored: it must be above 0 and at most 100.`,
      )
  }
  if (tokens !== undefined) {
    if (tokens > 0) candidates.push(Math.floor(tokens))
    else notices.push(`The auto-compact threshold ${tokens} is ignored: it must be above 0.`)
  }
  return candidates
}

/** How full the context is. */
export interface Fill {
  readonly used: number
  readonly percentLeft: number
  readonly state: "fine" | "warning" | "compact" | "blocked"
}

/** How full a conversation is. A limit counts as reached at `used >= limit`. */
export function fillOf(used: number, thresholds: Thresholds, autoCompact: boolean): Fill {
  const { limit, warning, blocking } = thresholds
  const percentLeft = Math.max(0, Math.round((100 * (limit - used)) / limit))
  const state =
    used >= blocking ? "blocked" : autoCompact && used >= limit ? "compact" : used >= warning ? "warning" : "fine"
  return { used, percentLeft, state }
}

/** Whether a conversation of this size can continue with another model without compacting. */
export function fitsModel(used: number, target: Thresholds): boolean {
  return used < target.limit
}
