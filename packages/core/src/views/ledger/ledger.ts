/**
 * The ledger: the cost of the conversation in tokens and money, by model and purpose, and the savings of the layers. It counts every
 * response once, including those on abandoned branches, because that money is spent. Savings follow the path.
 */

import { REQUEST_SOURCES, type RequestSource } from "../../base/enums.ts"
import {
  addCounts,
  divideCounts,
  formatDollars,
  inputTokens,
  NO_TOKENS,
  pluralize,
  subtractCounts,
  type TokenCounts,
} from "../../base/text.ts"
import { type Entry, isBoundaryEntry, isDecision, isMessage } from "../../journal/entries.ts"
import { type AssistantMessage, isSynthetic, type Usage, type Uuid, usableUsage } from "../../messages/messages.ts"
import {
  costOf,
  costOfUsage,
  findModel,
  type ModelOverride,
  type ModelPrice,
  priceFor,
  tokenCounts,
} from "../../tokens/models.ts"
import type { Projection } from "../projection.ts"
import { addKnown, followSavings, recordResponse, type Savings, startSavings } from "./savings.ts"
import { type LayerSaving, layerSavings } from "./savings-report.ts"

// Purposes of requests, and their labels.

/** `sidechain`: agents that another program recorded in the same journal. */
export type RequestPurpose = RequestSource | "sidechain"

/** Labels of purposes in reports. */
export const PURPOSE_LABELS: Readonly<Record<RequestPurpose, string>> = {
  main: "conversation",
  notes: "notes",
  compaction: "compaction",
  "by-hand": "compaction by hand",
  memory: "memories",
  dream: "dreams",
  agent: "agents",
  progress: "progress lines",
  "keep-warm": "keeping the cache warm",
  sampling: "requests of MCP servers",
  search: "web searches",
  sidechain: "sub-agents",
}

export interface Ledger {
  readonly lines: Map<string, LedgerLine>
  /** The latest responses. The entries of one response repeat its usage, and the last entry has the complete usage. */
  readonly recent: Map<string, RecentResponse>
  readonly savings: Savings
  /** The cost of each sub-agent, by its id, purpose and model. Also part of `lines`. */
  readonly agents: Map<string, AgentLine>
  /** The purpose of the conversation's own requests. */
  source: RequestSource
  /** The id of the current context: its boundary, or the first message of the conversation. */
  context: Uuid | undefined
  /** The cost of each context by its id, oldest first. A request belongs to the context in which it was sent. */
  readonly contexts: Map<Uuid, ContextLine>
}

/** The cost of the requests between two boundaries. */
export type ContextLine = Omit<LedgerLine, "model" | "purpose">

interface RecentResponse {
  readonly key: string
  readonly counts: TokenCounts
  readonly dollars?: number
  /** The context in which it was sent. */
  readonly context?: Uuid
}

export interface AgentLine extends LedgerLine {
  readonly agent: string
}

export interface LedgerLine {
  readonly model: string
  readonly purpose: RequestPurpose
  requests: number
  counts: TokenCounts
  /** `undefined` if the model's price is unknown. */
  dollars: number | undefined
  /** The estimated part. Absent if nothing is estimated. */
  estimated?: EstimatedCost
}

/** Cost of requests whose responses are incomplete or not recorded, so that it is partly estimated. */
export interface EstimatedCost {
  readonly requests: number
  /** Excludes models with unknown prices. */
  readonly dollars: number
  /** The part that another program's transcript does not record at all: its compactions. Absent if it has none. */
  readonly unrecorded?: { readonly requests: number; readonly dollars: number }
}

const PURPOSES: readonly RequestPurpose[] = [...REQUEST_SOURCES, "sidechain"]

const RECENT_RESPONSES = 64 // the entries of a response are close together

type Overrides = Readonly<Record<string, ModelOverride>>

export function ledger(overrides: Overrides = {}): Projection<Ledger> {
  return {
    name: "ledger",
    scope: "journal",
    followsSent: true,
    start: () => ({
      ...{ lines: new Map(), recent: new Map(), savings: startSavings(), agents: new Map() },
      ...{ source: "main", context: undefined, contexts: new Map() },
    }),
    apply(state, entry, onPath = true) {
      if (onPath) followContext(state, entry)
      const bill = findBill(entry, state.source)
      if (bill) addBill(state, bill, overrides)
      if (!onPath) return state
      if (bill?.entry && bill.purpose !== "sidechain") {
        recordResponse(state.savings, { entry: bill.entry, usage: bill.usage, price: priceOf(bill, overrides) })
      } else followSavings(state.savings, entry)
      return state
    },
  }
}

function followContext(state: Ledger, entry: Entry): void {
  if (isDecision(entry) && entry.subtype === "session") state.source = entry.source ?? "main"
  if (!isMessage(entry) || entry.isSidechain) return
  if (isBoundaryEntry(entry) || state.context === undefined) state.context = entry.uuid
}

