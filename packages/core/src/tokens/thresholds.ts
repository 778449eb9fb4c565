/** The thresholds of a conversation, from the model's window and the settings. */
import { compactionAllowed, type Settings } from "../base/settings.ts"
import type { LearntLimit } from "./learnt-limit.ts"
import type { ModelFacts } from "./model-facts.ts"
import type { ModelLookup } from "./models.ts"
import { resolveThresholds, resolveWindow, type Thresholds } from "./window.ts"

export interface ThresholdSource {
  /** The model's name as given. */
  readonly name: string
  readonly values: Settings
  readonly betas: readonly string[]
  /** What a refusal of the server has shown. */
  readonly learnt?: Pick<LearntLimit, "tokens" | "countsOutput"> | undefined
}

export function thresholdsFor({ name, values, betas, learnt }: ThresholdSource, model: ModelLookup): Thresholds {
  const facts = learnt?.countsOutput ? withoutOverflow(model.facts) : model.facts
  const own = values.models[facts.id] ?? values.models[name]
  const known = {
    name,
    facts,
    known: model.known,
    betas,
    ...(values.contextWindow ? { override: values.contextWindow } : {}),
  }
  const window = resolveWindow({ ...known, ...(learnt ? { learnt: learnt.tokens } : {}) })
  const percent = own?.autoCompactPercent ?? values.autoCompactPercent
  const tokens = own?.autoCompactTokens ?? values.autoCompactTokens
  return resolveThresholds({
    window: window.tokens,
    facts,
    maxOutput: Math.min(values.maxOutputTokens, facts.maxOutput),
    autoCompact: compactionAllowed(values).auto,
    ...(percent === undefined ? {} : { percent }),
    ...(tokens === undefined ? {} : { tokens }),
    ...(window.from === "learnt" ? { believed: resolveWindow(known).tokens } : {}),
  })
}

const withoutOverflow = (facts: ModelFacts): ModelFacts => ({
  ...facts,
  accepts: { ...facts.accepts, overflowingOutput: false },
})
