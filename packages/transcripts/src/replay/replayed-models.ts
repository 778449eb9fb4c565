/** Looks up the models of a recording, with the thresholds that a policy has in their windows. */

import type { Thresholds } from "@strata/core"
import type { Settings } from "@strata/core/settings"
import type { ModelLookup } from "@strata/core/tokens"
import { findModel, thresholdsFor, windowBetas } from "@strata/core/tokens"
import type { MeasuredRecording } from "./measured-recording.ts"

const USUAL_WINDOW = 200_000

export interface ReplayedModel {
  readonly name: string
  readonly lookup: ModelLookup
  readonly thresholds: Thresholds
}

export interface ReplayedModelOptions {
  readonly settings: Settings
  /** Default: the window that the recording shows. */
  readonly window: number | undefined
  /** Whether the recording's own compactions stay. Then the window is the model's. */
  readonly keepsCompactions: boolean
}

/** The default window is the usual one, or the model's largest if a recorded request exceeded the usual one. */
export function replayedModels(
  { models, requests }: Pick<MeasuredRecording, "models" | "requests">,
  { settings, window: given, keepsCompactions }: ReplayedModelOptions,
): (name: string) => ReplayedModel {
  const known = new Map<string, ReplayedModel>()
  const asked = (name: string): ReplayedModel => {
    const lookup = findModel(name, models)
    const ofIt = requests.filter(({ model }) => model === name)
    const largest = ofIt.reduce((max, { counted }) => Math.max(max, counted?.input ?? 0), 0)
    const windowName = largest > lookup.facts.window ? `${name}[1m]` : name
    const window = given ?? (largest > USUAL_WINDOW || keepsCompactions ? undefined : USUAL_WINDOW)
    const values = window === undefined ? settings : { ...settings, contextWindow: window }
    return {
      name,
      lookup,
      thresholds: thresholdsFor({ name: windowName, values, betas: windowBetas(windowName, lookup.facts) }, lookup),
    }
  }
  return (name) => {
    const found = known.get(name) ?? asked(name)
    known.set(name, found)
    return found
  }
}
