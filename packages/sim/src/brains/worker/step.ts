/** What the worker does in one answer, and what it decides that from. */

import type { Dice, Seed } from "../dice.ts"
import type { PlannedCall } from "../toolbox.ts"
import type { Situation } from "./situation.ts"

/** How the worker works. Everything has a default, so `workerBrain()` is enough. */
export interface WorkerSettings {
  readonly seed: Seed
  /** Tool calls in one answer, at most, where they can run side by side. */
  readonly pace: number
  /** Characters a result should have, roughly: reads, searches and commands ask for as much. */
  readonly resultSize: number
  /** Answers for one task, give or take a third; the last of them is the final answer. */
  readonly turns: number
  /** The share of steps in which something goes wrong. */
  readonly trouble: number
}

export const DEFAULT_SETTINGS: WorkerSettings = { seed: 1, pace: 3, resultSize: 6000, turns: 20, trouble: 0.1 }

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
