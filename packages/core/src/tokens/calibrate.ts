/**
 * Learns from API usage how far off each part of an estimate is, and reports the accuracy of the estimates.
 *
 * Each part has a correction, which starts at 1, and a variance: the uncertainty of that correction. An observation is shared among the
 * parts by size and uncertainty (a Kalman filter without cross terms). Frequent parts converge; unseen ones do not change.
 *
 * Three limits protect against bad observations. A correction stays between 0.5 and 2. A large error has no more influence than a usual
 * one. A gross surprise is used only if the next observation confirms it: one lost message changes nothing, but a new tokenizer under the
 * same model name is learned.
 */
import type { TokenizerFamily } from "./models.ts"

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

export interface PartState {
  readonly correction: number
  readonly variance: number
}

export interface CalibrationReport {
  readonly observations: number
  readonly corrections: Readonly<Record<string, number>>
  /** Errors of the estimates with and without learning, since this calibration was created. */
  readonly calibrated: ErrorSummary
  readonly uncalibrated: ErrorSummary
}

/** Relative errors: 0.1 is 10% of the actual size. */
export interface ErrorSummary {
  readonly median: number
  readonly p95: number
  readonly largestUnderestimate: number
}

export interface Calibration {
  predict(parts: EstimateParts): number
  learn(parts: EstimateParts, actual: number): void
  report(): CalibrationReport
  state(): CalibrationState
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
const MAX_ERRORS = 500

export function createCalibration(options: { family: TokenizerFamily; state?: CalibrationState }): Calibration {
  const { family } = options
  const state = options.state?.family === family ? options.state : undefined // what was learned for another tokenizer does not apply
  const { deviation, noiseTokens } = PRIOR[family]
  const unseen: PartState = { correction: 1, variance: deviation ** 2 }
  const known = new Map(Object.entries(state?.parts ?? {}))
  const errors = { calibrated: new RecentErrors(), uncalibrated: new RecentErrors() }
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
    errors.calibrated.add(estimate / actual - 1)
    errors.uncalibrated.add(sumParts(parts) / actual - 1)
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
    report: () => ({
      observations,
      corrections: Object.fromEntries([...known].map(([name, { correction }]) => [name, correction])),
      calibrated: errors.calibrated.summary(),
      uncalibrated: errors.uncalibrated.summary(),
    }),
    state: () => ({ family, observations, parts: Object.fromEntries(known), surprise }),
  }
}

function grossSurprise(estimate: number, actual: number): Surprise {
  if (estimate > GROSS_FACTOR * actual) return "too high"
  return actual > GROSS_FACTOR * estimate ? "too low" : "none"
}

const sumParts = (parts: EstimateParts) => Object.values(parts).reduce((sum, tokens) => sum + tokens, 0)
const clamp = (value: number, { min, max }: { min: number; max: number }) => Math.min(max, Math.max(min, value))

class RecentErrors {
  readonly #errors: number[] = []

  add(error: number): void {
    this.#errors.push(error)
    if (this.#errors.length > MAX_ERRORS) this.#errors.shift()
  }

  summary(): ErrorSummary {
    return summarizeErrors(this.#errors)
  }
}

/** Summarizes signed relative errors: negative means that the estimate was too low. All zero without errors. */
export function summarizeErrors(errors: readonly number[]): ErrorSummary {
  const sizes = errors.map(Math.abs).sort((a, b) => a - b)
  const at = (quantile: number) => sizes[Math.max(0, Math.ceil(sizes.length * quantile) - 1)] ?? 0
  return { median: at(0.5), p95: at(0.95), largestUnderestimate: Math.max(0, ...errors.map((error) => -error)) }
}
