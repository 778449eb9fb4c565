/**
 * Switches off features that a model accepts but its adapter does not pass on. Otherwise a layer would leave work to a server that never
 * gets the request for it.
 */
import type { Settings } from "../base/settings.ts"
import type { Model } from "../model/model.ts"
import { findModel } from "../tokens/models.ts"

export function withoutOmitted({ name, omits = [] }: Model, known: Settings["models"]): Settings["models"] {
  const { facts } = findModel(name, known)
  const lost = omits.filter((feature) => facts.accepts[feature])
  if (lost.length === 0) return {}
  const given = known[facts.id] ?? known[name]
  const accepts = { ...given?.accepts, ...Object.fromEntries(lost.map((feature) => [feature, false])) }
  return { [facts.id]: { ...given, accepts } }
}
