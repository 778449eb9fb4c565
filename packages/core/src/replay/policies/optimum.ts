/**
 * A bound that no policy reaches: it knows the future. By dynamic programming over the rounds it finds the cheapest places to compact. In
 * each pause it knows whether keeping the cache warm pays. A compaction leaves the person's words and a summary, and forgets nothing that
 * is used again.
 */
import { inputTokens, NO_TOKENS, type TokenCounts, weighCounts } from "../../base/token-counts.ts"
import { PING_EVERY_MS } from "../../layers/planner/keep-warm.ts"
import { isToolResult, toBlocks } from "../../messages/blocks.ts"
import { isHuman } from "../../messages/messages.ts"
import { findModel } from "../../tokens/models.ts"
import { costOf } from "../../tokens/price.ts"
import type { MeasuredRecording } from "../measured-recording.ts"
import type { Policy } from "../policy.ts"
import type { PolicyAction } from "../replayed-actions.ts"
import { NO_COMPACTION, NOT_USED, type PolicyRun, type Purpose, type ReplayedRequest } from "../report.ts"
import { requestCost, unitOf } from "../request-cost.ts"
import { USUAL_PRICES } from "../usual-prices.ts"
import { none } from "./none.ts"
import { SUMMARY_TOKENS } from "./summarising.ts"

const MOST_WORDS = 20_000 // tokens of the person's messages that stay
const LIFE_MS = { "5m": 5 * 60_000, "1h": 60 * 60_000, "prompt-1h": 5 * 60_000 } as const

export const optimum: Policy = {
  name: "optimum",
  about: "A bound that knows the future: the cheapest places to compact, with nothing lost. No policy can reach it.",
  async run(recording, options) {
    const everything = await none.run(recording, options)
    const rounds = roundsOf(recording, everything)
    const planned = runOf(rounds, cheapest(rounds))
    const isWorse = everything.invalid === 0 && costOfRun(everything) < costOfRun(planned)
    return isWorse ? { ...everything, usedAgain: NOT_USED } : planned
  },
}

/** The plan has a simple cache. Where the server's was kinder, sending everything is the bound. */
function costOfRun({ requests }: PolicyRun): number {
  const unit = unitOf(requests)
  return requests.reduce((sum, request) => sum + requestCost(request, unit), 0)
}

/** What a request is about. It does not depend on what is done before it. */
interface Round {
  readonly turn: number
  readonly at: string
  readonly model: string
  readonly prompt: number
  /** Tokens that are new since the request before. */
  readonly fresh: number
  readonly output: number
  /** Tokens that a compaction before this request leaves, besides the prompt. */
  readonly left: number
  /** How many requests keep the cache warm up to this one. 0: the cache lives long enough by itself. */
  readonly pings: number
  readonly caches: boolean
  readonly write: "cacheWrite5m" | "cacheWrite1h" | "input"
  readonly price: (counts: TokenCounts) => number
  readonly dollars: (counts: TokenCounts) => number | undefined
}

function roundsOf(recording: MeasuredRecording, everything: PolicyRun): readonly Round[] {
  const { client, prompts, pauses, models } = recording
  const requests = everything.requests.filter(({ purpose }) => purpose === "conversation")
  const words = wordsBefore(recording)
  return requests.map((request, i): Round => {
    const { turn, at, model, context, counts } = request
    const before = requests[i - 1]
    const prompt = prompts[turn - 1] ?? 0
    const lifetime = client.lifetimes[turn - 1] ?? "5m"
    const pause = before && pauses === "recorded" ? Date.parse(at) - Date.parse(before.at) : 0
    const { facts } = findModel(model, models)
    const dollars = (of: TokenCounts) => {
      const cost = costOf(facts, of)
      return cost.known ? cost.dollars : undefined
    }
    return {
      ...{ turn, at, model, prompt },
      fresh: before ? Math.max(0, context - before.context) : Math.max(0, context - prompt),
      output: counts.output,
      left: SUMMARY_TOKENS + Math.min(MOST_WORDS, words[turn - 1] ?? 0),
      pings: pause <= LIFE_MS[lifetime] ? 0 : Math.ceil(pause / PING_EVERY_MS) - 1,
      caches: client.caching !== "none",
      write: client.caching !== "marked" ? "input" : lifetime === "1h" ? "cacheWrite1h" : "cacheWrite5m",
      price: (of) => dollars(of) ?? weighCounts(of, USUAL_PRICES),
      dollars,
    }
  })
}

