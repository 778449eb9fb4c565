/**
 * How much fits into the context, and when layers must act: window, output reserve, thresholds. Pure functions of the model and the
 * settings.
 */
import { formatNumber } from "../base/text.ts"
import { inline } from "../messages/blocks.ts"
import type { Settings } from "../settings/settings.ts"
import { LONG_WINDOW, type ModelFacts, type ModelLookup, requestsLongContext, windowBetas } from "./models.ts"

/** Default sizes in tokens. */
const DEFAULT_WINDOW = 200_000
export const OUTPUT_RESERVE = 20_000
const AUTO_COMPACT_BUFFER = 13_000
const WARNING_BUFFER = 20_000
const BLOCKING_BUFFER = 3_000

const LONG_CONTEXT_BETA = /^context-1m-/

export interface WindowInput {
  /** The model's name as given, possibly with `[1m]`. */
  readonly name: string
  readonly facts: ModelFacts
  /** Whether the model is in the table. Otherwise its window is an assumption. */
  readonly known: boolean
  /** Beta headers of the requests. */
  readonly betas?: readonly string[]
  /** From a setting or the environment. */
  readonly override?: number
  /** The window learned from a server's refusal. */
  readonly learned?: number
}

export interface ResolvedWindow {
  readonly tokens: number
  readonly from: "name" | "model" | "beta" | "override" | "default" | "learnt"
}

/** Uses the first source that knows the window. A setting or a refusal can make a window smaller, but never larger than it is. */
export function resolveWindow(input: WindowInput): ResolvedWindow {
  const believed = believedWindow(input)
  const { learned = believed.tokens } = input
  return learned < believed.tokens ? { tokens: learned, from: "learnt" } : believed
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
  if (requestsLongContext(name) && isGiven) return { tokens: LONG_WINDOW, from: "name" }
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
  /** The window that was assumed before a refusal showed a smaller one. */
  readonly believed?: number
}

