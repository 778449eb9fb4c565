/**
 * The ledger: what the conversation cost, in tokens and money, by model and purpose. It counts every response once, also those of
 * branches that were left: the money is spent.
 */
import { addCounts, inputTokens, NO_TOKENS, subtractCounts, type TokenCounts } from "../base/token-counts.ts"
import type { AssistantMessage } from "../conversation/messages.ts"
import { type Entry, isMessage } from "../journal/entries.ts"
import { findModel, type ModelOverride } from "../tokens/models.ts"
import { costOf, tokenCounts } from "../tokens/price.ts"
import type { Projection } from "./projection.ts"

export interface Ledger {
  readonly lines: Map<string, LedgerLine>
  /** Responses seen last: the pieces of one repeat its usage, and the last piece has the whole of it. */
  readonly recent: Map<string, { readonly key: string; readonly counts: TokenCounts }>
}

export interface LedgerLine {
  readonly model: string
  readonly purpose: Purpose
  requests: number
  counts: TokenCounts
  /** In dollars; `undefined` where the model's price is unknown. */
  dollars: number | undefined
}

export type Purpose = "main" | "sidechain"

const RECENT_RESPONSES = 64 // pieces of a response stand close together

export function ledger(overrides: Readonly<Record<string, ModelOverride>> = {}): Projection<Ledger> {
  return {
    name: "ledger",
    scope: "journal",
    start: () => ({ lines: new Map(), recent: new Map() }),
    apply(state, entry) {
      if (isBilled(entry)) enter(state, entry, overrides)
      return state
    },
  }
}

export interface LedgerSummary {
  readonly requests: number
  readonly counts: TokenCounts
  /** Share of the input that was read from the cache. */
  readonly hitRatio: number
  readonly dollars: number
  /** Models that were used but have no known price: their part is missing from `dollars`. */
  readonly unpriced: readonly string[]
}

export function summarise({ lines }: Ledger): LedgerSummary {
  const all = [...lines.values()]
  const counts = all.map((line) => line.counts).reduce(addCounts, NO_TOKENS)
  const input = inputTokens(counts)
  return {
    requests: all.reduce((sum, line) => sum + line.requests, 0),
    counts,
    hitRatio: input === 0 ? 0 : counts.cacheRead / input,
    dollars: all.reduce((sum, line) => sum + (line.dollars ?? 0), 0),
    unpriced: [...new Set(all.filter((line) => line.dollars === undefined).map((line) => line.model))],
  }
}

type Billed = AssistantMessage & {
  readonly message: { readonly usage: NonNullable<AssistantMessage["message"]["usage"]> }
}

function isBilled(entry: Entry): entry is Billed {
  return (
    isMessage(entry) &&
    entry.type === "assistant" &&
    entry.message.usage !== undefined &&
    entry.message.model !== "<synthetic>"
  )
}

function enter(state: Ledger, entry: Billed, overrides: Readonly<Record<string, ModelOverride>>): void {
  const { id = entry.uuid, model = "unknown", usage } = entry.message
  const purpose: Purpose = entry.isSidechain ? "sidechain" : "main"
  const key = `${purpose} ${model}`
  const counts = tokenCounts(usage)
  const before = state.recent.get(id)
  const line = state.lines.get(key) ?? { model, purpose, requests: 0, counts: NO_TOKENS, dollars: 0 }
  const { facts } = findModel(model, overrides)
  const dollars = (of: TokenCounts) => {
    const cost = costOf(facts, of)
    return cost.known ? cost.dollars : undefined
  }
  const added = dollars(counts)
  line.requests += before ? 0 : 1
  line.counts = addCounts(line.counts, before ? subtractCounts(counts, before.counts) : counts)
  line.dollars =
    line.dollars === undefined || added === undefined
      ? undefined
      : line.dollars + added - (before ? (dollars(before.counts) ?? 0) : 0)
  state.lines.set(key, line)
  state.recent.set(id, { key, counts })
  if (state.recent.size > RECENT_RESPONSES) state.recent.delete(state.recent.keys().next().value!)
}
