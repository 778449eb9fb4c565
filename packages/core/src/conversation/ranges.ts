/** Folds, snips and opens ranges of a conversation manually: request, plan and decisions. */
import { RangeRefusedError } from "../base/errors.ts"
import {
  planDownTo,
  planOpening,
  planRange,
  type RangeEnds,
  type RangePlan,
  type RangeRefusal,
  rangeDecisions,
} from "../layers/fold/plan.ts"
import type { LayerContext } from "../layers/layer.ts"
import type { Engine } from "./engine.ts"

/** A range by uuids or handles, or the oldest exchanges until the context has a given size. */
export type FoldRequest = (RangeEnds | { readonly downTo: number }) & Pick<SnipRequest, "dryRun">

/** A range of messages to hide. */
export interface SnipRequest extends RangeEnds {
  /** Whether to only report what would happen. */
  readonly dryRun?: boolean
  readonly why?: string
  /** Author of the proposal. Default: the user. */
  readonly by?: "user" | "agent"
}

export type RangeChange =
  | ({ readonly action: "fold" } & FoldRequest)
  | ({ readonly action: "snip" } & SnipRequest)
  | ({ readonly action: "open"; readonly handle: string } & Pick<SnipRequest, "dryRun">)

const OFF =
  'Everything is switched off (the setting "off"), so ranges are neither hidden nor opened. Nothing was changed.'

/** Changes a range. Throws if nothing can be changed. */
export async function changeRange(engine: Engine, change: RangeChange): Promise<RangePlan> {
  if (engine.isOff) throw new RangeRefusedError(OFF)
  await engine.readFlags()
  const context = engine.context()
  const { action } = change
  if (action !== "open" && !context.flags.on[action])
    throw new RangeRefusedError(`The switch "${action}" is off. Nothing was changed.`)
  const plan = planFor(context, change)
  if (plan.action === "refused") throw new RangeRefusedError(plan.message)
  const { by = "user", why = "" } = change.action === "snip" ? change : {}
  const drafts = change.dryRun ? [] : rangeDecisions(context, plan, { by, why })
  await engine.layers.act({ name: "fold" }, async () => ({ drafts }))
  return plan
}

function planFor(context: LayerContext, change: RangeChange): RangePlan | RangeRefusal {
  if (change.action === "open") return planOpening(context, change.handle)
  if ("downTo" in change) return planDownTo(context, change.downTo)
  return planRange(context, change.action, change)
}
