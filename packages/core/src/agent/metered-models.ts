/** Wraps the models of an agent so that each request is metered, checked against the cost budget, and traced. */
import { randomIds } from "../base/clock.ts"
import { engineOf } from "../conversation/conversation.ts"
import type { ConversationRef } from "../conversation/open.ts"
import type { Model } from "../model/model.ts"
import { modelSlots, RequestSlot, singleSlotModel, tracedModel } from "../model/model.ts"
import { CostBudget } from "../model/spending/budget.ts"
import { Meter, meteredModel, withoutMeter } from "../model/spending/meter.ts"
import { findModel } from "../tokens/models.ts"
import type { AgentEnvironment } from "./agent-environment.ts"
import type { SubAgentContext } from "./loop/agent-links.ts"
import type { SingleAgentOptions } from "./options.ts"

export interface MeteredModels {
  readonly model: Model
  /** `undefined` if the conversation's model writes the summaries. */
  readonly summariser: Model | undefined
  /** Cost budget of the agent and its sub-agents. */
  readonly budget: CostBudget
  readonly meter: Meter
  /** Set if the model's server processes one request at a time. */
  readonly slot: RequestSlot | undefined
}

interface MeteringInput {
  readonly options: SingleAgentOptions
  readonly ground: AgentEnvironment
  readonly sub: SubAgentContext | undefined
  readonly conversationRef: ConversationRef
}

export function meterModels({ options, ground, sub, conversationRef }: MeteringInput): MeteredModels {
  const { clock, settings, telemetry, id } = ground
  const budget = sub?.budget ?? new CostBudget()
  if (!sub) budget.limit = options.costLimit ?? Number.POSITIVE_INFINITY
  const meter = new Meter({ budget, clock, ids: options.ids ?? randomIds, source: sub ? "agent" : "main" })
  const slots = modelSlots(ground.model, findModel(ground.model.name, settings.models).facts.slots)
  const slot = !sub && slots === 1 ? new RequestSlot() : undefined
  const tracing = {
    telemetry,
    conversation: () => id,
    context: () => engineOf(conversationRef.conversation).views.ledger.context,
    source: sub ? ("agent" as const) : undefined,
  }
  const shared = (given: Model) => (slot ? singleSlotModel(withoutMeter(given), slot) : withoutMeter(given))
  const counted = (given: Model) => meteredModel(tracedModel(shared(given), tracing), meter)
  return {
    model: counted(ground.model),
    summariser: ground.summariser && counted(ground.summariser),
    ...{ budget, meter, slot },
  }
}