/** Tokens of the person's messages before each request. */
function wordsBefore({ steps, sizes }: MeasuredRecording): readonly number[] {
  const words: number[] = []
  let sum = 0
  for (const step of steps) {
    if (step.kind === "request") words[step.request.number] = sum
    else if (step.kind === "entry" && step.entry.type === "user" && isHuman(step.entry))
      for (const block of toBlocks(step.entry.message.content)) if (!isToolResult(block)) sum += sizes.of(block)
  }
  return words
}

interface Sending {
  /** Tokens of the messages before what is new. */
  readonly held: number
  /** Tokens of them that no request has sent yet: what a compaction wrote. */
  readonly unsent: number
}

/** The cheaper of keeping the cache warm and writing everything again. */
function requestsFor(round: Round, { held, unsent }: Sending): readonly { purpose: Purpose; counts: TokenCounts }[] {
  const { prompt, fresh, output, pings, write, price, caches } = round
  const all = prompt + held + fresh
  const counted = (read: number) => ({ ...NO_TOKENS, cacheRead: read, [write]: all - read, output })
  if (!caches) return [{ purpose: "conversation", counts: counted(0) }]
  const known = round.turn === 1 ? 0 : prompt + held - unsent
  const warm = { purpose: "conversation" as const, counts: counted(known) }
  if (pings === 0) return [warm]
  const ping = { purpose: "keep-warm" as const, counts: { ...NO_TOKENS, cacheRead: known } }
  const cold = { purpose: "conversation" as const, counts: counted(0) }
  return price(warm.counts) + pings * price(ping.counts) < price(cold.counts)
    ? [...Array.from({ length: pings }, () => ping), warm]
    : [cold]
}

/** A summary before a round: it reads what the request before had, or is sent all of it where the cache is gone. */
function summaryFor({ prompt, pings, caches }: Round, held: number): TokenCounts {
  const read = caches && pings === 0
  return { ...NO_TOKENS, [read ? "cacheRead" : "input"]: prompt + held, output: SUMMARY_TOKENS }
}

const costOfAll = (round: Round, requests: readonly { readonly counts: TokenCounts }[]) =>
  requests.reduce((sum, { counts }) => sum + round.price(counts), 0)

/** The rounds before which it compacts. */
function cheapest(rounds: readonly Round[]): ReadonlySet<number> {
  const best: { cost: number; from: number }[] = rounds.map(() => ({ cost: Number.POSITIVE_INFINITY, from: -1 }))
  let end = { cost: Number.POSITIVE_INFINITY, from: -1 }
  for (let start = 0; start < rounds.length; start++) {
    let cost = start === 0 ? 0 : best[start]!.cost
    if (!Number.isFinite(cost)) continue
    let held = start === 0 ? 0 : rounds[start]!.left
    let unsent = held
    for (let at = start; at < rounds.length; at++) {
      const round = rounds[at]!
      cost += costOfAll(round, requestsFor(round, { held, unsent }))
      held += round.fresh
      unsent = 0
      const next = rounds[at + 1]
      if (!next) {
        if (cost < end.cost) end = { cost, from: start }
        break
      }
      const compacted = cost + next.price(summaryFor(next, held))
      if (next.left < held && compacted < best[at + 1]!.cost) best[at + 1] = { cost: compacted, from: start }
    }
  }
  const places = new Set<number>()
  for (let at = end.from; at > 0; at = best[at]!.from) places.add(at)
  return places
}

function runOf(rounds: readonly Round[], places: ReadonlySet<number>): PolicyRun {
  const requests: ReplayedRequest[] = []
  const actions: PolicyAction[] = []
  let held = 0
  rounds.forEach((round, at) => {
    const { turn, at: time, model, dollars } = round
    const charge = (purpose: Purpose, counts: TokenCounts) => {
      const cost = dollars(counts)
      const context = inputTokens(counts)
      requests.push({
        turn,
        purpose,
        at: time,
        model,
        context,
        counts,
        ...(cost === undefined ? {} : { dollars: cost }),
      })
    }
    let unsent = 0
    if (places.has(at)) {
      charge("summary", summaryFor(round, held))
      actions.push({ turn, kind: "compacted", results: 0, tokens: held - round.left, why: "it pays later" })
      held = round.left
      unsent = held
    }
    for (const { purpose, counts } of requestsFor(round, { held, unsent })) charge(purpose, counts)
    held += round.fresh
  })
  return {
    requests,
    actions,
    contexts: [...places].map((at) => rounds[at]!.turn).sort((a, b) => a - b),
    losses: [],
    usedAgain: NOT_USED,
    afterCompaction: NO_COMPACTION,
    invalid: 0,
    failures: [],
  }
}
