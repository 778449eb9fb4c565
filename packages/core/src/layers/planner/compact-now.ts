/**
 * Whether a compaction pays now. It pays once sending again what it would remove has cost as much as the compaction does. In a long
 * conversation that is the cheapest rhythm there is; in one that ends right after it, at most twice the least possible is paid.
 *
 * With r, w and o the prices of reading, writing and output, c the context, l what is left of it and p the prompt:
 *
 *     rent = Σ r·(c − l) over the requests since the last boundary       price = o·summary + w·(l − p) + loss
 *
 * Reading the context for the summary takes the place of reading it for the answer. In a cold cache everything is written again anyway,
 * so a compaction costs less by what the smaller context saves at once.
 */
import { grouped } from "../../base/grouped.ts"
import type { PlannerMode } from "../../base/vocabulary.ts"
import type { LayerContext } from "../layer.ts"
import { type Outlook, outlookOf } from "./outlook.ts"
import { priceNow } from "./prices.ts"

export interface CompactionChoice {
  readonly compacts: boolean
  readonly rent: number
  readonly price: number
  /** The rent at which it compacts, and whether that would gain enough. */
  readonly due: number
  readonly isWorthIt: boolean
}

const SUMMARY = 2_500 // tokens that a model writes
const REREAD = 6_000 // tokens that are read again after a compaction, judging by recorded conversations
const MORE_REQUESTS = 2 // for reading them
const LEAST_GAIN = 20_000 // tokens: for less the conversation is not interrupted
const LEAST_RESPONSES = 5 // since the last boundary: where nothing is cached, the rule alone would compact with nearly every request

/** How many times its price the rent must reach. */
const PATIENCE: Readonly<Record<Exclude<PlannerMode, "off">, number>> = { money: 0.75, balanced: 1, fidelity: 4 }

/** The same for a person, after the price. */
const DUE: Readonly<Record<keyof typeof PATIENCE, string>> = {
  money: "; with the planner on money, three quarters of that are enough",
  balanced: "",
  fidelity: "; with the planner on fidelity, it waits for four times that",
}

export function compactsNow(
  { context, left, prompt, rent, responses, isCold, prices }: Outlook,
  mode: Exclude<PlannerMode, "off">,
): CompactionChoice {
  const { read, write, output } = prices
  const loss = REREAD * write + MORE_REQUESTS * read * left
  const whenCold = isCold ? (write - 1) * context : 0
  const price = Math.max(0, output * SUMMARY + write * (left - prompt) + loss - whenCold)
  const due = PATIENCE[mode] * price
  const isWorthIt = context - left >= LEAST_GAIN && responses >= LEAST_RESPONSES
  return { compacts: isWorthIt && rent >= due, rent, price, due, isWorthIt }
}

export interface Soon {
  readonly mode: Exclude<PlannerMode, "off">
  /** Requests until then. */
  readonly turns: number
}

/** Whether a compaction is due within so many requests, so that its summary can be written meanwhile. */
export function compactsSoon(outlook: Outlook, { mode, turns }: Soon): boolean {
  const { rent, due, isWorthIt } = compactsNow(outlook, mode)
  const perTurn = outlook.prices.read * Math.max(0, outlook.context - outlook.left)
  return isWorthIt && due > 0 && rent + Math.max(1, turns) * perTurn >= due
}

/** Why the conversation is compacted now although the window is not full. `undefined`: it is not. */
export function plannedCompaction(context: LayerContext): string | undefined {
  const { planner } = context.flags
  if (planner === "off" || !costsMoney(context)) return undefined
  const outlook = outlookOf(context)
  const { compacts, rent, price } = compactsNow(outlook, planner)
  if (!compacts) return undefined
  const old = grouped(Math.round(outlook.context - outlook.left))
  const because = outlook.isCold
    ? "the cache is gone, so everything is written again in any case"
    : `sending them again has cost ${amountOf(rent, context)} since the last boundary, and a compaction costs ${amountOf(price, context)}${DUE[planner]}`
  return `About ${old} old tokens need not be sent again: ${because}.`
}

/** With a local model, or one whose price is unknown, there is no money to save. */
export const costsMoney = ({ facts: { price } }: LayerContext): boolean => price !== undefined && price.input > 0

/** Tokens of plain input as money, where the price is known. */
export function amountOf(tokens: number, context: LayerContext): string {
  const price = priceNow(context)
  return price && price.input > 0
    ? `$${((tokens * price.input) / 1_000_000).toFixed(2)}`
    : `as much as ${grouped(Math.round(tokens))} tokens of input`
}
