/**
 * Estimates how many tokens content takes, without a tokenizer. The estimates improve as a conversation runs.
 *
 * An estimate is a sum over characters. Each depends only on what directly precedes it, so one more character never adds more than a few
 * tokens. For unknown models simple rules apply: 4 bytes of text per token, 2 bytes of JSON, 2,000 tokens for an image or a document, and
 * a third on top.
 */
import { crc32 } from "node:zlib"
import { memoize } from "../base/work.ts"
import {
  asServerResult,
  asServerUse,
  type Block,
  findToolReferences,
  isDeferred,
  isMedia,
  isText,
  isThinking,
  isToolResult,
  isToolUse,
  resultBlocks,
  type Thinking,
  type ToolResult,
  toolName,
} from "../messages/blocks.ts"
import { exactInputOf } from "../messages/exact-json.ts"
import type { ToolDefinition } from "../messages/request.ts"
import {
  baseTokens,
  CONTENT_CLASSES,
  type ContentClass,
  FAMILY_FACTORS,
  type FamilyFactors,
  forEachSegment,
} from "./content-class.ts"
import type { TokenizerFamily } from "./models.ts"

// Measures content independently of the model: base tokens of each content class, and the number of calls, results and media. Measures can
// be added. The estimator converts them to tokens of a model family.

export interface Measure {
  /** Base tokens of each content class. */
  readonly byClass: Readonly<Record<ContentClass, number>>
  /** UTF-8 bytes, used to estimate for unknown models. */
  readonly bytes: { readonly text: number; readonly json: number }
  /** Number of text blocks outside results, of calls and of results. Each adds some tokens of framing. */
  readonly texts: number
  readonly calls: number
  readonly results: number
  readonly media: number
}

type ByteKind = keyof Measure["bytes"]

const CIPHER_BASE_TOKENS = 3 / 16 // base64 is 4/3 as long as the hidden text, and thinking has about 4 characters per token

const NO_CLASS = Object.fromEntries(CONTENT_CLASSES.map((name) => [name, 0])) as Record<ContentClass, number>
const NOTHING: Measure = { byClass: NO_CLASS, bytes: { text: 0, json: 0 }, texts: 0, calls: 0, results: 0, media: 0 }

export function measureText(text: string, countedAs: ByteKind = "text"): Measure {
  return { ...NOTHING, byClass: classTokens(text), bytes: countBytes(text, countedAs) }
}

export function measureBlock(block: Block): Measure {
  if (isText(block)) return { ...measureText(block.text), texts: 1 }
  if (isToolUse(block)) return measureCall(block)
  if (isToolResult(block)) return { ...sumMeasures(resultBlocks(block).map(measureInResult)), results: 1 }
  if (isMedia(block)) return { ...NOTHING, media: 1 }
  if (isThinking(block)) return measureThinking(block)
  const serverUse = asServerUse(block)
  if (serverUse) return measureCall(serverUse)
  const json = measureText(JSON.stringify(block), "json")
  return asServerResult(block) ? { ...json, results: 1 } : json
}

export function measureBlocks(blocks: readonly Block[]): Measure {
  return sumMeasures(blocks.map(measureBlock))
}

export function sumMeasures(measures: readonly Measure[]): Measure {
  if (measures.length === 1) return measures[0] as Measure
  const total = runningMeasure()
  for (const measure of measures) addMeasure(total, measure)
  return total
}

/** A measure that is summed in place. */
export interface RunningMeasure extends Measure {
  readonly byClass: Record<ContentClass, number>
  readonly bytes: Record<ByteKind, number>
  texts: number
  calls: number
  results: number
  media: number
}

export function runningMeasure(from: Measure = NOTHING): RunningMeasure {
  return { ...from, byClass: { ...from.byClass }, bytes: { ...from.bytes } }
}

export function addMeasure(total: RunningMeasure, measure: Measure): void {
  for (const name of CONTENT_CLASSES) total.byClass[name] += measure.byClass[name]
  total.bytes.text += measure.bytes.text
  total.bytes.json += measure.bytes.json
  total.texts += measure.texts
  total.calls += measure.calls
  total.results += measure.results
  total.media += measure.media
}

