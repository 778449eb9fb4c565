/**
 * Compares the billed cost of a recording with the cost that the cache model predicts. The difference is divided among named causes; the
 * rest is unexplained.
 */
import type { TokenCounts } from "@strata/core"
import { inputTokens, weighCounts } from "@strata/core/base"
import { costOf, findModel, tokenCounts } from "@strata/core/tokens"
import { INCIDENT_CAUSES, UNEXPLAINED } from "./incident-causes.ts"
import { type MeasuredRecording, measureRecording } from "./measured-recording.ts"
import { type ComparedRequest, runRecordedPolicy } from "./recorded-policy.ts"
import type { RecordedConversation, ReplayOptions } from "./recorded-steps.ts"
import { USUAL_PRICES } from "./usual-prices.ts"

const CLOSE = 0.05 // of the bill
const REST_CAUSES = {
  "server-passes": "the server compacted the conversation itself",
  "earlier-breakpoint": "the client's last breakpoint was before the last message",
  sizes: "unexplained: small differences, most from estimated block sizes",
} as const

export type CalibrationCause = keyof typeof INCIDENT_CAUSES | keyof typeof REST_CAUSES

export interface CalibrationPart {
  readonly cause: CalibrationCause
  readonly about: string
  readonly requests: number
  /** Tokens read or not read, contrary to the rules. */
  readonly tokens: number
  /** Difference between the bill and the predicted cost. Negative if the bill is lower. */
  readonly amount: number
}

export interface Calibration {
  /** Tokens at usual relative prices if the price of a model is unknown. */
  readonly unit: "dollars" | "tokens"
  readonly requests: number
  /** Number of requests before which the cache deviated from its rules. */
  readonly incidents: number
  readonly bill: number
  /** Cost by the rules of the cache alone: prefixes, breakpoints and lifetimes as recorded. */
  readonly expected: number
  /** Cost including the incidents that the usage shows, such as a cache that the server dropped. */
  readonly modelled: number
  /** `expected` and `modelled`, relative to the bill. */
  readonly ratios: { readonly expected: number; readonly modelled: number }
  readonly isWithin5Percent: { readonly expected: boolean; readonly modelled: boolean }
  /** Sum of the differences without evidence in the recording, as a share of the bill. */
  readonly unexplained: number
  /** The parts add up to `bill - expected`, largest first. */
  readonly parts: readonly CalibrationPart[]
}

/** `undefined` if the recording has no usage to compare with. */
export function calibrate(conversation: RecordedConversation, options: ReplayOptions = {}): Calibration | undefined {
  const recording = measureRecording(conversation, options)
  const requests = runRecordedPolicy(recording)
  if (requests.length === 0) return undefined
  const { unit, price } = pricing(requests, recording)
  const sum = (of: (request: ComparedRequest) => TokenCounts) =>
    requests.reduce((all, request) => all + price(request, of(request)), 0)
  const [bill, expected, modelled] = [sum(({ billed }) => billed), sum((r) => r.expected), sum((r) => r.modelled)]
  const ratios = { expected: expected / bill, modelled: modelled / bill }
  const isClose = (ratio: number) => Math.abs(ratio - 1) <= CLOSE
  const parts = partsOf(requests, price)
  const unexplained = parts.filter(({ cause }) => isUnexplained(cause))
  return {
    unit,
    requests: requests.length,
    incidents: requests.filter(({ incident }) => incident).length,
    bill,
    expected,
    modelled,
    ratios,
    isWithin5Percent: { expected: isClose(ratios.expected), modelled: isClose(ratios.modelled) },
    unexplained: unexplained.reduce((all, { amount }) => all + Math.abs(amount), 0) / bill,
    parts,
  }
}

type Price = (request: ComparedRequest, counts: TokenCounts) => number

function pricing(requests: readonly ComparedRequest[], { models }: MeasuredRecording) {
  const factsOf = ({ request }: ComparedRequest) => findModel(request.model, models).facts
  const isKnown = requests.every((request) => costOf(factsOf(request), request.billed).known)
  const price: Price = (request, counts) => {
    const cost = isKnown ? costOf(factsOf(request), counts) : undefined
    return cost?.known ? cost.dollars : weighCounts(counts, USUAL_PRICES)
  }
  return { unit: isKnown ? ("dollars" as const) : ("tokens" as const), price }
}

function partsOf(requests: readonly ComparedRequest[], price: Price): readonly CalibrationPart[] {
  const parts = new Map<CalibrationCause, CalibrationPart>()
  const add = (cause: CalibrationCause, { tokens, amount }: { tokens: number; amount: number }) => {
    const so = parts.get(cause) ?? { cause, about: causeText(cause), requests: 0, tokens: 0, amount: 0 }
    parts.set(cause, { ...so, requests: so.requests + 1, tokens: so.tokens + tokens, amount: so.amount + amount })
  }
  for (const request of requests) {
    const { billed, expected, incident } = request
    const amount = price(request, billed) - price(request, expected)
    const tokens = Math.abs(Math.round(billed.cacheRead - expected.cacheRead))
    if (incident || amount !== 0) add(incident?.cause ?? restCause(request), { tokens, amount })
  }
  return [...parts.values()].sort((a, b) => Math.abs(b.amount) - Math.abs(a.amount))
}

const LARGEST_TAIL = 16 // tokens that the API adds after the last block and never caches

function restCause({ request, billed, expected }: ComparedRequest): keyof typeof REST_CAUSES {
  if (request.usage?.iterations && inputTokens(tokenCounts(request.usage)) > inputTokens(expected) + LARGEST_TAIL)
    return "server-passes"
  return billed.input > expected.input + LARGEST_TAIL ? "earlier-breakpoint" : "sizes"
}

export const causeText = (cause: CalibrationCause) => ({ ...INCIDENT_CAUSES, ...REST_CAUSES })[cause]

const isUnexplained = (cause: CalibrationCause) => cause === "sizes" || UNEXPLAINED.has(cause as never)
