/** Sums up several recorded conversations. Responses that a fork repeats from its parent count once. */
import type { CacheBreak, EstimatedCost as Estimated } from "@strata/core/views"
import type { Inspection } from "./inspection.ts"
import { type CountedElsewhere, countedElsewhere, type RecordedResponse } from "./responses.ts"

/** A conversation and its billed responses. */
export interface InspectedResponses {
  readonly inspection: Inspection
  readonly responses: readonly RecordedResponse[]
}

/** Totals over several conversations. */
export interface InspectionTotal {
  readonly conversations: number
  /** Summed over the files: a turn that occurs in two files counts twice. */
  readonly turns: number
  readonly messages: number
  readonly boundaries: number
  readonly requests: number
  /** Share of the input read from cache. */
  readonly hitRatio: number
  readonly broken: Inspection["cache"]["broken"]
  readonly money: {
    readonly dollars: number
    /** Whether some output was not recorded in full, which makes the sum a lower bound. */
    readonly isLowerBound: boolean
    readonly unpriced: readonly string[]
    readonly estimated?: Estimated
  }
  /** Responses that occur in more than one file. Each is counted once. */
  readonly shared: readonly SharedResponses[]
}

/** Responses of one file that are counted in another one. */
export interface SharedResponses {
  readonly file: string
  readonly responses: number
  /** The file in which they are counted. */
  readonly countedIn: string
}

export function sumInspections(all: readonly InspectedResponses[]): InspectionTotal {
  const inspections = all.map(({ inspection }) => inspection)
  const elsewhere = countedElsewhere(all.map(({ inspection: { file }, responses }) => ({ file, responses })))
  const repeated = elsewhere.flatMap((each) => each.flatMap(({ responses }) => responses))
  const sum = (value: (one: Inspection) => number) => inspections.reduce((total, one) => total + value(one), 0)
  const sumRepeated = (value: (one: RecordedResponse) => number) =>
    repeated.reduce((total, one) => total + value(one), 0)
  const input = sum(
    ({ cache: { counts } }) => counts.input + counts.cacheRead + counts.cacheWrite5m + counts.cacheWrite1h,
  )
  const estimated = estimatedOf(inspections, repeated)
  return {
    conversations: all.length,
    turns: sum(({ growth }) => growth.sizes.length),
    messages: sum(({ messages }) => messages),
    boundaries: sum(({ growth }) => growth.boundaries.length),
    requests: sum(({ cache }) => cache.requests) - sumRepeated(({ requests }) => requests),
    hitRatio: input === 0 ? 0 : sum(({ cache }) => cache.counts.cacheRead) / input,
    broken: brokenOf(inspections, elsewhere),
    money: {
      dollars: sum(({ money }) => money.dollars) - sumRepeated(({ dollars = 0 }) => dollars),
      isLowerBound: inspections.some(({ money }) => money.stubs !== undefined),
      unpriced: [...new Set(inspections.flatMap(({ money }) => money.unpriced))],
      ...(estimated ? { estimated } : {}),
    },
    shared: elsewhere.flatMap((each, at) =>
      each.map(({ in: other, responses }) => ({
        file: inspections[at]!.file,
        responses: responses.length,
        countedIn: inspections[other]!.file,
      })),
    ),
  }
}

/** Sums up cache misses, without those at responses that another file counts. */
function brokenOf(
  inspections: readonly Inspection[],
  elsewhere: readonly (readonly CountedElsewhere[])[],
): Inspection["cache"]["broken"] {
  const total = { breaks: 0, rewrittenTokens: 0, dollars: 0, unpriced: 0 }
  for (const [at, { cache }] of inspections.entries()) {
    const ids = new Set(elsewhere[at]!.flatMap(({ responses }) => responses.map(({ id }) => id)))
    const repeated = cache.breaks.filter(({ responseId }) => ids.has(responseId))
    const less = (value: (one: CacheBreak) => number) => repeated.reduce((sum, one) => sum + value(one), 0)
    total.breaks += cache.broken.breaks - repeated.length
    total.rewrittenTokens += cache.broken.rewrittenTokens - less(({ rewrittenTokens }) => rewrittenTokens)
    total.dollars += cache.broken.dollars - less(({ dollars = 0 }) => dollars)
    total.unpriced += cache.broken.unpriced - less(({ dollars }) => (dollars === undefined ? 1 : 0))
  }
  return total
}

function estimatedOf(inspections: readonly Inspection[], repeated: readonly RecordedResponse[]): Estimated | undefined {
  const parts = inspections.flatMap(({ money }) => money.estimated ?? [])
  const all = subtractRepeated(
    parts,
    repeated.filter(({ estimated }) => estimated),
  )
  const unrecorded = subtractRepeated(
    parts.flatMap((part) => part.unrecorded ?? []),
    repeated.filter((one) => one.unrecorded),
  )
  if (all.requests === 0) return undefined
  return { ...all, ...(unrecorded.requests === 0 ? {} : { unrecorded }) }
}

interface EstimatedPart {
  readonly requests: number
  readonly dollars?: number
}

function subtractRepeated(parts: readonly EstimatedPart[], repeated: readonly EstimatedPart[]) {
  const sum = (of: readonly EstimatedPart[], value: (one: EstimatedPart) => number) =>
    of.reduce((total, one) => total + value(one), 0)
  const requests = ({ requests: count }: EstimatedPart) => count
  const dollars = ({ dollars: paid = 0 }: EstimatedPart) => paid
  return {
    requests: sum(parts, requests) - sum(repeated, requests),
    dollars: sum(parts, dollars) - sum(repeated, dollars),
  }
}