export function subtractMeasure(total: RunningMeasure, measure: Measure): void {
  for (const name of CONTENT_CLASSES) total.byClass[name] -= measure.byClass[name]
  total.bytes.text -= measure.bytes.text
  total.bytes.json -= measure.bytes.json
  total.texts -= measure.texts
  total.calls -= measure.calls
  total.results -= measure.results
  total.media -= measure.media
}

/** Cached, because a text is measured several times: on arrival, in its message, and before the next request. */
const classTokens = memoize(readClassTokens, { max: 100 })

function readClassTokens(text: string): Readonly<Record<ContentClass, number>> {
  const byClass = { ...NO_CLASS }
  forEachSegment(text, (contentClass, visits) => {
    byClass[contentClass] += baseTokens(contentClass, visits)
  })
  return byClass
}

const countBytes = (text: string, kind: ByteKind) => ({ text: 0, json: 0, [kind]: Buffer.byteLength(text) })

function measureCall(call: { readonly name: string; readonly input: unknown }): Measure {
  const json = exactInputOf(call) ?? JSON.stringify(call.input ?? {})
  return {
    ...NOTHING,
    byClass: classTokens(`${call.name}\n${modelInputText(call.input) ?? json}`),
    bytes: { text: Buffer.byteLength(call.name), json: Buffer.byteLength(json) },
    calls: 1,
  }
}

/**
 * The input as Claude writes it, without JSON escapes. Measured that way, inputs have about as many tokens per base token as other text
 * (1.20 and 1.23); measured as JSON, a seventh fewer. For GPT, which writes JSON, the difference is 0.6%.
 */
