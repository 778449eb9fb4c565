/**
 * The scorecard compares policies over one recording or many. A policy is scored if every replay contains it, so all rows cover the same
 * conversations.
 */
import { addCounts, inputTokens, NO_TOKENS } from "@strata/core/base"
import type { TurnPhase } from "@strata/core/policy"
import type { Replay, ReplayReport } from "./replay.ts"
import type { CostUnit } from "./request-cost.ts"

/** Policies by whose cost a cost is divided. */
export const REFERENCES = ["none", "claude-style", "optimum"] as const
export type Reference = (typeof REFERENCES)[number]

export interface ScoredReplay {
  readonly replay: Replay
  /** Processing time of each policy by name, if measured. */
  readonly processingMs?: Readonly<Record<string, number>>
}

export interface Scorecard {
  readonly conversations: number
  /** `tokens`: tokens of plain input at usual relative prices, because the price of a model is unknown. */
  readonly unit: CostUnit
  /** The scores in the order of the first replay. */
  readonly scores: readonly Score[]
}

export interface Score {
  readonly policy: string
  readonly about: string
  readonly cost: number
  /** The cost divided by that of a reference. Absent if the reference is missing or costs nothing. */
  readonly relative: Readonly<Partial<Record<Reference, number>>>
  readonly requests: number
  /** Share of the input that was read from the cache. */
  readonly hitRatio: number
  /** The largest context. */
  readonly peak: number
  /** Requests that do not fit the window. */
  readonly invalid: number
  readonly compactions: number
  /** Number of compactions by turn phase. A bound that knows the future has none. */
  readonly openings: Readonly<Record<TurnPhase, number>>
  readonly blockedMs: number
  /** Compactions that nobody waited for. */
  readonly withoutWaiting: ScoreShare
  /** Names used again by responses that were in view. */
  readonly namesInView: ScoreShare
  /** The same including names that one search finds. Absent if the policy has no index. */
  readonly namesWithinSearch?: ScoreShare
  /** Paths in summaries and facts that tools really touched. */
  readonly trailPrecision: ScoreShare
  /** Files changed so far that the view still names after a compaction. */
  readonly trailRecall: ScoreShare
  /** Rules of the user that are in view verbatim after a compaction. */
  readonly rulesVerbatim: ScoreShare
  /** Failures that layers reported, plus requests that do not fit the window. */
  readonly failures: number
  /** Absent unless measured for every conversation. */
  readonly processingMs?: number
}

export interface ScoreShare {
  readonly count: number
  readonly of: number
  /** Absent if there was nothing to count. */
  readonly share?: number
}

export function scorecard(replays: readonly ScoredReplay[]): Scorecard {
  const names = (replays[0]?.replay.reports ?? []).map(({ policy }) => policy)
  const scored = names.flatMap((policy) => {
    const runs = replays.map((one) => runOf(one, policy)).filter((run) => run !== undefined)
    return runs.length === replays.length ? [runs] : []
  })
  const isPriced = scored.flat().every(({ report }) => report.totals.dollars !== undefined)
  const unit: CostUnit = isPriced ? "dollars" : "tokens"
  const costs = new Map(scored.map((runs) => [runs[0]!.report.policy, sum(runs.map((run) => costIn(run, unit)))]))
  return { conversations: replays.length, unit, scores: scored.map((runs) => scoreOf(runs, costs)) }
}

interface ScoredRun {
  readonly report: ReplayReport
  readonly processingMs: number | undefined
}

function runOf({ replay, processingMs }: ScoredReplay, policy: string): ScoredRun | undefined {
  const report = replay.reports.find((each) => each.policy === policy)
  return report && { report, processingMs: processingMs?.[policy] }
}

const costIn = ({ report: { totals } }: ScoredRun, unit: CostUnit) =>
  unit === "dollars" ? totals.dollars! : totals.weighed

function scoreOf(runs: readonly ScoredRun[], costs: ReadonlyMap<string, number>): Score {
  const reports = runs.map(({ report }) => report)
  const { policy, about } = reports[0]!
  const total = (value: (report: ReplayReport) => number) => sum(reports.map(value))
  const counts = reports.map(({ totals }) => totals.counts).reduce(addCounts, NO_TOKENS)
  const cost = costs.get(policy)!
  const names = total(({ usedAgain }) => usedAgain.names)
  const inView = total(({ usedAgain }) => usedAgain.inView)
  const hasIndex = reports.every(({ usedAgain }) => usedAgain.found !== undefined)
  const after = (name: keyof ReplayReport["afterCompaction"]) => total(({ afterCompaction }) => afterCompaction[name])
  const made = reports.flatMap(({ compactions }) => compactions)
  const at = (opening: TurnPhase) => made.filter((each) => each.opening === opening).length
  const times = runs.map(({ processingMs }) => processingMs)
  return {
    policy,
    about,
    cost,
    relative: relativeTo(costs, cost),
    requests: total(({ totals }) => totals.requests),
    hitRatio: part(counts.cacheRead, inputTokens(counts)).share ?? 0,
    peak: reports.reduce((max, { totals }) => Math.max(max, totals.peak), 0),
    invalid: total(({ totals }) => totals.invalid),
    compactions: total(({ totals }) => totals.compactions),
    openings: { task: at("task"), request: at("request"), pause: at("pause") },
    blockedMs: total(({ totals }) => totals.blockedMs),
    withoutWaiting: part(made.filter(({ waitedMs }) => waitedMs === 0).length, made.length),
    namesInView: part(inView, names),
    ...(hasIndex ? { namesWithinSearch: part(inView + total(({ usedAgain }) => usedAgain.found!), names) } : {}),
    trailPrecision: part(after("pathsTouched"), after("paths")),
    trailRecall: part(after("changedFilesNamed"), after("changedFiles")),
    rulesVerbatim: part(after("rulesVerbatim"), after("rules")),
    failures: total(({ failures, totals }) => failures.length + totals.invalid),
    ...(times.every((time) => time !== undefined) ? { processingMs: sum(times) } : {}),
  }
}

function relativeTo(costs: ReadonlyMap<string, number>, cost: number): Score["relative"] {
  const known = REFERENCES.flatMap((reference) => {
    const whole = costs.get(reference) ?? 0
    return whole > 0 ? [[reference, cost / whole] as const] : []
  })
  return Object.fromEntries(known)
}

const part = (count: number, of: number): ScoreShare => ({ count, of, ...(of > 0 ? { share: count / of } : {}) })
const sum = (values: readonly number[]) => values.reduce((all, one) => all + one, 0)
