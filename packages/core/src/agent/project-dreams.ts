/** Creates the dream controller of a project's memory, for agents and for the command that has no conversation. */
import type { Clock } from "../base/clock.ts"
import type { ProjectMemory } from "../conversation/project-memory.ts"
import { type Consolidate, consolidateWithModel } from "../layers/6-dreaming/consolidate/consolidate.ts"
import { DreamController } from "../layers/6-dreaming/dreaming.ts"
import { dollarsFor, expectedDollars } from "../layers/budget.ts"
import { isOffline, type Model } from "../model/model.ts"
import type { Confinement } from "../tools/command.ts"
import { openDreamTools, type ReadRules } from "./dream-tools.ts"

export interface ProjectDreams {
  readonly memory: ProjectMemory
  /** The project's directory. */
  readonly project: string
  readonly model: Model
  readonly clock: Clock
  readonly env: Readonly<Record<string, string | undefined>>
  /** Applies the user's permission rules to reads. */
  readonly rules?: ReadRules
  /** Confinement of its commands. */
  readonly confinement?: () => Confinement
  /** Replaces consolidation by the model. */
  readonly consolidate?: Consolidate
}

/** `undefined` if the memory may not be written. */
export function projectDreams(dreams: ProjectDreams): DreamController | undefined {
  const { memory, project, model, clock, env, rules, confinement } = dreams
  const { daily, mode, bank, files, dreams: state } = memory
  if (!state || mode === "read-only") return undefined
  return new DreamController({
    ...{ bank, files, ...state, project, clock, asksFirst: mode === "ask" },
    consolidate:
      dreams.consolidate ??
      consolidateWithModel({
        model,
        openTools: (reach) => openDreamTools({ ...reach, rules }, { clock, env, confinement }),
      }),
    daily,
    dollarsFor: (responses) => dollarsFor(responses, model.facts),
    ...(dreams.consolidate || isOffline(model) ? {} : { expectedDollars: (tokens) => dreamDollars(tokens, model) }),
  })
}

const PROMPT_TOKENS = 5_000 // tokens of the prompt and the tools of a dream
const EXPECTED_REQUESTS = 6
const OUTPUT_TOKENS = 2_500 // tokens, including written files

/** Estimated cost of a dream. Its prompt contains one line per memory, and it may read all of them. */
const dreamDollars = (tokens: number, { facts }: Model): number =>
  expectedDollars({ uncached: PROMPT_TOKENS + 2 * tokens, answer: OUTPUT_TOKENS, requests: EXPECTED_REQUESTS }, facts)
