/** How the worker works; everything has a default, so that `workerBrain()` is enough. */

import type { Seed } from "../dice.ts"

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
