/**
 * The data of one conversation for a report: sums by day, model, purpose and cause. Responses that are counted in another file are not
 * included.
 */

import type { TokenCounts } from "@strata/core"
import { addCounts, NO_TOKENS } from "@strata/core/base"
import type { BreakCause, RequestPurpose } from "@strata/core/views"
import type { RecordedUsage, ResponseLine } from "./recorded-usage.ts"

export interface Digest {
  readonly spent: readonly CostLine[]
  readonly lost: readonly MissTotal[]
  readonly compactions: readonly CompactionTotal[]
  readonly agents: readonly AgentTotal[]
  readonly context: Readonly<Record<string, number>>
  /** Responses that are counted in another file. */
  readonly repeated: { readonly responses: number; readonly dollars: number }
  readonly isLowerBound: boolean
  readonly isSimulated?: true
}

export interface CostLine {
  readonly day: string
  readonly model: string
  readonly purpose: RequestPurpose
  requests: number
  counts: TokenCounts
  dollars: number
  unpriced: number
  estimated: number
}

export interface MissTotal {
  readonly day: string
  readonly cause: BreakCause
  readonly reason?: string
  count: number
  tokens: number
  dollars: number
  unpriced: number
}

export interface CompactionTotal {
  readonly day: string
  readonly needed: number
  readonly inView: number
  readonly lost: readonly string[]
  /** Set if the lost names are unknown. */
  readonly isUnrecorded?: true
}

export interface AgentTotal {
  readonly name: string
  count: number
  dollars: number
  /** Agents without a recorded response, or with one whose price is unknown. */
  unknown: number
}

export const NO_DAY = "unknown"

/** Creates a digest. `elsewhere` has the keys of responses that are counted in another file. */
export function createDigest(recorded: RecordedUsage, elsewhere: ReadonlySet<string> = new Set()): Digest {
  const own = recorded.responses.filter(({ key }) => !elsewhere.has(key))
  const repeated = recorded.responses.filter(({ key }) => elsewhere.has(key))
  const isElsewhere = (place: number | undefined) =>
    place !== undefined && elsewhere.has(recorded.responses[place]?.key ?? "")
  return {
    spent: sumCosts(own),
    lost: [...sumMisses(own), ...recorded.moreLost.map((more) => ({ day: dayOf(recorded.to), ...more }))],
    compactions: recorded.boundaries
      .filter(({ response }) => !isElsewhere(response))
      .map(({ at, response: _, ...boundary }) => ({ day: dayOf(at), ...boundary })),
    agents: sumAgents(recorded, { own, repeated }),
    context: recorded.context,
    repeated: { responses: repeated.length, dollars: sum(repeated.map(({ dollars = 0 }) => dollars)) },
    isLowerBound: recorded.isLowerBound,
    ...(recorded.isSimulated ? { isSimulated: true } : {}),
  }
}

/** Day in UTC, as in transcripts. A time that is no time has none. */
export function dayOf(at: string | undefined): string {
  const day = at?.slice(0, 10) ?? NO_DAY
  return DAY.test(day) && !Number.isNaN(Date.parse(day)) ? day : NO_DAY
}

const DAY = /^\d{4}-\d\d-\d\d$/

function sumCosts(responses: readonly ResponseLine[]): readonly CostLine[] {
  const lines = new Map<string, CostLine>()
  for (const { at, model, purpose, requests, counts, dollars, estimated } of responses) {
    const day = dayOf(at)
    const key = JSON.stringify([day, model, purpose])
    const line = lines.get(key) ?? { day, model, purpose, ...NO_COST }
    lines.set(key, line)
    line.requests += requests
    line.counts = addCounts(line.counts, counts)
    if (dollars === undefined) line.unpriced += requests
    else line.dollars += dollars
    if (estimated) line.estimated += dollars ?? 0
  }
  return [...lines.values()]
}

const NO_COST = { requests: 0, counts: NO_TOKENS, dollars: 0, unpriced: 0, estimated: 0 }

function sumMisses(responses: readonly ResponseLine[]): readonly MissTotal[] {
  const sums = new Map<string, MissTotal>()
  for (const { at, lost } of responses) {
    if (!lost) continue
    const { cause, reason, tokens, dollars } = lost
    const day = dayOf(at)
    const key = JSON.stringify([day, cause, reason])
    const about = { day, cause, ...(reason === undefined ? {} : { reason }) }
    const one = sums.get(key) ?? { ...about, count: 0, tokens: 0, dollars: 0, unpriced: 0 }
    sums.set(key, one)
    one.count++
    one.tokens += tokens
    if (dollars === undefined) one.unpriced++
    else one.dollars += dollars
  }
  return [...sums.values()]
}

interface PartitionedResponses {
  readonly own: readonly ResponseLine[]
  readonly repeated: readonly ResponseLine[]
}

/** Costs by kind of agent. A sub-agent whose responses are all counted in another file is counted there. */
function sumAgents({ agents }: RecordedUsage, { own, repeated }: PartitionedResponses): readonly AgentTotal[] {
  const dollars = agents.map(() => 0)
  const isOwn = agents.map(() => false)
  const isPriced = agents.map(() => true)
  const isElsewhere = agents.map(() => false)
  for (const { agent } of repeated) if (agent !== undefined) isElsewhere[agent] = true
  for (const { agent, dollars: cost } of own)
    if (agent !== undefined) {
      dollars[agent]! += cost ?? 0
      isOwn[agent] = true
      isPriced[agent] &&= cost !== undefined
    }
  const sums = new Map<string, AgentTotal>()
  for (const [at, name] of agents.entries()) {
    if (isElsewhere[at] && !isOwn[at]) continue
    const one = sums.get(name) ?? { name, count: 0, dollars: 0, unknown: 0 }
    sums.set(name, one)
    one.count++
    one.dollars += dollars[at]!
    if (!isOwn[at] || !isPriced[at]) one.unknown++
  }
  return [...sums.values()]
}

const sum = (values: readonly number[]) => values.reduce((all, one) => all + one, 0)
