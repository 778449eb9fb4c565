/** The ledger as a plain value: the cost of the conversation, by purpose, and the savings of the layers. */

import { addCounts, NO_TOKENS, subtractCounts, type TokenCounts } from "../../base/text.ts"
import type { AgentEnding, AgentKind } from "../../journal/entries.ts"
import {
  type EstimatedCost,
  estimatedPart,
  type Ledger,
  type LedgerLine,
  type RequestPurpose,
  summarise,
} from "../ledger/ledger.ts"
import { addKnown, type SavingLayer } from "../ledger/savings.ts"
import { type LayerSaving, totalSaving } from "../ledger/savings-report.ts"
import type { Agents } from "../record/open-work.ts"

/** Tokens by how they are billed. No token is counted twice. */
export interface TokenReport {
  /** Input billed in full: neither read from the cache nor written to it. */
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
}

/** The cost of requests. */
export interface CostReport {
  readonly requests: number
  readonly tokens: TokenReport
  /** Absent if the price of a model is unknown. */
  readonly dollars?: number
  /**
   * The estimated part: responses that were stopped, cut or killed, and requests that a transcript does not record. Absent if there is
   * none.
   */
  readonly estimated?: EstimatedCost
}

/** The cost of the conversation, and the savings of the layers. */
export interface LedgerReport {
  /** The known cost of all requests. Models in `unpriced` are not included. */
  readonly dollars: number
  /**
   * The estimated part: responses that were stopped, cut or killed, and requests that a transcript does not record. Absent if there is
   * none.
   */
  readonly estimated?: EstimatedCost
  /** Models without a known price. */
  readonly unpriced: readonly string[]
  readonly requests: number
  readonly tokens: TokenReport
  /** Share of all input that was read from the cache, from 0 to 1. */
  readonly cacheHitRatio: number
  readonly byModel: readonly (CostReport & { readonly model: string })[]
  /** `main` is the conversation itself. The other purposes are requests of layers and agents. */
  readonly byPurpose: readonly (CostReport & { readonly purpose: RequestPurpose })[]
  /** The same requests by model and purpose. */
  readonly lines: readonly (CostReport & { readonly model: string; readonly purpose: RequestPurpose })[]
  /** Everything except sub-agents: the conversation and its background work. */
  readonly own: CostReport
  /** The cost of every sub-agent, in the order in which they were started. Also part of the purpose `agent`. */
  readonly agents: readonly AgentCost[]
  readonly saved: SavingsReport
}

/** `requests` are its turns. An agent without requests has costs of 0. */
export interface AgentCost extends CostReport {
  readonly id: string
  readonly name: string
  readonly kind?: AgentKind
  /** As in the journal, where an agent whose process died is still `running`. */
  readonly status?: "running" | AgentEnding
  readonly description?: string
  /** The definition from which it was created. */
  readonly definition?: string
}

/** The savings of the layers. */
export interface SavingsReport {
  /** Total of all layers. Below 0 they have cost more than they saved so far. Absent if a price is unknown. */
  readonly dollars?: number
  /** Tokens that requests did not contain, summed over the requests. */
  readonly tokensNotSent: number
  /** Only layers that acted, in the order in which they act. */
  readonly layers: readonly LayerSavingReport[]
}

/** The savings of one layer, compared with a conversation in which only this layer had not acted. */
export interface LayerSavingReport {
  readonly layer: SavingLayer | "notes"
  /** Number of times the layer acted. */
  readonly actions: number
  /** Tokens it removed from the context, each counted once. */
  readonly tokensRemoved: number
  /** Tokens it currently keeps out of the context. */
  readonly tokensKeptOut: number
  /** Tokens that requests did not contain because of it, summed over the requests. */
  readonly tokensNotSent: number
  /** What those tokens would have cost, in dollars. Absent if a price is unknown. */
  readonly worth?: number
  /** What the layer itself cost, in dollars: its own requests, and cache writes it caused. Absent if a price is unknown. */
  readonly cost?: number
  /** `worth` minus `cost`. */
  readonly dollars?: number
  /** Clearings that made a compaction unnecessary. */
  readonly compactionsAvoided: number
  /** Actions whose size the journal does not record, which the numbers exclude. */
  readonly unmeasured: number
  /** The alternative that the numbers are compared with, in one or two sentences. */
  readonly comparedWith: string
}

