/** How much fits, and when layers must act: window, output reserve, thresholds. Pure functions of the model and the settings. */
import { formatNumber } from "../base/text.ts"
import { inline } from "../messages/blocks.ts"
import type { Settings } from "../settings/settings.ts"
import { LONG_WINDOW, type ModelFacts, type ModelLookup, requestsLongContext, windowBetas } from "./models.ts"

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
  readonly learned?: number
}

export interface ResolvedWindow {
  readonly tokens: number
  readonly from: "name" | "model" | "beta" | "override" | "default" | "learnt"
}

/** The first source that knows a window wins. A setting or a refusal can make any window smaller, but never larger than it is. */
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

/** If the window is too small for the reserve and the buffers, they shrink in proportion. */
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

/** How full a conversation is. A limit counts as reached at `used >= limit`. */
export function computeWindowUsage(used: number, thresholds: Thresholds, autoCompact: boolean): WindowUsage {
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

// A limit that a server has shown by a refusal: how much one model at one address takes. It is smaller than what was believed: a local model,
// a gateway, a missing beta. What the newest refusal says counts.

/** A limit that a server's refusal showed. */
export interface LearnedLimit {
  /** As it was named. */
  readonly model: string
  /** Where its requests go. */
  readonly address: string
  readonly tokens: number
  /** Input and output together must fit. */
  readonly countsOutput?: boolean
  /** The refusal named no limit. This is what fitted before, and it holds for this conversation only. */
  readonly isAssumed?: boolean
}

export const limitKey = ({ model, address }: Pick<LearnedLimit, "model" | "address">): string => `${model} ${address}`

/** What a refusal says about sizes. */
export interface RefusedSizes {
  readonly tokens?: number | undefined
  readonly limit?: number | undefined
  readonly gap?: number | undefined
  readonly countsOutput?: boolean | undefined
  /** It is about bytes, so it says nothing about tokens. */
  readonly isBytes?: boolean | undefined
}

export interface RefusedRequest {
  /** Its size by our own estimate. */
  readonly estimate: number
  /** The largest size that the server has counted before, as far as it is known. */
  readonly accepted: number
  /** What was believed until now. */
  readonly believed: { readonly window: number; readonly countsOutput: boolean }
}

const MIN_WINDOW = 1_000 // tokens: a smaller figure is no window
const ASSUMED_SHARE = 0.5 // of what was refused, where nothing else is known

/** What the refusal of a request teaches; `undefined` where it says nothing new. */
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

/** For the person, once it is learnt. */
export const describeLearnedLimit = ({ model, tokens, isAssumed }: LearnedLimit, believed: number): string =>
  `${model} takes ${isAssumed ? "fewer" : `at most ${formatNumber(tokens)}`} tokens here, not ${formatNumber(believed)}: the server has refused a request. Strata keeps to ${isAssumed ? `${formatNumber(tokens)}, which fitted` : "that"} from now on.`

// The thresholds of a conversation, from the model's window and the settings.

export interface ThresholdSource {
  /** The model's name as given. */
  readonly name: string
  readonly values: Settings
  /** Beta headers that requests are sent with. */
  readonly betas: readonly string[]
  /** What a refusal of the server has shown. */
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

/** Whether the person may compact, and whether the conversation compacts on its own. */
export function allowedCompaction(settings: Settings): { manual: boolean; auto: boolean } {
  const manual = !settings.off && !settings.disableCompact
  return { manual, auto: manual && !settings.disableAutoCompact && settings.autoCompactEnabled }
}