function modelInputText(input: unknown): string | undefined {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return undefined
  return Object.entries(input)
    .map(([name, value]) => `${name}\n${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join("\n")
}

function measureInResult(block: Block): Measure {
  if (!isText(block)) return measureBlock(block)
  return measureText(block.text, looksLikeJson(block.text) ? "json" : "text")
}

/** Checks only both ends, because parsing a large result would cost more than the better estimate is worth. */
function looksLikeJson(text: string): boolean {
  return /^\s*(?:\{\s*["}]|\[\s*["{[\]\d-])/.test(text.slice(0, 64)) && /[}\]]\s*$/.test(text.slice(-64))
}

function measureThinking(block: Thinking): Measure {
  if (block.type === "thinking") return measureText(block.thinking)
  return {
    ...NOTHING,
    byClass: { ...NO_CLASS, prose: block.data.length * CIPHER_BASE_TOKENS },
    bytes: countBytes(block.data, "text"),
  }
}

// Learns from API usage how far off each part of an estimate is.
//
// Each part has a correction, which starts at 1, and a variance: the uncertainty of that correction. An observation is shared among the
// parts by size and uncertainty (a Kalman filter without cross terms). Frequent parts converge; unseen ones do not change.
//
// Three limits protect against bad observations. A correction stays between 0.5 and 2. A large error has no more influence than a usual
// one. A gross surprise is used only if the next observation confirms it: one lost message changes nothing, but a new tokenizer under the
// same model name is learned.

/** Estimated tokens by part: each content class, framing, media. */
export type EstimateParts = Readonly<Record<string, number>>

export interface CalibrationState {
  readonly family: TokenizerFamily
  readonly observations: number
  readonly parts: Readonly<Record<string, PartState>>
  /** The direction of the last observation, if it was a gross surprise that is not yet confirmed. */
  readonly surprise: Surprise
  /** The running factor for the entire context. Default: 1. */
  readonly factor?: number
}

interface PartState {
  readonly correction: number
  readonly variance: number
}

type Surprise = "too high" | "too low" | "none"

/** Initial values before any observation, chosen on 2,900 recorded windows. */
const PRIOR: Readonly<Record<TokenizerFamily, { readonly deviation: number; readonly noiseTokens: number }>> = {
  "claude-4": { deviation: 0.15, noiseTokens: 10 },
  "claude-5": { deviation: 0.15, noiseTokens: 10 },
  "gpt-5": { deviation: 0.1, noiseTokens: 10 },
  // 4 bytes per token is right for GPT and 1.7 times too many for Claude; framing is not included
  unknown: { deviation: 0.4, noiseTokens: 100 },
}
const NOISE_SHARE = 0.1 // of an estimate: texts of one class differ by this much
const DRIFT_VARIANCE = 0.0002 // per observation: fifty of them undo what one has taught
const CORRECTION_RANGE = { min: 0.5, max: 2 }
const COUNTED_DEVIATIONS = 0.8 // corrections follow the typical window, not a mean with outliers
const GROSS_FACTOR = 1.5 // off by more than this factor, something other than the estimate is wrong

export function createCalibration(options: { readonly family: TokenizerFamily; readonly state?: CalibrationState }) {
  const { family } = options
  const state = options.state?.family === family ? options.state : undefined // what was learned for another tokenizer does not apply
  const { deviation, noiseTokens } = PRIOR[family]
  const unseen: PartState = { correction: 1, variance: deviation ** 2 }
  const known = new Map(Object.entries(state?.parts ?? {}))
  let observations = state?.observations ?? 0
  let surprise: Surprise = state?.surprise ?? "none"

  const predict = (parts: EstimateParts) => {
    let sum = 0
    for (const name in parts) sum += (parts[name] as number) * (known.get(name)?.correction ?? 1)
    return sum
  }

  function learn(parts: EstimateParts, actual: number): void {
    const estimate = predict(parts)
    if (!(actual > 0 && Number.isFinite(actual) && estimate > 0)) return // content was removed in between, so the number says nothing about sizes
    observations++
    const before = surprise
    // short tails consist mostly of framing, so a factor says little about them
    surprise = grossSurprise(estimate + noiseTokens, actual + noiseTokens)
    if (surprise === "none" || surprise === before) adjust(parts, actual - estimate)
  }

  function adjust(parts: EstimateParts, miss: number): void {
    const names = Object.keys(parts).filter((name) => (parts[name] as number) > 0)
    const doubt = (name: string) => (known.get(name) ?? unseen).variance * (parts[name] as number) ** 2
    const noise = (NOISE_SHARE * sumParts(parts)) ** 2 + noiseTokens ** 2
    const spread = names.reduce((sum, name) => sum + doubt(name), noise)
    const counted = clamp(miss, {
      min: -COUNTED_DEVIATIONS * Math.sqrt(spread),
      max: COUNTED_DEVIATIONS * Math.sqrt(spread),
    })
    for (const name of names) {
      const { correction, variance } = known.get(name) ?? unseen
      const share = doubt(name) / spread
      known.set(name, {
        correction: clamp(correction + (share * counted) / (parts[name] as number), CORRECTION_RANGE),
        variance: Math.min(variance * (1 - share) + DRIFT_VARIANCE, unseen.variance),
      })
    }
  }

  return {
    predict,
    learn,
    state: (): CalibrationState => ({ family, observations, parts: Object.fromEntries(known), surprise }),
  }
}

function grossSurprise(estimate: number, actual: number): Surprise {
  if (estimate > GROSS_FACTOR * actual) return "too high"
  return actual > GROSS_FACTOR * estimate ? "too low" : "none"
}

const sumParts = (parts: EstimateParts) => Object.values(parts).reduce((sum, tokens) => sum + tokens, 0)
const clamp = (value: number, { min, max }: { min: number; max: number }) => Math.min(max, Math.max(min, value))

// The estimator of one conversation.

export interface Estimator {
  readonly family: TokenizerFamily
  /** Measures can be stored and added. `tokens` converts one with the current calibration. */
  measure(blocks: readonly Block[]): Measure
  sum(measures: readonly Measure[]): Measure
  tokens(measure: Measure): number
  /** Like `tokens`, without the running factor. */
  unscaled(measure: Measure): number
  /** The API's tokens per estimated token, for the entire context. */
  factor: number
  text(text: string): number
  block(block: Block): number
  blocks(blocks: readonly Block[]): number
  /** The tools of the prompt: a reference to one of them in a result is measured as its definition. */
  knowTools(tools: readonly ToolDefinition[]): void
  /** Learns from the API's token count for measured content. */
  learn(observation: Observation): void
  /** The state as plain JSON. Pass it to `createEstimator` to continue with what was learned. */
  state(): CalibrationState
}

export interface Observation {
  readonly measure: Measure
  readonly actual: number
}

const MEDIA_TOKENS = 2_000
const BYTES_PER_TOKEN = { text: 4, json: 2 }
const UNKNOWN_PAD = 4 / 3

export function createEstimator(family: TokenizerFamily, state?: CalibrationState): Estimator {
  const partsOf = family === "unknown" ? plainParts : familyParts(FAMILY_FACTORS[family])
  const calibration = createCalibration({ family, ...(state && { state }) })
  const definitions = new Map<string, ToolDefinition>()
  const measureResult = cacheResultMeasures((result) => {
    const loaded = findToolReferences(result).flatMap((name) => definitions.get(name) ?? [])
    if (loaded.length === 0) return measureBlock(result)
    return sumMeasures([measureBlock(result), ...loaded.map((tool) => measureText(JSON.stringify(tool)))])
  })
  const measure = (blocks: readonly Block[]) =>
    sumMeasures(blocks.map((block) => (isToolResult(block) ? measureResult(block) : measureBlock(block))))
  let factor = state?.family === family ? (state.factor ?? 1) : 1
  const unscaled = (measured: Measure) => calibration.predict(partsOf(measured))
  const tokens = (measured: Measure) => unscaled(measured) * factor
  return {
    family,
    get factor() {
      return factor
    },
    set factor(settled) {
      factor = settled
    },
    unscaled,
    measure,
    sum: sumMeasures,
    tokens,
    text: (text) => tokens(measureText(text)),
    block: (block) => tokens(measure([block])),
    blocks: (blocks) => tokens(measure(blocks)),
    knowTools(tools) {
      definitions.clear()
      for (const tool of tools.filter(isDeferred)) definitions.set(toolName(tool) ?? "", tool)
    },
    learn: ({ measure: measured, actual }) => calibration.learn(partsOf(measured), actual),
    state: () => ({ ...calibration.state(), ...(factor === 1 ? {} : { factor }) }),
  }
}

function plainParts({ bytes, media }: Measure): EstimateParts {
  return {
    text: (bytes.text / BYTES_PER_TOKEN.text) * UNKNOWN_PAD,
    json: (bytes.json / BYTES_PER_TOKEN.json) * UNKNOWN_PAD,
    media: media * MEDIA_TOKENS * UNKNOWN_PAD,
  }
}

function familyParts({
  perBaseToken,
  perText,
  perCall,
  perResult,
  pad,
}: FamilyFactors): (measure: Measure) => EstimateParts {
  return ({ byClass, texts, calls, results, media }) => {
    const parts: Record<string, number> = {
      framing: (texts * perText + calls * perCall + results * perResult) * pad,
      media: media * MEDIA_TOKENS * pad,
    }
    for (const name of CONTENT_CLASSES) parts[name] = byClass[name] * perBaseToken[name] * pad
    return parts
  }
}

/**
 * Limit of cached measures. Tool results are cached by tool_use id while their content stays the same. Contents are compared by length and
 * hash, so no text is held in memory.
 */
const MAX_CACHED_RESULTS = 20_000 // about 5 MB; a conversation of a million tokens has fewer results

type ResultMeasure = (result: ToolResult) => Measure

export function cacheResultMeasures(measure: ResultMeasure = measureBlock): ResultMeasure {
  const remembered = new Map<string, { readonly content: string; readonly measure: Measure }>()
  return (result) => {
    const content = fingerprint(result.content ?? "")
    const known = remembered.get(result.tool_use_id)
    if (known?.content === content) return known.measure
    const fresh = { content, measure: measure(result) }
    remembered.delete(result.tool_use_id)
    remembered.set(result.tool_use_id, fresh)
    if (remembered.size > MAX_CACHED_RESULTS) forgetOldest(remembered)
    return fresh.measure
  }
}

function forgetOldest(remembered: Map<string, unknown>): void {
  for (const oldest of remembered.keys()) {
    remembered.delete(oldest)
    return
  }
}

/** Length and checksum. */
function fingerprint(content: NonNullable<ToolResult["content"]>): string {
  const text = typeof content === "string" ? content : JSON.stringify(content)
  return `${typeof content}:${text.length}:${crc32(text)}`
}

// Caches the measures of blocks for several questions about the same ones. The tools of the prompt must not change meanwhile.

export type BlockTokens = Pick<Estimator, "block" | "blocks">

export function cacheBlockTokens(estimator: Estimator): BlockTokens {
  const known = new WeakMap<Block, Measure>()
  const measure = (block: Block): Measure => {
    const measured = known.get(block) ?? estimator.measure([block])
    known.set(block, measured)
    return measured
  }
  return {
    block: (block) => estimator.tokens(measure(block)),
    blocks: (blocks) => estimator.tokens(estimator.sum(blocks.map(measure))),
  }
}
