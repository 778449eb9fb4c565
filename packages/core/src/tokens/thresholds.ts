/** The thresholds of a conversation, from the model's window and the settings. */
import { compactionAllowed, type Settings } from "../base/settings.ts"
import type { ModelLookup } from "./models.ts"
import { resolveThresholds, resolveWindow, type Thresholds } from "./window.ts"

export interface ThresholdSource {
  /** The model's name as given. */
  readonly name: string
  readonly values: Settings
  readonly betas: readonly string[]
}

export function thresholdsFor({ name, values, betas }: ThresholdSource, model: ModelLookup): Thresholds {
  const { facts } = model
  const own = values.models[facts.id] ?? values.models[name]
  const window = resolveWindow({
    name,
    facts,
    known: model.known,
    betas,
    ...(values.contextWindow ? { override: values.contextWindow } : {}),
  })
  const percent = own?.autoCompactPercent ?? values.autoCompactPercent
  const tokens = own?.autoCompactTokens ?? values.autoCompactTokens
  return resolveThresholds({
    window: window.tokens,
    facts,
    maxOutput: Math.min(values.maxOutputTokens, facts.maxOutput),
    autoCompact: compactionAllowed(values).auto,
    ...(percent === undefined ? {} : { percent }),
    ...(tokens === undefined ? {} : { tokens }),
  })
}
