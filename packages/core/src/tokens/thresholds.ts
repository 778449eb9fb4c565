/** The thresholds of a conversation, from the model's window and the settings. */

import { grouped } from "../base/grouped.ts"
import { compactionAllowed, type Settings } from "../settings/settings.ts"
import type { LearntLimit } from "./learnt-limit.ts"
import type { ModelFacts } from "./model-facts.ts"
import { type ModelLookup, windowBetas } from "./models.ts"
import { resolveThresholds, resolveWindow, type Thresholds } from "./window.ts"

export interface ThresholdSource {
  /** The model's name as given. */
  readonly name: string
  readonly values: Settings
  /** Beta headers that requests are sent with. */
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
  const thresholds = resolveThresholds({
    window: window.tokens,
    facts,
    maxOutput: Math.min(values.maxOutputTokens, facts.maxOutput),
    autoCompact: compactionAllowed(values).auto,
    ...(percent === undefined ? {} : { percent }),
    ...(tokens === undefined ? {} : { tokens }),
    ...(window.from === "learnt" ? { believed: resolveWindow(known).tokens } : {}),
  })
  const [beta] = windowBetas(name, facts)
  if (beta === undefined || window.from !== "model") return thresholds
  const notice = `The window is ${grouped(window.tokens)} tokens: for a million, "${facts.id}" needs the beta header ${beta}. Send requests with client.beta.messages and set contextManagement, or send the header yourself and name it in betas.`
  return { ...thresholds, notices: [...thresholds.notices, notice] }
}

const withoutOverflow = (facts: ModelFacts): ModelFacts => ({
  ...facts,
  accepts: { ...facts.accepts, overflowingOutput: false },
})
