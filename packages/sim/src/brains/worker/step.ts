/** What the worker does in one answer, and what it decides that from. */

import type { Dice } from "../dice.ts"
import type { PlannedCall } from "../toolbox.ts"
import type { WorkerSettings } from "./settings.ts"
import type { Situation } from "./situation.ts"

export interface Step {
  /** Empty: nothing is thought, or said. */
  readonly thought: string
  readonly words: string
  readonly calls: readonly PlannedCall[]
}

/** What every move is given. */
export interface Hand {
  readonly situation: Situation
  readonly settings: WorkerSettings
  readonly dice: Dice
}

/** Nothing where the move does not fit the situation. */
export type Move = (hand: Hand) => Step | undefined

/** The step with the calls that stay; its words told of all of them, so they go with the first that is dropped. */
export function keepCalls(step: Step, stays: (call: PlannedCall) => boolean): Step | undefined {
  const calls = step.calls.filter(stays)
  if (calls.length === 0) return undefined
  return calls.length === step.calls.length ? step : { calls, thought: "", words: "" }
}
