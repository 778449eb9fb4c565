/**
 * A lower bound that knows the future. Dynamic programming over the rounds finds the cheapest positions for compactions. In each pause it
 * knows whether keeping the cache warm pays off. A compaction loses nothing that is used again. Without a cache it needs no summary:
 * content that is not used again is dropped at no cost. It clears nothing in a warm cache, so clearing can be cheaper in a short
 * conversation. It writes complete summaries, so notes that are only updated can be slightly cheaper.
 */
import type { TokenCounts } from "@strata/core"
import { inputTokens, NO_TOKENS, weighCounts } from "@strata/core/base"
import { pingsThrough, USUAL_REMAINING } from "@strata/core/policy"
import { costOf, findModel } from "@strata/core/tokens"
import type { MeasuredRecording } from "../measured-recording.ts"
import type { Policy } from "../policy.ts"
import type { PolicyAction } from "../replayed-actions.ts"
import { NO_COMPACTION, NO_NAMES, NOT_USED, type PolicyRun, type Purpose, type ReplayedRequest } from "../report.ts"
import { requestCost, unitOf } from "../request-cost.ts"
import { rerun } from "../rerun.ts"
import { SUMMARY_TOKENS } from "../summary-request.ts"
import { USUAL_PRICES } from "../usual-prices.ts"
import { none } from "./none.ts"

const OUTLIVED = 0.9 // of the previous request: a request that reads so much after a pause found the cache alive
const LIFE_MS = { "5m": 5 * 60_000, "1h": 60 * 60_000, "prompt-1h": 5 * 60_000 } as const

export const optimum: Policy = bound({
  name: "optimum",
  about:
    "A bound that knows the future: the cheapest places to compact, with nothing lost. It clears no single results.",
  leaves: SUMMARY_TOKENS,
})

export const bestPlaces: Policy = bound({
  name: "best-places",
  about:
    "Knows the future, and compacts at the cheapest places. What a compaction leaves is as large as Strata's usually is.",
  leaves: USUAL_REMAINING,
})

interface BoundOptions extends Pick<Policy, "name" | "about"> {
  /** Tokens of messages after a compaction. */
  readonly leaves: number
}

function bound({ name, about, leaves }: BoundOptions): Policy {
  return {
    name,
    about,
    async run(recording, options) {
      const runs: PolicyRun[] = []
      for (const lifetime of lifetimesFor(recording)) {
        const everything = await rerun(recording, lifetime ? { ...none, lifetime } : none, options)
        const rounds = roundsOf(recording, { everything, lifetime })
        runs.push(runOf({ rounds, leaves, places: cheapestPlaces(rounds, leaves) }))
        if (everything.invalid === 0) runs.push({ ...everything, usedAgain: NOT_USED, namesKept: NO_NAMES })
      }
      return runs.reduce((min, run) => (costOfRun(run) < costOfRun(min) ? run : min))
    },
  }
}

/** Cost of a run. The plan uses a simplified cache, so where the real one did better, sending everything is the bound. */
function costOfRun({ requests }: PolicyRun): number {
  const unit = unitOf(requests)
  return requests.reduce((sum, request) => sum + requestCost(request, unit), 0)
}

/** The lifetimes to try: the client's own, and five minutes if it chose an hour. */
function lifetimesFor({ client }: MeasuredRecording): readonly ("5m" | undefined)[] {
  const isLong = client.caching === "marked" && client.lifetimes.some((lifetime) => lifetime !== "5m")
  return isLong ? [undefined, "5m"] : [undefined]
}

/** The facts of a recorded request that do not depend on the policy. */
interface OptimumRound {
  readonly turn: number
  readonly at: string
  readonly model: string
  readonly prompt: number
  /** Tokens of messages since the previous request. Negative if thinking was dropped. */
  readonly fresh: number
  readonly output: number
  /** Tokens that are cached in any case, for example a prompt that another conversation cached. */
  readonly kept: number
  /** Number of requests that keep the cache warm up to this one. 0 if the cache lives long enough by itself. */
  readonly keepWarmRequests: number
  /** Whether the server had lost entries before their expiry, which affects every policy. */
  readonly isLost: boolean
  readonly caches: boolean
  readonly write: "cacheWrite5m" | "cacheWrite1h" | "input"
  readonly price: (counts: TokenCounts) => number
  readonly dollars: (counts: TokenCounts) => number | undefined
}

interface BaselineRun {
  /** The run that sends everything. */
  readonly everything: PolicyRun
  readonly lifetime: "5m" | undefined
}

function roundsOf(
  recording: MeasuredRecording,
  { everything, lifetime: chosen }: BaselineRun,
): readonly OptimumRound[] {
  const { client, prompts, pauses, models } = recording
  const requests = everything.requests.filter(({ purpose }) => purpose === "conversation")
  const promptOf = (turn: number) => prompts[turn - 1] ?? 0
  return requests.map((request, i): OptimumRound => {
    const { turn, at, model, context, counts } = request
    const before = requests[i - 1]
    const prompt = promptOf(turn)
    const lifetime = chosen ?? client.lifetimes[turn - 1] ?? "5m"
    const pause = before && pauses === "recorded" ? Date.parse(at) - Date.parse(before.at) : 0
    const isRead = before !== undefined && counts.cacheRead > OUTLIVED * Math.min(before.context, context)
    const isInTime = pause <= LIFE_MS[lifetime]
    const { facts } = findModel(model, models)
    const dollars = (of: TokenCounts) => {
      const cost = costOf(facts, of)
      return cost.known ? cost.dollars : undefined
    }
    return {
      ...{ turn, at, model, prompt },
      fresh: context - prompt - (before ? before.context - promptOf(before.turn) : 0),
      output: counts.output,
      kept: counts.cacheRead,
      keepWarmRequests: isInTime || isRead ? 0 : pingsThrough(pause / 60_000),
      isLost: before !== undefined && isInTime && !isRead,
      caches: client.caching !== "none",
      write: client.caching !== "marked" ? "input" : lifetime === "1h" ? "cacheWrite1h" : "cacheWrite5m",
      price: (of) => dollars(of) ?? weighCounts(of, USUAL_PRICES),
      dollars,
    }
  })
}

