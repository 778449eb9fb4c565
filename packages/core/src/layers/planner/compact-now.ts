/**
 * Whether a compaction that only saves money pays, and where it may happen. It pays once sending again what it would remove has cost as
 * much as the compaction does. In a long conversation that is the cheapest rhythm there is; in one that ends right after it, at most twice
 * the least possible is paid.
 *
 * With r, w and o the prices of reading, writing and output, c the context, l what is left of it and p the prompt:
 *
 *     rent = Σ r·(c − l) over the requests since the last boundary       price = r·c + o·summary + w·(l − p) + loss
 *
 * `economy` compacts wherever that is so. `balanced` compacts only where it interrupts nothing: where a pause has cost the cache, or where
 * a new request begins. It needs a size that a person would accept.
 */
import { grouped } from "../../base/grouped.ts"
import { isRequest } from "../../messages/messages.ts"
import type { Flags } from "../../settings/flags.ts"
import { cacheState } from "../2-microcompact/cache-state.ts"
import { waitsAfterUndo } from "../4-compaction/situation.ts"
import type { LayerContext, Tail } from "../layer.ts"
import { type Outlook, outlookOf } from "./outlook.ts"
import { priceNow } from "./prices.ts"

export interface CompactionChoice {
  readonly compacts: boolean
  readonly rent: number
  readonly price: number
  /** Whether it would gain enough. */
  readonly isWorthIt: boolean
}

const SUMMARY = 4_000 // tokens that a model writes: the budget of a summary
const REREAD = 6_000 // tokens that are read again after a compaction, judging by recorded conversations
const MORE_REQUESTS = 2 // for reading them
export const MIN_GAIN = 20_000 // tokens: for less the conversation is not interrupted
const MIN_RESPONSES = 5 // since the last boundary: where nothing is cached, the rule alone would compact with nearly every request

export function compactsNow(outlook: Outlook): CompactionChoice {
  const { rent, responses, prices } = outlook
  const price = Math.max(0, prices.output * SUMMARY + priceOfChange(outlook))
  const isWorthIt = gainOf(outlook) >= MIN_GAIN && responses >= MIN_RESPONSES
  return { compacts: isWorthIt && rent >= price, rent, price, isWorthIt }
}

/** Of a compaction without its summary. In a warm cache what is kept after the summary is written again. */
function priceOfChange({ context, left, tail, prompt, isCold, prices: { read, write } }: Outlook): number {
  const loss = REREAD * write + MORE_REQUESTS * read * left
  // reading the context for the summary takes the place of reading it for the answer; in a cold cache the smaller context saves at once
  const [whenCold, written] = isCold ? [(write - 1) * context, left] : [0, left + tail.kept]
  return write * (written - prompt) + loss - whenCold
}

/** Tokens that its summary would replace. What is only shortened does not count: that alone is not worth a compaction. */
export const gainOf = ({ context, left, tail }: Outlook): number => context - left - tail.tokens

/** What it saves in so many turns where its summary is there already. */
export const worthOfCompaction = (outlook: Outlook, turns: number): number =>
  turns * outlook.prices.read * (outlook.context - leftBy(outlook)) - priceOfChange(outlook)

/** Tokens after it. */
export const leftBy = ({ left, tail }: Outlook): number => left + tail.kept

/** Whether a compaction is due within so many requests, so that its summary can be written meanwhile. */
export function compactsSoon(outlook: Outlook, turns: number): boolean {
  const { rent, price, isWorthIt } = compactsNow(outlook)
  const perTurn = outlook.prices.read * Math.max(0, outlook.context - outlook.left)
  return isWorthIt && price > 0 && rent + Math.max(1, turns) * perTurn >= price
}

/** Whether a compaction may be foreseen: after a failure or an undo it is left to the threshold. */
export function mayPlan(context: LayerContext): boolean {
  return context.compaction.auto && context.views.compactions.failures === 0 && !waitsAfterUndo(context)
}

/** When a summary may be begun: while the agent works, or when it has answered and the next request is the person's. */
export type Moment = "working" | "answered"

/** Whether a summary should be written now for a compaction that saves money. `turns`: how many requests it takes to write one. */
export function preparesNow(context: LayerContext, { moment, turns }: Preparing): boolean {
  const { planner } = context.flags
  if (planner === "off" || !costsMoney(context)) return false
  const outlook = outlookOf(context)
  if (planner === "economy") return compactsSoon(outlook, moment === "working" ? turns : Math.max(turns, PAUSE_TURNS))
  if (moment === "working" || outlook.isCold || outlook.context < earlySize(context)) return false
  return compactsNow(outlook).compacts && mayRisk(context, outlook)
}

