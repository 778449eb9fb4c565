/** One step of the worker, and its input. */

import type { PlannedCall } from "@strata/core/offline"
import type { Seed, SeededRandom } from "../seeded-random.ts"
import type { WorkerState } from "./worker-state.ts"

/** Settings of the worker. Each has a default, so `workerResponder()` is enough. */
export interface WorkerSettings {
  readonly seed: Seed
  /** Maximum number of tool calls in one answer, if they can run in parallel. */
  readonly pace: number
  /** Rough size of a result in characters. Reads, searches and commands ask for this much. */
  readonly resultSize: number
  /** Maximum number of characters of the last results that its thinking repeats. */
  readonly thoughtSize: number
  /** Answers per task, plus or minus a third. The last one is the final answer. */
  readonly turns: number
  /** The share of steps that fail. */
  readonly trouble: number
}

export const DEFAULT_SETTINGS: WorkerSettings = {
  ...{ seed: 1, pace: 3, resultSize: 6000, turns: 20, trouble: 0.1 },
  thoughtSize: 0,
}

export interface WorkerStep {
  /** Empty if the step has no thinking. */
  readonly thought: string
  readonly words: string
  /** Whether the text is always included. Default: in most answers. */
  readonly isAnnounced?: boolean
  readonly calls: readonly PlannedCall[]
}

/** The input of every action. */
export interface StepContext {
  readonly state: WorkerState
  readonly settings: WorkerSettings
  readonly random: SeededRandom
}

/** Returns `undefined` if the action is not possible now. */
export type WorkerAction = (context: StepContext) => WorkerStep | undefined

/** The step with the calls to keep. Its text describes all calls, so it is dropped if one of them is. */
export function keepCalls(step: WorkerStep, stays: (call: PlannedCall) => boolean): WorkerStep | undefined {
  const calls = step.calls.filter(stays)
  if (calls.length === 0) return undefined
  return calls.length === step.calls.length ? step : { calls, thought: "", words: "" }
}
