/** All responders, and a function that makes one by name. */

import type { Responder } from "../responder.ts"
import { constrainResponder } from "./constrained.ts"
import { extractiveResponder } from "./extractive.ts"
import { fabricatingResponder } from "./fabricating.ts"
import type { FabricationName } from "./fabrications.ts"
import { helpfulResponder } from "./helpful.ts"
import { type MalformationName, malformedResponder } from "./malformed.ts"
import { playbackResponder, type RecordedMessage } from "./playback.ts"
import { type ScriptedTurn, type ScriptOptions, scriptedResponder } from "./scripted.ts"
import { type WorkerSettings, workerResponder } from "./worker.ts"

export { constrainResponder } from "./constrained.ts"
export { DISTORTION_NAMES, type DistortionName, findDistortions } from "./distortions.ts"
export { extractiveAnswer, extractiveResponder } from "./extractive.ts"
export { type FabricatingResponder, type Fabrication, fabricatingResponder } from "./fabricating.ts"
export { addFabrication, FABRICATION_NAMES, type FabricationName } from "./fabrications.ts"
export { helpfulResponder } from "./helpful.ts"
export { MALFORMATIONS, type MalformationName, malformedResponder } from "./malformed.ts"
export { type PlaybackOptions, playbackResponder, type RecordedMessage } from "./playback.ts"
export { ScriptEnded, type ScriptedTurn, type ScriptOptions, scriptedResponder } from "./scripted.ts"
export { type WorkerSettings, workerResponder } from "./worker.ts"

/** Options of all responders. Each responder uses its own and ignores the rest. */
export interface ResponderOptions extends Partial<WorkerSettings>, ScriptOptions {
  /** For `scripted`. */
  readonly script?: readonly ScriptedTurn[]
  /** For `playback`. */
  readonly conversation?: readonly RecordedMessage[]
  /** For `fabricating`. Default: every kind. */
  readonly fabrications?: readonly FabricationName[]
  /** For `malformed`. Default: all malformations. */
  readonly malformations?: readonly MalformationName[]
}

const MAKERS = {
  worker: (options) => workerResponder(options),
  helpful: () => helpfulResponder(),
  extractive: () => extractiveResponder(),
  fabricating: (options) => constrainResponder(fabricatingResponder(workerResponder(options), options.fabrications)),
  malformed: (options) => malformedResponder(options.seed, options.malformations),
  scripted: (options) => scriptedResponder(needed(options, "script"), options),
  playback: (options) => playbackResponder(needed(options, "conversation")),
} as const satisfies Record<string, (options: ResponderOptions) => Responder>

export type ResponderName = keyof typeof MAKERS
export const RESPONDER_NAMES = Object.keys(MAKERS) as readonly ResponderName[]

export class UnknownResponder extends Error {
  constructor(name: string) {
    super(`There is no responder named "${name}". The responders are: ${RESPONDER_NAMES.join(", ")}.`)
    this.name = "UnknownResponder"
  }
}

export function responderByName(name: string, options: ResponderOptions = {}): Responder {
  if (!Object.hasOwn(MAKERS, name)) throw new UnknownResponder(name)
  return MAKERS[name as ResponderName](options)
}

function needed<Key extends keyof ResponderOptions>(
  options: ResponderOptions,
  key: Key,
): NonNullable<ResponderOptions[Key]> {
  const value = options[key]
  if (value === undefined) throw new Error(`This responder needs the option "${key}".`)
  return value
}