const EARLY_SHARE = 0.42 // of the threshold, in a window that is not long: 70,000 tokens of 200,000

/** The size from which `balanced` compacts to save money: at most one that people set by hand for long windows. */
export const earlySize = ({
  flags,
  thresholds,
}: Pick<LayerContext, "thresholds"> & { readonly flags: Flags }): number =>
  Math.min(flags.figures["compact-early"], EARLY_SHARE * thresholds.autoCompact)

const STILL_TO_COME = 0.5 // of the requests so far: what a conversation that is as long as this one still has, at least half the time

/**
 * Whether a summary that no one may come back to is worth its risk: if the conversation goes on for half as long as it is now, it pays.
 * Most conversations end soon, so near the start that is never so. Where one was used already, the conversation is a long one.
 */
export function mayRisk(around: LayerContext, outlook: Outlook): boolean {
  if (around.views.compactions.count > 0) return true
  const { context, left, responses, prices } = outlook
  const { price } = compactsNow({ ...outlook, isCold: false })
  return STILL_TO_COME * responses * prices.read * (context - left) >= price + prices.read * context
}

interface Preparing {
  readonly moment: Moment
  readonly turns: number
}

const PAUSE_TURNS = 5 // that a compaction may be away, for its summary to be written in a pause

/**
 * Why the conversation is compacted now although the window is not full. `undefined`: it is not. `tail`: what would be kept verbatim after
 * the summary that is ready. Absent where none is.
 */
export function plannedCompaction(context: LayerContext, tail: Tail | undefined): string | undefined {
  const { planner } = context.flags
  if (planner === "off" || !costsMoney(context)) return undefined
  const outlook = outlookOf(context, tail)
  const choice = compactsNow(outlook)
  const isOpen = tail !== undefined && openingOf(context) !== "task" && outlook.context >= earlySize(context)
  const pays = worthOfCompaction(outlook, context.flags.figures["expected-turns"]) > 0
  const compacts = planner === "economy" ? choice.compacts : isOpen && choice.isWorthIt && pays
  return compacts ? reasonFor(context, { outlook, choice }) : undefined
}

function reasonFor(
  context: LayerContext,
  { outlook, choice: { rent, price } }: { readonly outlook: Outlook; readonly choice: CompactionChoice },
): string {
  const old = grouped(Math.round(gainOf(outlook)))
  const because = outlook.isCold
    ? "the cache is gone, so everything is written again in any case"
    : `sending them again has cost ${amountOf(rent, context)} since the last boundary, and a compaction costs ${amountOf(price, context)}`
  const how = context.views.compactions.planned ? "" : HOW_TO_STOP
  return `About ${old} old tokens need not be sent again: ${because}.${how}`
}

/** Said once in a conversation. */
const HOW_TO_STOP = ' /undo takes it back, and the setting "planner": "off" keeps it from happening again.'

/** With a local model, or one whose price is unknown, there is no money to save. */
export const costsMoney = ({ facts: { price } }: LayerContext): boolean => price !== undefined && price.input > 0

/** Tokens of plain input as money, where the price is known. */
export function amountOf(tokens: number, context: LayerContext): string {
  const price = priceNow(context)
  return price && price.input > 0
    ? `$${((tokens * price.input) / 1_000_000).toFixed(2)}`
    : `as much as ${grouped(Math.round(tokens))} tokens of input`
}

/**
 * `pause`: the cache is gone, so everything is written again in any case. `request`: someone asks for something new. `task`: the agent is
 * at work on the last request.
 */
export type Opening = "pause" | "request" | "task"

export function openingOf(context: LayerContext): Opening {
  const cache = cacheState(context)
  if (cache.state === "cold" && cache.why !== "no response yet") return "pause"
  return beginsRequest(context) ? "request" : "task"
}

/** Whether a request came after the newest answer. */
function beginsRequest({ views }: LayerContext): boolean {
  const messages = views.context.journaledMessages()
  for (let at = messages.length - 1; at >= 0; at--) {
    const message = messages[at]!
    if (message.type === "assistant") return false
    if (isRequest(message)) return true
  }
  return false
}
