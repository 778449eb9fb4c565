/** One step of the worker, and what it is chosen from. */

import type { PlannedCall } from "@strata/core/offline"
import type { Dice, Seed } from "../dice.ts"
import type { Situation } from "./situation.ts"

/** How the worker works. Everything has a default, so `workerResponder()` is enough. */
export interface WorkerSettings {
  readonly seed: Seed
  /** The most tool calls in one answer, if they can run in parallel. */
  readonly pace: number
  /** Rough size of a result in characters. Reads, searches and commands ask for this much. */
  readonly resultSize: number
  /** Answers per task, give or take a third. The last one is the final answer. */
  readonly turns: number
  /** The share of steps that fail. */
  readonly trouble: number
}

export const DEFAULT_SETTINGS: WorkerSettings = { seed: 1, pace: 3, resultSize: 6000, turns: 20, trouble: 0.1 }

export interface Step {
  /** Empty: no thinking. */
  readonly thought: string
  readonly words: string
  /** Whether the words are always said. Default: in most answers. */
  readonly isAnnounced?: boolean
  readonly calls: readonly PlannedCall[]
}

/** The input of every move. */
export interface Hand {
  readonly situation: Situation
  readonly settings: WorkerSettings
  readonly dice: Dice
}

/** Returns `undefined` if the move does not fit the situation. */
export type Move = (hand: Hand) => Step | undefined

/** The step with the calls that stay. Its text describes all calls, so it is dropped if one of them is. */
export function keepCalls(step: Step, stays: (call: PlannedCall) => boolean): Step | undefined {
  const calls = step.calls.filter(stays)
  if (calls.length === 0) return undefined
  return calls.length === step.calls.length ? step : { calls, thought: "", words: "" }
}
