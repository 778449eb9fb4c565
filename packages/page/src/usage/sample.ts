/**
 * Estimates Strata's savings on all conversations from those that were replayed so far. Conversations are replayed in a random order
 * weighted by cost: one that cost twice as much is twice as likely to come next. The draw depends only on the conversation's id, so it is
 * reproducible, and a new conversation does not change the order of the others. For a prefix of such an order, the inclusion probability of
 * every conversation is known. Each replayed conversation is weighted by the inverse of its probability, and the share is a ratio of two
 * such sums (Cohen and Kaplan, "Summarizing data using bottom-k sketches", 2007). The estimate has no bias towards expensive conversations,
 * and it is exact once all are replayed.
 */
import { hash } from "node:crypto"

/** A conversation in the sampling order. */
export interface DrawnConversation {
  /** Sort key: the drawn number divided by the cost. */
  readonly place: number
  /** Cost of the requests that a replay repeats. */
  readonly money: number
  /** Modelled dollars. Absent before a replay. */
  readonly replayed?: { readonly recorded: number; readonly strata: number } | undefined
}

export type SavingEstimate =
  /** No conversation can be replayed. */
  | { readonly kind: "nothing" }
  /** The sample is too small for an estimate. */
  | { readonly kind: "unknown"; readonly sample: number }
  /** Saved share of the modelled cost, with its 99% confidence interval. */
  | {
      readonly kind: "sampled"
      readonly sample: number
      readonly share: number
      readonly from: number
      readonly to: number
    }
  /** All conversations were replayed. */
  | { readonly kind: "exact"; readonly recorded: number; readonly strata: number; readonly share: number }

const SEED = "strata look" // must not change, so that a machine keeps its sample
const MIN_SAMPLE = 4 // fewer do not show how much conversations differ
const MAX_HALF_WIDTH = 0.2 // a wider interval is not useful
const MIN_SPREAD = 0.1 // lower bound for the spread, because a few conversations can have similar savings by chance
const Z_99 = 2.5758 // standard deviations on either side that hold 99% of a normal distribution

/** An exponential random number derived from the conversation's id. */
export function drawFor(id: string): number {
  const digits = hash("sha256", `${SEED} ${id}`, "hex").slice(0, 12) // 48 bits
  return -Math.log((Number.parseInt(digits, 16) + 0.5) / 2 ** 48)
}

/**
 * Number of replayed conversations before the first gap. Those after a gap finished early because they are short, so they would bias the
 * sample.
 */
export function sampleSize(order: readonly DrawnConversation[]): number {
  const gap = order.findIndex(({ replayed }) => !replayed)
  return gap < 0 ? order.length : gap
}

export function estimateSaving(order: readonly DrawnConversation[]): SavingEstimate {
  const size = sampleSize(order)
  const sample = order.slice(0, size).map(({ money, replayed }) => ({ money, ...replayed! }))
  const next = order[size]
  if (!next) {
    if (sample.length === 0) return { kind: "nothing" }
    const recorded = sum(sample.map((one) => one.recorded))
    const strata = sum(sample.map((one) => one.strata))
    return { kind: "exact", recorded, strata, share: recorded === 0 ? 0 : (recorded - strata) / recorded }
  }
  if (size < MIN_SAMPLE) return { kind: "unknown", sample: size }
  const { share, halfWidth } = estimateShare(sample, next.place)
  if (!(halfWidth <= MAX_HALF_WIDTH)) return { kind: "unknown", sample: size }
  // rounded outwards, because whole percents are displayed
  const from = Math.floor((share - halfWidth) * 100) / 100
  const to = Math.min(1, Math.ceil((share + halfWidth) * 100) / 100)
  return { kind: "sampled", sample: size, share, from, to }
}

interface SampledConversation {
  readonly money: number
  readonly recorded: number
  readonly strata: number
}

/** Estimates the share. `end` is the sort key of the first conversation outside of the sample. */
function estimateShare(sample: readonly SampledConversation[], end: number) {
  const drawn = sample.map(({ money, recorded, strata }) => {
    const probability = -Math.expm1(-money * end)
    return { recorded, saved: recorded - strata, probability }
  })
  const total = (value: (one: (typeof drawn)[number]) => number) => sum(drawn.map(value))
  const recorded = total((one) => one.recorded / one.probability)
  const share = total((one) => one.saved / one.probability) / recorded
  // conversations that are certainly in the sample add no variance
  const variance = (deviation: (one: (typeof drawn)[number]) => number) =>
    total((one) => (deviation(one) ** 2 * (1 - one.probability)) / one.probability ** 2) / recorded ** 2
  const found = (variance((one) => one.saved - share * one.recorded) * drawn.length) / (drawn.length - 1)
  const min = variance((one) => MIN_SPREAD * one.recorded)
  return { share, halfWidth: studentQuantile(drawn.length - 1) * Math.sqrt(Math.max(found, min)) }
}

/** The two-sided 99% quantile of Student's distribution, as a series in the degrees of freedom. */
function studentQuantile(degrees: number): number {
  const z = Z_99
  return (
    z +
    (z ** 3 + z) / (4 * degrees) +
    (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * degrees ** 2) +
    (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / (384 * degrees ** 3)
  )
}

const sum = (values: readonly number[]) => values.reduce((all, one) => all + one, 0)
