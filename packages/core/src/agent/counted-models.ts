/** The models of an agent. Each request is counted, checked against what the agent may spend, and shows up in telemetry. */
import { randomIds } from "../base/clock.ts"
import type { WhenOpen } from "../conversation/open.ts"
import type { Model } from "../model/model.ts"
import { oneSlotModel, Slot, slotsOf, tracedModel } from "../model/model.ts"
import { CostBudget } from "../model/spending/budget.ts"
import { Meter, meteredModel, withoutMeter } from "../model/spending/meter.ts"
import { findModel } from "../tokens/models.ts"
import type { Ground } from "./ground.ts"
import type { SubAgentPlace } from "./loop/companions.ts"
import type { SingleAgentOptions } from "./options.ts"

export interface CountedModels {
  readonly model: Model
  /** Absent where the conversation's own model writes the summaries. */
  readonly summariser: Model | undefined
  /** What the agent and all who work for it may spend. */
  readonly budget: CostBudget
  readonly meter: Meter
  /** Where the model's server works on one request at a time. */
  readonly slot: Slot | undefined
}

interface Counting {
  readonly options: SingleAgentOptions
  readonly ground: Ground
  readonly sub: SubAgentPlace | undefined
  readonly whenOpen: WhenOpen
}

export function countedModels({ options, ground, sub, whenOpen }: Counting): CountedModels {
  const { clock, settings, telemetry, id } = ground
  const budget = sub?.budget ?? new CostBudget()
  if (!sub) budget.limit = options.costLimit ?? Number.POSITIVE_INFINITY
  const meter = new Meter({ budget, clock, ids: options.ids ?? randomIds, source: sub ? "agent" : "main" })
  const slots = slotsOf(ground.model, findModel(ground.model.name, settings.models).facts.slots)
  const slot = !sub && slots === 1 ? new Slot() : undefined
  const tracing = {
    telemetry,
    conversation: () => id,
    context: () => whenOpen.conversation.views.ledger.context,
    source: sub ? ("agent" as const) : undefined,
  }
  const shared = (given: Model) => (slot ? oneSlotModel(withoutMeter(given), slot) : withoutMeter(given))
  const counted = (given: Model) => meteredModel(tracedModel(shared(given), tracing), meter)
  return {
    model: counted(ground.model),
    summariser: ground.summariser && counted(ground.summariser),
    ...{ budget, meter, slot },
  }
}
