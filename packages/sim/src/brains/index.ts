/** All brains, and how to make one by name. */

import type { Brain } from "../brain.ts"
import { extractiveBrain } from "./extractive.ts"
import { helpfulBrain } from "./helpful.ts"
import { lyingBrain } from "./liar.ts"
import type { LieName } from "./lies.ts"
import { type MalformationName, malformedBrain } from "./malformed.ts"
import { obedient } from "./obedient.ts"
import { playbackBrain, type RecordedMessage } from "./playback.ts"
import { type ScriptedTurn, type ScriptOptions, scriptedBrain } from "./scripted.ts"
import { type WorkerSettings, workerBrain } from "./worker.ts"

export { DISTORTION_NAMES, type DistortionName, distortionsOf } from "./distortions.ts"
export { extractiveAnswer, extractiveBrain } from "./extractive.ts"
export { helpfulBrain } from "./helpful.ts"
export { type LyingBrain, lyingBrain, type ToldLie } from "./liar.ts"
export { LIE_NAMES, type LieName, plantLie } from "./lies.ts"
export { MALFORMATIONS, type MalformationName, malformedBrain } from "./malformed.ts"
export { obedient } from "./obedient.ts"
export { type PlaybackOptions, playbackBrain, type RecordedMessage } from "./playback.ts"
export { ScriptEnded, type ScriptedTurn, type ScriptOptions, scriptedBrain } from "./scripted.ts"
export { type WorkerSettings, workerBrain } from "./worker.ts"

/** Options of all brains. Each brain uses its own and ignores the rest. */
export interface BrainOptions extends Partial<WorkerSettings>, ScriptOptions {
  /** For `scripted`. */
  readonly script?: readonly ScriptedTurn[]
  /** For `playback`. */
  readonly conversation?: readonly RecordedMessage[]
  /** For `liar`. Default: every kind. */
  readonly lies?: readonly LieName[]
  /** For `malformed`. Default: all malformations. */
  readonly malformations?: readonly MalformationName[]
}

const MAKERS = {
  worker: (options) => workerBrain(options),
  helpful: () => helpfulBrain(),
  extractive: () => extractiveBrain(),
  liar: (options) => obedient(lyingBrain(workerBrain(options), options.lies)),
  malformed: (options) => malformedBrain(options.seed, options.malformations),
  scripted: (options) => scriptedBrain(needed(options, "script"), options),
  playback: (options) => playbackBrain(needed(options, "conversation")),
} as const satisfies Record<string, (options: BrainOptions) => Brain>

export type BrainName = keyof typeof MAKERS
export const BRAIN_NAMES = Object.keys(MAKERS) as readonly BrainName[]

export class UnknownBrain extends Error {
  constructor(name: string) {
    super(`There is no brain named "${name}". The brains are: ${BRAIN_NAMES.join(", ")}.`)
    this.name = "UnknownBrain"
  }
}

export function brainByName(name: string, options: BrainOptions = {}): Brain {
  if (!Object.hasOwn(MAKERS, name)) throw new UnknownBrain(name)
  return MAKERS[name as BrainName](options)
}

function needed<Key extends keyof BrainOptions>(options: BrainOptions, key: Key): NonNullable<BrainOptions[Key]> {
  const value = options[key]
  if (value === undefined) throw new Error(`This brain needs the option "${key}".`)
  return value
}
