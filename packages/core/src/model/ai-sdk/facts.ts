/** Facts about a model that is reached through the AI SDK. */
import type { ModelFacts } from "../../tokens/models.ts"
import { findModel, type ModelOverride } from "../../tokens/models.ts"

/** Features without a field in the AI SDK, which drops unknown fields. */
export const AI_SDK_OMITS = ["contextManagement", "signedSummaries", "toolReferences", "cacheEditing"] as const

export function aiSdkFacts(name: string, models?: Readonly<Record<string, ModelOverride>>): ModelFacts {
  const { facts } = findModel(name, models)
  const omitted = Object.fromEntries(AI_SDK_OMITS.map((feature) => [feature, false]))
  return { ...facts, accepts: { ...facts.accepts, ...omitted } }
}
