/** What a model itself says, as settings: facts that the table does not have, and features that its adapter does not pass on. */

import type { Model } from "../model/model.ts"
import type { Settings } from "../settings/settings.ts"
import type { ModelAccepts, ModelFacts } from "../tokens/model-facts.ts"
import { findModel } from "../tokens/models.ts"

/** The settings that people made win. */
export function settingsOf({ name, facts: own, omits = [] }: Model, known: Settings["models"]): Settings["models"] {
  const lookup = findModel(name, known)
  const { facts } = lookup
  const isLearned =
    !lookup.known && (FACTS.some((fact) => own[fact] !== facts[fact]) || !isSame(own.accepts, facts.accepts))
  const learned = isLearned ? factsIn(own) : {}
  // otherwise a layer would leave work to a server that never gets the request for it
  const lost = omits.filter((feature) => (isLearned ? own : facts).accepts[feature])
  if (lost.length === 0 && Object.keys(learned).length === 0) return {}
  const given = known[facts.id] ?? known[name]
  const accepts = {
    ...(isLearned ? own.accepts : {}),
    ...given?.accepts,
    ...Object.fromEntries(lost.map((feature) => [feature, false])),
  }
  return { [facts.id]: { ...learned, ...given, ...(Object.keys(accepts).length > 0 ? { accepts } : {}) } }
}

const FACTS = ["window", "maxOutput", "minCacheable", "price"] as const

const isSame = (a: ModelAccepts, b: ModelAccepts): boolean =>
  (Object.keys(a) as (keyof ModelAccepts)[]).every((feature) => a[feature] === b[feature])

function factsIn({ family, window, maxOutput, minCacheable, price }: ModelFacts) {
  return { family, window, maxOutput, minCacheable, ...(price ? { price } : {}) }
}