export interface LedgerViews {
  readonly ledger: Ledger
  readonly agents: Agents
}

export function ledgerReport({ ledger, agents }: LedgerViews): LedgerReport {
  const { dollars, estimated, unpriced, requests, counts, hitRatio, byPurpose, savings } = summarise(ledger)
  const lines = [...ledger.lines.values()]
  const models = Map.groupBy(lines, ({ model }) => model)
  const { dollars: saved, unsent } = totalSaving(savings)
  return {
    dollars,
    ...(estimated ? { estimated } : {}),
    unpriced,
    requests,
    tokens: tokenReport(counts),
    cacheHitRatio: hitRatio,
    byModel: [...models].map(([model, own]) => ({ model, ...costReport(own) })),
    byPurpose: byPurpose.map((total) => ({ purpose: total.purpose, ...costReport([total]) })),
    lines: lines.map((line) => ({ model: line.model, purpose: line.purpose, ...costReport([line]) })),
    own: ownCost(ledger),
    agents: agentCosts({ ledger, agents }),
    saved: { ...known("dollars", saved), tokensNotSent: unsent, layers: savings.map(layerSavingReport) },
  }
}

function agentCosts({ ledger, agents }: LedgerViews): readonly AgentCost[] {
  const lines = Map.groupBy(ledger.agents.values(), ({ agent }) => agent)
  const ids = new Set([...agents.roster.keys(), ...lines.keys()])
  return [...ids].map((id) => {
    const record = agents.roster.get(id)
    const about = record && {
      ...{ kind: record.kind, status: record.status, description: record.description },
      ...(record.definition === undefined ? {} : { definition: record.definition }),
    }
    return { id, name: record?.name ?? id, ...about, ...costReport(lines.get(id) ?? [NOTHING_SPENT]) }
  })
}

/** The cost of all lines, minus that of the agents. */
function ownCost({ lines, agents }: Ledger): CostReport {
  const spent = Map.groupBy(agents.values(), ({ purpose, model }) => `${purpose} ${model}`)
  const left = [...lines].map(([key, line]) => {
    const theirs = spent.get(key) ?? []
    return {
      requests: theirs.reduce((rest, { requests }) => rest - requests, line.requests),
      counts: theirs.map(({ counts }) => counts).reduce(subtractCounts, line.counts),
      dollars: theirs.map(({ dollars }) => dollars).reduce(subtractKnown, line.dollars),
    }
  })
  const used = left.filter(({ requests }) => requests > 0)
  return costReport(used.length === 0 ? [NOTHING_SPENT] : used)
}

const subtractKnown = (from: number | undefined, amount: number | undefined): number | undefined =>
  from === undefined || amount === undefined ? undefined : from - amount

const NOTHING_SPENT = { requests: 0, counts: NO_TOKENS, dollars: 0 }

export function tokenReport({ input, output, cacheRead, cacheWrite5m, cacheWrite1h }: TokenCounts): TokenReport {
  return { input, output, cacheRead, cacheWrite: cacheWrite5m + cacheWrite1h }
}

function costReport(lines: readonly Pick<LedgerLine, "requests" | "counts" | "dollars" | "estimated">[]): CostReport {
  return {
    requests: lines.reduce((sum, { requests }) => sum + requests, 0),
    tokens: tokenReport(lines.map(({ counts }) => counts).reduce(addCounts)),
    ...known("dollars", lines.map(({ dollars }) => dollars).reduce(addKnown)),
    ...estimatedPart(lines),
  }
}

function layerSavingReport(saving: LayerSaving): LayerSavingReport {
  return {
    layer: saving.layer,
    actions: saving.decisions,
    tokensRemoved: saving.removed,
    tokensKeptOut: saving.standing,
    tokensNotSent: saving.unsent,
    ...known("worth", saving.gained),
    ...known("cost", saving.paid),
    ...known("dollars", saving.dollars),
    compactionsAvoided: saving.spared,
    unmeasured: saving.unmeasured,
    comparedWith: saving.counterfactual,
  }
}

/** Omits unknown values, so that the report survives JSON unchanged. */
function known<K extends string>(key: K, value: number | undefined): { readonly [name in K]?: number } {
  return (value === undefined ? {} : { [key]: value }) as { readonly [name in K]?: number }
}