/** Sizes in tokens at which something happens. */
export interface Thresholds {
  readonly window: number
  /** The window that was assumed before, if the window is a learned limit. */
  readonly believed?: number
  /** Whether input and `max_tokens` together must fit the window. Otherwise the response may use what the input leaves. */
  readonly countsOutput: boolean
  readonly outputReserve: number
  /** The `max_tokens` of requests. In a small window it is less than the model's maximum. */
  readonly maxOutput: number
  /** The tokens available for input: the window minus the output reserve. */
  readonly effective: number
  readonly autoCompact: number
  /** The size that counts as full: the auto-compact threshold if auto-compaction is on, otherwise the effective window. */
  readonly limit: number
  readonly warning: number
  readonly blocking: number
  /** Problems with the given values. Each is shown to the user once. */
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
  const autoCompact = Math.min(standard, ...loweredThresholds(input, effective, notices))
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

/** The factor that scales down the reserve and the buffers if the window is too small for them. */
function shrinkage(window: number, reserve: number): number {
  const wanted = reserve + AUTO_COMPACT_BUFFER + WARNING_BUFFER
  return Math.min(1, Math.max(0, window) / wanted)
}

function loweredThresholds({ percent, tokens }: ThresholdInput, effective: number, notices: string[]): number[] {
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
export interface WindowUsage {
  readonly used: number
  readonly percentLeft: number
  readonly state: "fine" | "warning" | "compact" | "blocked"
}

/** How full a conversation is. A limit is reached at `used >= limit`. */
export function computeWindowUsage(used: number, thresholds: Thresholds, autoCompact: boolean): WindowUsage {
  const { limit, warning, blocking } = thresholds
  const percentLeft = Math.max(0, Math.round((100 * (limit - used)) / limit))
  const state =
    used >= blocking ? "blocked" : autoCompact && used >= limit ? "compact" : used >= warning ? "warning" : "fine"
  return { used, percentLeft, state }
}

/** Whether a conversation of this size fits another model without a compaction. */
export function fitsModel(used: number, target: Thresholds): boolean {
  return used < target.limit
}

// A limit learned from a server's refusal, for one model at one address. It is smaller than assumed, for example because of a local model,
// a gateway or a missing beta. The newest refusal applies.

/** A limit learned from a server's refusal. */
export interface LearnedLimit {
  /** The model's name as given. */
  readonly model: string
  /** The server's address. */
  readonly address: string
  readonly tokens: number
  /** Input and output together must fit. */
  readonly countsOutput?: boolean
  /** The refusal named no limit. The limit is what fitted before, and applies only to this conversation. */
  readonly isAssumed?: boolean
}

export const limitKey = ({ model, address }: Pick<LearnedLimit, "model" | "address">): string => `${model} ${address}`

/** Sizes in a refusal. */
export interface RefusedSizes {
  readonly tokens?: number | undefined
  readonly limit?: number | undefined
  readonly gap?: number | undefined
  readonly countsOutput?: boolean | undefined
  /** The refusal is about bytes, so it says nothing about tokens. */
  readonly isBytes?: boolean | undefined
}

export interface RefusedRequest {
  /** The request's size by our own estimate. */
  readonly estimate: number
  /** The largest size that the server has accepted, if known. */
  readonly accepted: number
  /** The limits that were assumed so far. */
  readonly believed: { readonly window: number; readonly countsOutput: boolean }
}

const MIN_WINDOW = 1_000 // tokens: a smaller number is not a window
const ASSUMED_SHARE = 0.5 // of the refused size, if nothing else is known

/** The limit that a refusal shows. `undefined` if it shows nothing new. */
export function learnLimit(
  { tokens, limit, gap, countsOutput = false, isBytes }: RefusedSizes,
  { estimate, accepted, believed }: RefusedRequest,
): Pick<LearnedLimit, "tokens" | "countsOutput" | "isAssumed"> | undefined {
  if (isBytes) return undefined
  const named = limit ?? (gap === undefined ? undefined : (tokens ?? estimate) - gap)
  const learned = Math.floor(named ?? Math.max(accepted, estimate * ASSUMED_SHARE))
  if (!(learned >= MIN_WINDOW)) return undefined
  const isSmaller = learned < believed.window
  const isStricter = countsOutput && !believed.countsOutput && limit !== undefined
  if (!isSmaller && !isStricter) return undefined
  return {
    tokens: Math.min(learned, believed.window),
    ...(countsOutput || believed.countsOutput ? { countsOutput: true } : {}),
    ...(named === undefined ? { isAssumed: true } : {}),
  }
}

/** Tells the user about a learned limit. */
export const describeLearnedLimit = ({ model, tokens, isAssumed }: LearnedLimit, believed: number): string =>
  `${model} takes ${isAssumed ? "fewer" : `at most ${formatNumber(tokens)}`} tokens here, not ${formatNumber(believed)}: the server has refused a request. Strata keeps to ${isAssumed ? `${formatNumber(tokens)}, which fitted` : "that"} from now on.`

// Computes the thresholds of a conversation from the model's window and the settings.

export interface ThresholdSource {
  /** The model's name as given. */
  readonly name: string
  readonly values: Settings
  /** Beta headers of the requests. */
  readonly betas: readonly string[]
  /** The limit learned from a server's refusal. */
  readonly learned?: Pick<LearnedLimit, "tokens" | "countsOutput"> | undefined
}

export function thresholdsFor({ name, values, betas, learned }: ThresholdSource, model: ModelLookup): Thresholds {
  const facts = learned?.countsOutput ? withoutOverflow(model.facts) : model.facts
  const own = values.models[facts.id] ?? values.models[name]
  const known = {
    name,
    facts,
    known: model.known,
    betas,
    ...(values.contextWindow ? { override: values.contextWindow } : {}),
  }
  const window = resolveWindow({ ...known, ...(learned ? { learned: learned.tokens } : {}) })
  const percent = own?.autoCompactPercent ?? values.autoCompactPercent
  const tokens = own?.autoCompactTokens ?? values.autoCompactTokens
  const thresholds = resolveThresholds({
    window: window.tokens,
    facts,
    maxOutput: Math.min(values.maxOutputTokens, facts.maxOutput),
    autoCompact: allowedCompaction(values).auto,
    ...(percent === undefined ? {} : { percent }),
    ...(tokens === undefined ? {} : { tokens }),
    ...(window.from === "learnt" ? { believed: resolveWindow(known).tokens } : {}),
  })
  const [beta] = windowBetas(name, facts)
  if (beta === undefined || window.from !== "model") return thresholds
  const notice = `The window is ${formatNumber(window.tokens)} tokens: for a million, "${facts.id}" needs the beta header ${beta}. Send requests with client.beta.messages and set contextManagement, or send the header yourself and name it in betas.`
  return { ...thresholds, notices: [...thresholds.notices, notice] }
}

const withoutOverflow = (facts: ModelFacts): ModelFacts => ({
  ...facts,
  accepts: { ...facts.accepts, overflowingOutput: false },
})

/** Whether the user may compact, and whether the conversation compacts automatically. */
export function allowedCompaction(settings: Settings): { manual: boolean; auto: boolean } {
  const manual = !settings.off && !settings.disableCompact
  return { manual, auto: manual && !settings.disableAutoCompact && settings.autoCompactEnabled }
}