export interface LedgerSummary {
  readonly requests: number
  readonly counts: TokenCounts
  /** Share of the input that was read from the cache. */
  readonly hitRatio: number
  readonly dollars: number
  /** Models without a known price. They are not included in `dollars`. */
  readonly unpriced: readonly string[]
  /** The estimated part. Absent if nothing is estimated. */
  readonly estimated?: EstimatedCost
  /** The cost of each purpose over all models. Only purposes with requests. */
  readonly byPurpose: readonly PurposeTotal[]
  /** The savings of each layer. Only layers that acted. */
  readonly savings: readonly LayerSaving[]
}

export interface PurposeTotal {
  readonly purpose: RequestPurpose
  readonly requests: number
  readonly counts: TokenCounts
  /** `undefined` if a model's price is unknown. */
  readonly dollars: number | undefined
  readonly estimated?: EstimatedCost
}

export function summarise({ lines, savings }: Ledger): LedgerSummary {
  const all = [...lines.values()]
  const counts = all.map((line) => line.counts).reduce(addCounts, NO_TOKENS)
  const input = inputTokens(counts)
  const byPurpose = PURPOSES.flatMap((purpose) => {
    const total = totalOf(all, purpose)
    return total ? [{ purpose, ...total }] : []
  })
  return {
    requests: all.reduce((sum, line) => sum + line.requests, 0),
    counts,
    hitRatio: input === 0 ? 0 : counts.cacheRead / input,
    dollars: all.reduce((sum, line) => sum + (line.dollars ?? 0), 0),
    ...estimatedPart(all),
    unpriced: [...new Set(all.filter((line) => line.dollars === undefined).map((line) => line.model))],
    byPurpose,
    savings: layerSavings(savings, {
      compaction: ownCompactions(all),
      notes: totalOf(all, "notes"),
    }),
  }
}

/** The estimated part of these lines. */
export function estimatedPart(lines: readonly Pick<LedgerLine, "estimated">[]): { readonly estimated?: EstimatedCost } {
  const parts = lines.flatMap(({ estimated }) => estimated ?? [])
  return parts.length === 0 ? {} : { estimated: parts.reduce(addEstimated) }
}

const addEstimated = (a: EstimatedCost, b: EstimatedCost): EstimatedCost => {
  const parts = [a.unrecorded, b.unrecorded].flatMap((part) => part ?? [])
  return { ...addParts(a, b), ...(parts.length === 0 ? {} : { unrecorded: parts.reduce(addParts) }) }
}

const addParts = (a: Omit<EstimatedCost, "unrecorded">, b: Omit<EstimatedCost, "unrecorded">) => ({
  requests: a.requests + b.requests,
  dollars: a.dollars + b.dollars,
})

/** The known cost of all requests. */
export const totalDollars = ({ lines }: Pick<Ledger, "lines">): number =>
  lines.values().reduce((sum, { dollars = 0 }) => sum + dollars, 0)

function totalOf(
  lines: readonly LedgerLine[],
  ...purposes: readonly RequestPurpose[]
): Omit<PurposeTotal, "purpose"> | undefined {
  const own = lines.filter(({ purpose }) => purposes.includes(purpose))
  if (own.length === 0) return undefined
  return {
    requests: own.reduce((sum, line) => sum + line.requests, 0),
    counts: own.map((line) => line.counts).reduce(addCounts),
    dollars: own.map((line) => line.dollars).reduce(addKnown),
    ...estimatedPart(own),
  }
}

/** The compactions of this conversation, without those that another program requested. */
function ownCompactions(lines: readonly LedgerLine[]): Omit<PurposeTotal, "purpose"> | undefined {
  const total = totalOf(lines, "compaction", "by-hand")
  const others = total?.estimated?.unrecorded
  if (!total || !others) return total
  const requests = total.requests - others.requests
  return requests === 0 ? undefined : { ...total, requests, dollars: addKnown(total.dollars, -others.dollars) }
}

/** A response that was billed. */
export interface Bill {
  readonly id: string
  readonly model: string
  readonly purpose: RequestPurpose
  readonly usage: Usage
  /** The sub-agent that sent the request. */
  readonly agent?: string
  /** Number of responses that the usage sums up. */
  readonly requests?: number
  readonly isEstimated?: boolean
  readonly isUnrecorded?: boolean
  /** Absent if the response itself is not in the journal. */
  readonly entry?: AssistantMessage
}

