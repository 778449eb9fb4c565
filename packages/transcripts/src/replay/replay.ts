/**
 * Simulates what a recorded conversation would have cost under other policies: the content and the cost of each request. It is a model and
 * calls no server. Responses and pauses stay as recorded. If a response uses content that a policy removed from the view, fetching it again
 * is charged.
 */
import type { TokenCounts } from "@strata/core"
import { addCounts, inputTokens, NO_TOKENS } from "@strata/core/base"
import { measureRecording } from "./measured-recording.ts"
import { ALL_POLICIES } from "./policies/all.ts"
import { AS_RECORDED, CLEARING_ONLY } from "./policies/clearing-only.ts"
import { none } from "./policies/none.ts"
import type { Policy, RunOptions } from "./policy.ts"
import type { RecordedConversation, RecordedSteps, ReplayOptions } from "./recorded-steps.ts"
import { ACTION_KINDS, type ActionKind, type PolicyAction, savingsByAction } from "./replayed-actions.ts"
import {
  type AfterCompaction,
  type CacheLoss,
  type NamesPreserved,
  type PolicyRun,
  type PreparedTexts,
  PURPOSES,
  type Purpose,
  type ReplayedCompaction,
  type ReplayedRequest,
  type UsedAgain,
} from "./report.ts"
import { type CostUnit, requestCost, unitOf, weigh } from "./request-cost.ts"

export interface Replay {
  /** `unknown`: the recording has no times, so no cache expires and nothing is cleared by time. */
  readonly pauses: RecordedSteps["pauses"]
  /** `counted`: requests have their recorded sizes. `estimated`: none were recorded. */
  readonly sizes: "counted" | "estimated"
  readonly model: string
  /** The reports in the order of the given policies. */
  readonly reports: readonly ReplayReport[]
}

export interface ReplayReport {
  readonly policy: string
  readonly about: string
  readonly totals: ReplayTotals
  readonly requests: readonly ReplayedRequest[]
  readonly actions: readonly ReplayedAction[]
  /** The cache misses. */
  readonly losses: readonly CacheLoss[]
  /** The turn of the first request after each compaction. */
  readonly boundaries: readonly number[]
  readonly compactions: readonly ReplayedCompaction[]
  readonly texts?: PreparedTexts
  readonly usedAgain: UsedAgain
  readonly namesKept: NamesPreserved
  readonly afterCompaction: AfterCompaction
  /** Errors of layers. The replay continued without the failed step. */
  readonly failures: readonly string[]
}

/** An action and its share of what the policy saved, in the same unit. */
export interface ReplayedAction extends PolicyAction {
  readonly saved: number
}

export interface ReplayTotals {
  readonly requests: number
  readonly counts: TokenCounts
  /** Absent if the price of a model is unknown. */
  readonly dollars?: number
  /** The cost in tokens of plain input at usual relative prices, even if no price is known. */
  readonly weighed: number
  /** Cost of each kind of request, in the unit of `saved`. */
  readonly byPurpose: Readonly<Record<Purpose, number>>
  /** The largest context. */
  readonly peak: number
  /** Share of the input that was read from the cache. */
  readonly hitRatio: number
  readonly compactions: number
  /** Time that the user waited for summaries. */
  readonly blockedMs: number
  /** Requests that do not fit the window. */
  readonly invalid: number
  /** Number of results that each kind of action concerned. */
  readonly acts: Readonly<Record<ActionKind, number>>
  /** Savings compared with sending everything, negative if it cost more. In dollars, or in weighed tokens if a price is unknown. */
  readonly saved: { readonly amount: number; readonly share: number; readonly unit: CostUnit }
}

export interface ReplayInput extends ReplayOptions, RunOptions {
  /** Default: all. */
  readonly policies?: readonly Policy[]
  /** @internal Called for every run of a policy, to measure it or to show progress. It must return what `run` returns. */
  readonly around?: (policy: Policy, run: () => Promise<PolicyRun>) => Promise<PolicyRun>
}

