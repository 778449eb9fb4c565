/**
 * What Strata would have saved on all conversations, from those that were replayed so far.
 *
 * Conversations are replayed in an order that is drawn by money: one that cost twice as much is twice as likely to come next. The draw
 * depends on the conversation's id alone, so it is the same every time, and a new conversation leaves the order of the others as it is.
 *
 * For the beginning of such an order, the probability of every conversation to be in it is known. A replayed conversation counts as often
 * as one divided by its probability, and the share is a ratio of two such sums (Cohen and Kaplan, "Summarizing data using bottom-k
 * sketches", 2007). It has no bias towards expensive conversations, and it is exact once all are replayed.
 */
import { hash } from "node:crypto"

/** A conversation in the order of the draw. */
export interface DrawnConversation {
  /** Its place in the order: what it drew, divided by its money. */
  readonly place: number
  /** What was spent on the requests that a replay repeats. */
  readonly money: number
  /** Modelled dollars. Absent until it is replayed. */
  readonly replayed?: { readonly recorded: number; readonly strata: number } | undefined
}

export type SavingEstimate =
  /** Nothing can be replayed. */
  | { readonly kind: "nothing" }
  /** The sample is too small to say anything. */
  | { readonly kind: "unknown"; readonly sample: number }
  /** A share of the modelled cost, and the interval that has the share of all conversations in it in 99 of 100 cases. */
  | {
      readonly kind: "sampled"
      readonly sample: number
      readonly share: number
      readonly from: number
      readonly to: number
    }
  /** All were replayed. */
  | { readonly kind: "exact"; readonly recorded: number; readonly strata: number; readonly share: number }

const SEED = "strata look" // never changes, so that a machine keeps its sample
const MIN_SAMPLE = 4 // fewer do not show how much conversations differ
const MAX_HALF_WIDTH = 0.2 // a wider interval says nothing that helps a user
const MIN_SPREAD = 0.1 // a few conversations can save alike by chance, so the spread of savings is taken to be at least this
const Z_99 = 2.5758 // standard deviations on either side that hold 99% of a normal distribution

/** What a conversation draws: an exponential variable, from its id. */
export function drawFor(id: string): number {
  const digits = hash("sha256", `${SEED} ${id}`, "hex").slice(0, 12) // 48 bits
  return -Math.log((Number.parseInt(digits, 16) + 0.5) / 2 ** 48)
}

/** How many at the beginning of the order were replayed. Those after a gap finished early because they are short, so they do not count. */
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
  // people are shown whole percents, and the interval holds also for what they read
  const from = Math.floor((share - halfWidth) * 100) / 100
  const to = Math.min(1, Math.ceil((share + halfWidth) * 100) / 100)
  return { kind: "sampled", sample: size, share, from, to }
}

interface SampledConversation {
  readonly money: number
  readonly recorded: number
  readonly strata: number
}

/** `end`: the place of the first conversation that is not in the sample. */
function estimateShare(sample: readonly SampledConversation[], end: number) {
  const drawn = sample.map(({ money, recorded, strata }) => {
    const probability = -Math.expm1(-money * end)
    return { recorded, saved: recorded - strata, probability }
  })
  const total = (value: (one: (typeof drawn)[number]) => number) => sum(drawn.map(value))
  const recorded = total((one) => one.recorded / one.probability)
  const share = total((one) => one.saved / one.probability) / recorded
  // what is in the sample for certain adds nothing to the variance
  const variance = (deviation: (one: (typeof drawn)[number]) => number) =>
    total((one) => (deviation(one) ** 2 * (1 - one.probability)) / one.probability ** 2) / recorded ** 2
  const found = (variance((one) => one.saved - share * one.recorded) * drawn.length) / (drawn.length - 1)
  const min = variance((one) => MIN_SPREAD * one.recorded)
  return { share, halfWidth: studentQuantile(drawn.length - 1) * Math.sqrt(Math.max(found, min)) }
}

/** The 99% quantile of Student's distribution on both sides, as a series in the degrees of freedom. */
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