interface RoundInput {
  /** Tokens of the messages before the new ones. */
  readonly held: number
  /** Tokens of these that no request has sent yet: the summary of a compaction. */
  readonly unsent: number
}

/** Chooses the cheaper of keeping the cache warm and writing everything again. */
function requestsFor(
  round: OptimumRound,
  { held, unsent }: RoundInput,
): readonly { purpose: Purpose; counts: TokenCounts }[] {
  const { prompt, fresh, output, kept, keepWarmRequests, isLost, write, price, caches } = round
  const all = prompt + Math.max(0, held + fresh)
  const reading = (read: number) => {
    const counts = { ...NO_TOKENS, cacheRead: read, [write]: all - read, output }
    return { purpose: "conversation" as const, counts }
  }
  if (!caches) return [reading(0)]
  const known = Math.min(all, prompt + held - unsent)
  const cold = reading(Math.min(kept, known))
  if (round.turn === 1 || isLost) return [cold]
  const warm = reading(known)
  if (keepWarmRequests === 0) return [warm]
  const ping = { purpose: "keep-warm" as const, counts: { ...NO_TOKENS, cacheRead: known } }
  return price(warm.counts) + keepWarmRequests * price(ping.counts) < price(cold.counts)
    ? [...Array.from({ length: keepWarmRequests }, () => ping), warm]
    : [cold]
}

/** Counts of a summary request before a round, which reads the context of the previous request. */
function summaryFor({ prompt, keepWarmRequests, isLost, caches }: OptimumRound, held: number): readonly TokenCounts[] {
  const isCached = caches && keepWarmRequests === 0 && !isLost
  return isCached ? [{ ...NO_TOKENS, cacheRead: prompt + held, output: SUMMARY_TOKENS }] : []
}

const costOfAll = (round: OptimumRound, requests: readonly { readonly counts: TokenCounts }[]) =>
  requests.reduce((sum, { counts }) => sum + round.price(counts), 0)

interface CompactionSchedule extends Pick<BoundOptions, "leaves"> {
  readonly rounds: readonly OptimumRound[]
  /** The rounds before which it compacts. */
  readonly places: ReadonlySet<number>
}

function cheapestPlaces(rounds: readonly OptimumRound[], leaves: number): ReadonlySet<number> {
  const best: { cost: number; from: number }[] = rounds.map(() => ({ cost: Number.POSITIVE_INFINITY, from: -1 }))
  let end = { cost: Number.POSITIVE_INFINITY, from: -1 }
  for (let start = 0; start < rounds.length; start++) {
    let cost = start === 0 ? 0 : best[start]!.cost
    if (!Number.isFinite(cost)) continue
    let held = start === 0 ? 0 : leaves
    let unsent = held
    for (let at = start; at < rounds.length; at++) {
      const round = rounds[at]!
      cost += costOfAll(round, requestsFor(round, { held, unsent }))
      held = Math.max(0, held + round.fresh)
      unsent = 0
      const next = rounds[at + 1]
      if (!next) {
        if (cost < end.cost) end = { cost, from: start }
        break
      }
      const compacted = cost + summaryFor(next, held).reduce((sum, counts) => sum + next.price(counts), 0)
      if (leaves < held && compacted < best[at + 1]!.cost) best[at + 1] = { cost: compacted, from: start }
    }
  }
  const places = new Set<number>()
  for (let at = end.from; at > 0; at = best[at]!.from) places.add(at)
  return places
}

function runOf({ rounds, places, leaves }: CompactionSchedule): PolicyRun {
  const requests: ReplayedRequest[] = []
  const actions: PolicyAction[] = []
  let held = 0
  rounds.forEach((round, at) => {
    const { turn, at: time, model, dollars } = round
    const charge = (purpose: Purpose, counts: TokenCounts) => {
      const cost = dollars(counts)
      const context = inputTokens(counts)
      const known = cost === undefined ? {} : { dollars: cost }
      requests.push({ turn, purpose, at: time, model, context, counts, ...known })
    }
    let unsent = 0
    if (places.has(at)) {
      for (const counts of summaryFor(round, held)) charge("summary", counts)
      actions.push({ turn, kind: "compacted", results: 0, tokens: held - leaves, why: "it pays later" })
      held = leaves
      unsent = held
    }
    for (const { purpose, counts } of requestsFor(round, { held, unsent })) charge(purpose, counts)
    held = Math.max(0, held + round.fresh)
  })
  return {
    requests,
    actions,
    contexts: [...places].map((at) => rounds[at]!.turn).sort((a, b) => a - b),
    losses: [],
    compactions: [],
    usedAgain: NOT_USED,
    namesKept: NO_NAMES,
    afterCompaction: NO_COMPACTION,
    invalid: 0,
    failures: [],
  }
}
