/**
 * How many tokens content will take, told without a tokenizer (TOK-3), and the better the longer a conversation runs (TOK-5).
 *
 * An estimate is a sum over characters, each counted once and by what stands directly before it: one more character never
 * changes it by more than a few tokens. Where nothing is known about the model, the plain rules hold: 4 bytes of text, 2 of
 * JSON, 2,000 for an image or a document, and a third more.
 */
import { type Block, isToolResult } from "../messages/blocks.ts"
import { type CalibrationReport, type CalibrationState, createCalibration, type Parts } from "./calibrate.ts"
import { CONTENT_CLASSES } from "./content-class.ts"
import { type Measure, measureBlock, measureText, sumMeasures } from "./measure.ts"
import type { TokenizerFamily } from "./model-facts.ts"
import { createResultMeter } from "./result-cache.ts"
import { FAMILY_FACTORS, type FamilyFactors } from "./token-weights.ts"

export type { CalibrationReport, CalibrationState } from "./calibrate.ts"
export { type Measure, measureBlock, measureBlocks, measureText, sumMeasures } from "./measure.ts"

export interface Estimator {
  readonly family: TokenizerFamily
  /** Sizes that add up and can be kept: `tokens` tells what they come to by what is known now. */
  measure(blocks: readonly Block[]): Measure
  sum(measures: readonly Measure[]): Measure
  tokens(measure: Measure): number
  text(text: string): number
  block(block: Block): number
  blocks(blocks: readonly Block[]): number
  /** What the API said the measured content took. */
  learn(observation: Observation): void
  report(): CalibrationReport
  /** Plain JSON: stored, and given back to `createEstimator`, it goes on where it was. */
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
  const measureResult = createResultMeter()
  const measure = (blocks: readonly Block[]) =>
    sumMeasures(blocks.map((block) => (isToolResult(block) ? measureResult(block) : measureBlock(block))))
  const tokens = (measured: Measure) => calibration.predict(partsOf(measured))
  return {
    family,
    measure,
    sum: sumMeasures,
    tokens,
    text: (text) => tokens(measureText(text)),
    block: (block) => tokens(measure([block])),
    blocks: (blocks) => tokens(measure(blocks)),
    learn: ({ measure: measured, actual }) => calibration.learn(partsOf(measured), actual),
    report: calibration.report,
    state: calibration.state,
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