/** Compares the policies with sending everything: with `AS_RECORDED` if it is among them, else with `none`. */
export async function replay(conversation: RecordedConversation, input: ReplayInput = {}): Promise<Replay> {
  const { policies = ALL_POLICIES, window, summarySeconds, around = (_, run) => run(), ...options } = input
  const recording = measureRecording(conversation, options)
  const running = {
    ...(window === undefined ? {} : { window }),
    ...(summarySeconds === undefined ? {} : { summarySeconds }),
  }
  const everything = policies.includes(AS_RECORDED) ? AS_RECORDED : none
  const runOf = (policy: Policy) => around(policy, () => policy.run(recording, running))
  const baseline = await runOf(everything)
  const reports: ReplayReport[] = []
  for (const policy of policies) {
    const run = policy === everything ? baseline : await runOf(policy)
    reports.push(reportOf(policy, { run, baseline }))
  }
  const { pauses, source, model } = recording
  return { pauses, sizes: source, model, reports }
}

/** Replays layers 1 and 2 alone, between the recording's own compactions. */
export const replayClearing = (conversation: RecordedConversation, options: Omit<ReplayInput, "policies"> = {}) =>
  replay(conversation, { ...options, policies: CLEARING_ONLY })

interface Runs {
  readonly run: PolicyRun
  readonly baseline: PolicyRun
}

function reportOf({ name, about }: Policy, { run, baseline }: Runs): ReplayReport {
  const { requests, failures, losses, contexts, usedAgain, namesKept, afterCompaction } = run
  const unit = unitOf(requests)
  const price = (request: ReplayedRequest) => requestCost(request, unit)
  const [costs, everything] = [costByTurn(requests, price), costByTurn(baseline.requests, price)]
  const differences = everything.map((cost, turn) => cost - (costs[turn] ?? 0))
  const savings = savingsByAction({ ...run, differences })
  return {
    policy: name,
    about,
    totals: {
      ...totalsOf(run),
      ...(unit === "dollars" ? { dollars: sum(requests.map(price)) } : {}),
      byPurpose: Object.fromEntries(
        PURPOSES.map((purpose) => [purpose, sum(requests.filter((each) => each.purpose === purpose).map(price))]),
      ) as Record<Purpose, number>,
      blockedMs: sum(run.compactions.map(({ waitedMs }) => waitedMs)),
      saved: { unit, amount: sum(differences), share: share(sum(differences), sum(everything)) },
    },
    requests,
    actions: run.actions.map((action, i) => ({ ...action, saved: savings[i]! })),
    losses,
    boundaries: contexts,
    compactions: run.compactions,
    ...(run.texts ? { texts: run.texts } : {}),
    usedAgain,
    namesKept,
    afterCompaction,
    failures,
  }
}

/** Cost by turn, counted from 0: the conversation's request and all side requests for it. */
function costByTurn(requests: readonly ReplayedRequest[], price: (request: ReplayedRequest) => number): number[] {
  const costs: number[] = []
  for (const request of requests) costs[request.turn - 1] = (costs[request.turn - 1] ?? 0) + price(request)
  return costs
}

function totalsOf({
  requests,
  actions,
  contexts,
  invalid,
}: PolicyRun): Omit<ReplayTotals, "dollars" | "saved" | "byPurpose" | "blockedMs"> {
  const counts = requests.map((request) => request.counts).reduce(addCounts, NO_TOKENS)
  const acts = Object.fromEntries(ACTION_KINDS.map((kind) => [kind, 0])) as Record<ActionKind, number>
  for (const { kind, results } of actions) acts[kind] += Math.max(1, results)
  return {
    requests: requests.length,
    counts,
    weighed: Math.round(weigh(counts)),
    peak: requests.reduce((max, { context }) => Math.max(max, context), 0),
    hitRatio: share(counts.cacheRead, inputTokens(counts)),
    compactions: contexts.length,
    invalid,
    acts,
  }
}

const share = (part: number, whole: number) => (whole === 0 ? 0 : part / whole)
const sum = (values: readonly number[]) => values.reduce((all, one) => all + one, 0)
