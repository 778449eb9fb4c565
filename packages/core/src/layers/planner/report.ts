/** What the planner thinks now, as plain values: when it compacts, how far that is, and what happens to the cache in a pause. */
import { grouped } from "../../base/grouped.ts"
import type { PlannerMode } from "../../base/vocabulary.ts"
import type { ChosenLifetimes } from "../../journal/entries.ts"
import { LIFETIME_MS } from "../../model/cache/known-entries.ts"
import { cacheState, lastUse } from "../2-microcompact/cache-state.ts"
import { growthPerTurn } from "../2-microcompact/payback.ts"
import type { LayerContext, Tail } from "../layer.ts"
import {
  amountOf,
  compactsNow,
  costsMoney,
  earlySize,
  gainOf,
  leftBy,
  MIN_GAIN,
  openingOf,
  plannedCompaction,
} from "./compact-now.ts"
import { type PausePlan, pausePlan } from "./keep-warm.ts"
import { type Outlook, outlookOf } from "./outlook.ts"

export interface PlannerReport {
  readonly mode: PlannerMode
  /** When it compacts to save money. Absent where it never does. */
  readonly compaction?: PlannedCompaction | undefined
  /** What it decides for the next request with the summary that is ready, and why: in one sentence. */
  readonly decision?: string
  /** `until`: when the server forgets what was sent last. */
  readonly cache: { readonly state: "cold" } | { readonly state: "warm"; readonly until: Date }
  /** How long the cache is kept warm in a pause, where someone waits for it. */
  readonly pause: PausePlan
  /** How long the server is asked to keep what it caches, where the planner decided that, and why. */
  readonly lifetimes?: (ChosenLifetimes & { readonly why: string }) | undefined
}

export type PlannedCompaction =
  /** In a pause that costs the cache, or where a new request begins, from this size on. */
  | { readonly where: "between-requests"; readonly from: number }
  /** Once sending the old part again has cost `due`. `at`: the size that it will probably have then, unless the window fills first. */
  | { readonly where: "anywhere"; readonly spent: string; readonly due: string; readonly at?: number | undefined }

const MOST_TURNS = 10_000 // to look ahead: by then every window is full

/** `tail`: what a compaction with the summary that is ready would keep after it. Absent where none is ready. */
export function plannerReport(context: LayerContext, tail?: Tail): PlannerReport {
  const { planner: mode, cacheLifetime } = context.flags
  const { views } = context
  const last = views.context.lastResponse
  const isCold = cacheState(context).state === "cold" || !last
  const cache = isCold ? { state: "cold" as const } : { state: "warm" as const, until: expiry(lastUse(last, views)) }
  const lifetimes = cacheLifetime === "auto" ? views.cacheHistory.chosen : undefined
  const decision = tail === undefined || mode === "off" ? {} : { decision: decisionFor(context, tail) }
  const report = { mode, ...decision, cache, pause: pausePlan(context), ...(lifetimes ? { lifetimes } : {}) }
  if (mode === "off" || !context.compaction.auto || !costsMoney(context)) return report
  return { ...report, compaction: mode === "balanced" ? betweenRequests(context) : anywhere(context) }
}

function decisionFor(context: LayerContext, tail: Tail): string {
  const outlook = outlookOf(context, tail)
  const gain = Math.max(0, gainOf(outlook))
  if (gain < MIN_GAIN)
    return `Nothing is compacted now: it would replace about ${grouped(gain)} tokens, and ${grouped(MIN_GAIN)} are the least to gain.`
  const newer = tail.kept > 0 ? `, ${grouped(Math.round(tail.kept))} of them newer than its summary` : ""
  const would = `a compaction would leave about ${grouped(Math.round(leftBy(outlook)))} of ${grouped(outlook.context)} tokens${newer}`
  if (plannedCompaction(context, tail) !== undefined) return `The next request compacts: ${would}.`
  const why = openingOf(context) === "task" ? "in the middle of a task" : "now, because that does not pay yet"
  return `Nothing is compacted ${why}: ${would}. Nothing is cleared where that would save less.`
}

const betweenRequests = (context: LayerContext): PlannedCompaction => ({
  where: "between-requests",
  from: earlySize(context),
})

function anywhere(context: LayerContext): PlannedCompaction {
  const outlook = outlookOf(context)
  const { rent, price } = compactsNow(outlook)
  const at = probableSize(outlook, context)
  return {
    where: "anywhere",
    spent: amountOf(rent, context),
    due: amountOf(price, context),
    ...(at === undefined ? {} : { at }),
  }
}

/** Where the conversation goes on growing as in the latest turns. */
function probableSize(outlook: Outlook, context: LayerContext): number | undefined {
  const growth = growthPerTurn(context.views.context)
  if (growth === 0) return undefined
  let ahead: Outlook = { ...outlook, isCold: false }
  for (let turn = 0; turn < MOST_TURNS && ahead.context < context.thresholds.autoCompact; turn++) {
    if (compactsNow(ahead).compacts) return Math.round(ahead.context)
    ahead = {
      ...ahead,
      context: ahead.context + growth,
      rent: ahead.rent + ahead.prices.read * Math.max(0, ahead.context - ahead.left),
      responses: ahead.responses + 1,
    }
  }
  return undefined
}

const expiry = ({ timestamp, lifetime }: ReturnType<typeof lastUse>): Date =>
  new Date(Date.parse(timestamp) + LIFETIME_MS[lifetime])
