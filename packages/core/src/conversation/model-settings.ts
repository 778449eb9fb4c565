/** What a model itself says, as settings: facts that the table does not have, and features that its adapter does not pass on. */
import type { Settings } from "../base/settings.ts"
import type { Model } from "../model/model.ts"
import type { ModelFacts } from "../tokens/model-facts.ts"
import { findModel } from "../tokens/models.ts"

/** The settings that people made win. */
export function settingsOf({ name, facts: own, omits = [] }: Model, known: Settings["models"]): Settings["models"] {
  const lookup = findModel(name, known)
  const { facts } = lookup
  const learned = !lookup.known && FACTS.some((fact) => own[fact] !== facts[fact]) ? factsIn(own) : {}
  // otherwise a layer would leave work to a server that never gets the request for it
  const lost = omits.filter((feature) => facts.accepts[feature])
  if (lost.length === 0 && Object.keys(learned).length === 0) return {}
  const given = known[facts.id] ?? known[name]
  const accepts = { ...given?.accepts, ...Object.fromEntries(lost.map((feature) => [feature, false])) }
  return { [facts.id]: { ...learned, ...given, ...(Object.keys(accepts).length > 0 ? { accepts } : {}) } }
}

const FACTS = ["window", "maxOutput", "minCacheable", "price"] as const

function factsIn({ family, window, maxOutput, minCacheable, price }: ModelFacts) {
  return { family, window, maxOutput, minCacheable, ...(price ? { price } : {}) }
}
