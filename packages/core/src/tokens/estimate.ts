/**
 * Estimates how many tokens content takes, without a tokenizer. The estimates improve as a conversation runs.
 *
 * An estimate is a sum over characters. Each counts once and depends only on what is directly before it, so one more character
 * never adds more than a few tokens. For unknown models plain rules apply: 4 bytes of text per token, 2 bytes of JSON, 2,000
 * tokens for an image or a document, and a third on top.
 */
import { type Block, isToolResult, type ToolResult } from "../messages/blocks.ts"
import type { ToolDefinition } from "../messages/request.ts"
import { isDeferred, nameOf, referencesIn } from "../messages/tool-references.ts"
import { type CalibrationReport, type CalibrationState, createCalibration, type Parts } from "./calibrate.ts"
import { CONTENT_CLASSES } from "./content-class.ts"
import { type Measure, measureBlock, measureText, sumMeasures } from "./measure.ts"
import type { TokenizerFamily } from "./model-facts.ts"
import { FAMILY_FACTORS, type FamilyFactors } from "./token-weights.ts"

export type { CalibrationReport, CalibrationState } from "./calibrate.ts"
export { type Measure, measureBlock, measureBlocks, measureText, sumMeasures } from "./measure.ts"

export interface Estimator {
  readonly family: TokenizerFamily
  /** Measures add up and can be kept. `tokens` converts one with what is known now. */
  measure(blocks: readonly Block[]): Measure
  sum(measures: readonly Measure[]): Measure
  tokens(measure: Measure): number
  /** The same without the running factor. */
  unscaled(measure: Measure): number
  /** Tokens that the API counts for each token of an estimate, over the whole context. */
  factor: number
  text(text: string): number
  block(block: Block): number
  blocks(blocks: readonly Block[]): number
  /** The tools of the prompt: a reference to one of them in a result counts as its definition. */
  knowTools(tools: readonly ToolDefinition[]): void
  /** Takes in how many tokens the API counted for measured content. */
  learn(observation: Observation): void
  report(): CalibrationReport
  /** Plain JSON. Pass it to `createEstimator` to continue with what was learnt. */
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
  const measureResult = createResultMeter((result) => {
    const loaded = referencesIn(result).flatMap((name) => definitions.get(name) ?? [])
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
      for (const tool of tools.filter(isDeferred)) definitions.set(nameOf(tool) ?? "", tool)
    },
    learn: ({ measure: measured, actual }) => calibration.learn(partsOf(measured), actual),
    report: calibration.report,
    state: () => ({ ...calibration.state(), ...(factor === 1 ? {} : { factor }) }),
  }
}

function plainParts({ bytes, media }: Measure): Parts {
  return {
    text: (bytes.text / BYTES_PER_TOKEN.text) * UNKNOWN_PAD,
    json: (bytes.json / BYTES_PER_TOKEN.json) * UNKNOWN_PAD,
    media: media * MEDIA_TOKENS * UNKNOWN_PAD,
  }
}

function familyParts({ perBaseToken, perText, perCall, perResult, pad }: FamilyFactors): (measure: Measure) => Parts {
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
 * Caches the measure of tool results by tool_use id, as long as the content stays the same. It compares content by length and
 * hash, so it keeps no text in memory.
 */
const REMEMBERED_RESULTS = 20_000 // about 5 MB; a conversation of a million tokens has fewer results

type ResultMeter = (result: ToolResult) => Measure

export function createResultMeter(measure: ResultMeter = measureBlock): ResultMeter {
  const remembered = new Map<string, { readonly content: string; readonly measure: Measure }>()
  return (result) => {
    const content = fingerprint(result.content ?? "")
    const known = remembered.get(result.tool_use_id)
    if (known?.content === content) return known.measure
    const fresh = { content, measure: measure(result) }
    remembered.delete(result.tool_use_id)
    remembered.set(result.tool_use_id, fresh)
    if (remembered.size > REMEMBERED_RESULTS) forgetOldest(remembered)
    return fresh.measure
  }
}

function forgetOldest(remembered: Map<string, unknown>): void {
  for (const oldest of remembered.keys()) {
    remembered.delete(oldest)
    return
  }
}

/** Length and FNV-1a. */
function fingerprint(content: NonNullable<ToolResult["content"]>): string {
  const text = typeof content === "string" ? content : JSON.stringify(content)
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return `${typeof content}:${text.length}:${hash}`
}
