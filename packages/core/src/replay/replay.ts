/**
 * What a recorded conversation would have cost under other policies: what each request would have sent, and what it would have been
 * billed. It is a model and calls no server. Answers, pauses and compactions stay as recorded. It leaves out what a model would have
 * read again because a result was no longer shown.
 */
import { addCounts, inputTokens, NO_TOKENS, type TokenCounts, weighCounts } from "../base/token-counts.ts"
import { type MeasuredRecording, measureRecording, type ReplayOptions } from "./measured-recording.ts"
import { NOTHING, POLICIES, type Policy } from "./policies.ts"
import type { RecordedConversation } from "./recorded-steps.ts"
import { type ActionKind, type PolicyAction, savingsByAction } from "./replayed-actions.ts"
import { type PolicyRun, type ReplayedRequest, runPolicy } from "./run-policy.ts"

export interface Replay {
  /** `unknown`: the recording has no times, so no cache expires and nothing is cleared by time. */
  readonly pauses: MeasuredRecording["pauses"]
  /** Where sizes come from. */
  readonly sizes: MeasuredRecording["source"]
  /** In the order of the policies given. */
  readonly reports: readonly ReplayReport[]
}

export interface ReplayReport {
  readonly policy: string
  readonly about: string
  readonly totals: ReplayTotals
  readonly requests: readonly ReplayedRequest[]
  readonly actions: readonly ReplayedAction[]
  /** What went wrong in a layer. The replay went on without it. */
  readonly failures: readonly string[]
}

/** An action and its share of what the policy saved, in the same unit. */
export interface ReplayedAction extends PolicyAction {
  readonly saved: number
}

export interface ReplayTotals {
  readonly requests: number
  readonly counts: TokenCounts
  /** Absent where the price of a model is unknown. */
  readonly dollars?: number
  /** The cost in tokens of plain input, at usual relative prices. It is there even where no price is known. */
  readonly weighed: number
  /** The largest context. */
  readonly peak: number
  /** Share of the input that was read from the cache. */
  readonly hitRatio: number
  /** How many results each kind of action was about. */
  readonly acts: Readonly<Record<ActionKind, number>>
  /** Compared with sending everything. Below 0 it cost more. In dollars, or in weighed tokens where a price is unknown. */
  readonly saved: { readonly amount: number; readonly share: number; readonly unit: CostUnit }
}

export type CostUnit = "dollars" | "tokens"

const USUAL_PRICES = { input: 1, cacheWrite5m: 1.25, cacheWrite1h: 2, cacheRead: 0.1, output: 5 } // relative to plain input

export interface ReplayInput extends ReplayOptions {
  readonly policies?: readonly Policy[]
}

export async function replay(
  conversation: RecordedConversation,
  { policies = POLICIES, ...options }: ReplayInput = {},
): Promise<Replay> {
  const recording = measureRecording(conversation, options)
  const baseline = await runPolicy(recording, NOTHING)
  const reports: ReplayReport[] = []
  for (const policy of policies) {
    const run = policy === NOTHING ? baseline : await runPolicy(recording, policy)
    reports.push(reportOf(policy, { run, baseline }))
  }
  return { pauses: recording.pauses, sizes: recording.source, reports }
}

interface Runs {
  readonly run: PolicyRun
  readonly baseline: PolicyRun
}

function reportOf({ name, about }: Policy, { run, baseline }: Runs): ReplayReport {
  const { requests, failures } = run
  const unit: CostUnit = requests.every(({ dollars }) => dollars !== undefined) ? "dollars" : "tokens"
  const price = (request: ReplayedRequest) => (unit === "dollars" ? request.dollars! : weigh(request.counts))
  const differences = requests.map((request, i) => price(baseline.requests[i]!) - price(request))
  const savings = savingsByAction({ ...run, differences })
  return {
    policy: name,
    about,
    totals: {
      ...totalsOf(run),
      ...(unit === "dollars" ? { dollars: sum(requests.map(price)) } : {}),
      saved: { unit, amount: sum(differences), share: share(sum(differences), sum(baseline.requests.map(price))) },
    },
    requests,
    actions: run.actions.map((action, i) => ({ ...action, saved: savings[i]! })),
    failures,
  }
}

function totalsOf({ requests, actions }: PolicyRun): Omit<ReplayTotals, "dollars" | "saved"> {
  const counts = requests.map((request) => request.counts).reduce(addCounts, NO_TOKENS)
  const acts: Record<ActionKind, number> = {
    "put aside": 0,
    cleared: 0,
    "cleared by the server": 0,
    "thinking dropped": 0,
  }
  for (const { kind, results } of actions) acts[kind] += Math.max(1, results)
  return {
    requests: requests.length,
    counts,
    weighed: Math.round(weigh(counts)),
    peak: requests.reduce((most, { context }) => Math.max(most, context), 0),
    hitRatio: share(counts.cacheRead, inputTokens(counts)),
    acts,
  }
}

const weigh = (counts: TokenCounts) => weighCounts(counts, USUAL_PRICES)
const share = (part: number, whole: number) => (whole === 0 ? 0 : part / whole)
const sum = (values: readonly number[]) => values.reduce((all, one) => all + one, 0)