/** What was billed with this entry. The entries of one response repeat its id, and the last has the complete usage. */
export function findBill(entry: Entry, source: RequestSource): Bill | undefined {
  if (isDecision(entry)) {
    if (entry.subtype !== "spent") return undefined
    const { responseId, model, purpose, agent, requests, estimated: isEstimated = false } = entry
    const { unrecorded: isUnrecorded = false } = entry
    const usage = usableUsage(entry.usage)
    const more = { ...(agent === undefined ? {} : { agent }), ...(requests === undefined ? {} : { requests }) }
    return usage && { id: responseId, model, purpose, usage, isEstimated, isUnrecorded, ...more }
  }
  if (!isMessage(entry) || entry.type !== "assistant") return undefined
  const { id = entry.uuid, model = "unknown" } = entry.message
  const usage = usableUsage(entry.message.usage)
  if (!usage || isSynthetic(entry)) return undefined
  return { id, model, purpose: entry.isSidechain ? "sidechain" : source, usage, entry }
}

function addBill({ lines, recent, agents, context, contexts }: Ledger, bill: Bill, overrides: Overrides): void {
  const { id, model, purpose, usage, agent, requests = 1, isEstimated } = bill
  const before = recent.get(id)
  const key = before?.key ?? `${purpose} ${model}`
  const counts = tokenCounts(usage)
  const dollars = dollarsFor(bill, overrides)
  const more = {
    requests: before ? 0 : requests,
    counts: before ? subtractCounts(counts, before.counts) : counts,
    dollars: dollars === undefined ? undefined : dollars - (before?.dollars ?? 0),
    ...(isEstimated && !before ? { estimated: estimatedShare(bill, dollars ?? 0) } : {}),
  }
  const empty = { model, purpose, requests: 0, counts: NO_TOKENS, dollars: 0 }
  const line: LedgerLine = lines.get(key) ?? { ...empty }
  lines.set(key, line)
  add(line, more)
  if (agent !== undefined) {
    const agentKey = `${agent} ${purpose} ${model}`
    const own = agents.get(agentKey) ?? { ...empty, agent }
    agents.set(agentKey, own)
    add(own, more)
  }
  const sentIn = before ? before.context : context
  if (sentIn !== undefined) {
    const own = contexts.get(sentIn) ?? { requests: 0, counts: NO_TOKENS, dollars: 0 }
    contexts.set(sentIn, own)
    add(own, more)
  }
  recent.set(id, {
    ...{ key, counts },
    ...(dollars === undefined ? {} : { dollars }),
    ...(sentIn === undefined ? {} : { context: sentIn }),
  })
  if (recent.size > RECENT_RESPONSES) recent.delete(recent.keys().next().value!)
}

function estimatedShare({ requests = 1, isUnrecorded }: Bill, dollars: number): EstimatedCost {
  return { requests, dollars, ...(isUnrecorded ? { unrecorded: { requests, dollars } } : {}) }
}

function add(line: ContextLine, more: Pick<LedgerLine, "requests" | "counts" | "dollars" | "estimated">): void {
  line.requests += more.requests
  line.counts = addCounts(line.counts, more.counts)
  line.dollars = addKnown(line.dollars, more.dollars)
  if (more.estimated) line.estimated = line.estimated ? addEstimated(line.estimated, more.estimated) : more.estimated
}

/** The cost of a bill. A total of several responses is priced by their mean size. */
export function dollarsFor({ usage, model, requests = 1 }: Bill, overrides: Overrides = {}): number | undefined {
  const { facts } = findModel(model, overrides)
  if (requests > 1) {
    const mean = costOf(facts, divideCounts(tokenCounts(usage), requests))
    return mean.known ? mean.dollars * requests : undefined
  }
  const cost = costOfUsage(facts, usage)
  return cost.known ? cost.dollars : undefined
}

function priceOf({ model, usage }: Bill, overrides: Overrides): ModelPrice | undefined {
  return priceFor(findModel(model, overrides).facts, tokenCounts({ ...usage, iterations: null }))
}

// Describes for the user which part of a cost is estimated, and why.

export function describeEstimates(estimated: EstimatedCost | undefined): readonly string[] {
  if (!estimated) return []
  const { unrecorded = { requests: 0, dollars: 0 } } = estimated
  const cut = estimated.requests - unrecorded.requests
  return [
    ...(cut > 0
      ? [
          `${formatDollars(estimated.dollars - unrecorded.dollars)} of it is estimated: ${pluralize(cut, "answer")} did not arrive whole (stopped, cut or killed).`,
        ]
      : []),
    ...unrecordedSentence(unrecorded),
  ]
}

function unrecordedSentence({ requests, dollars: paid }: NonNullable<EstimatedCost["unrecorded"]>): readonly string[] {
  if (requests === 0) return []
  const those = `${pluralize(requests, "compaction")} that the transcript does not record`
  return [
    paid > 0 ? `About ${formatDollars(paid)} of it is estimated, for ${those}.` : `The price of ${those} is unknown.`,
  ]
}
