/** What is known about a model that is reached through the AI SDK. */
import type { ModelFacts } from "../../tokens/models.ts"
import { findModel, type ModelOverride } from "../../tokens/models.ts"

/** The AI SDK has no fields for these and drops what it does not know. */
export const AI_SDK_OMITS = ["contextManagement", "signedSummaries", "toolReferences", "cacheEditing"] as const

export function aiSdkFacts(name: string, models?: Readonly<Record<string, ModelOverride>>): ModelFacts {
  const { facts } = findModel(name, models)
  const omitted = Object.fromEntries(AI_SDK_OMITS.map((feature) => [feature, false]))
  return { ...facts, accepts: { ...facts.accepts, ...omitted } }
}
