/** The tasks for the agent. The demo gives them one after another until its turns are used up. */

const TASKS = [
  "Get to know this repository, then tidy up one small thing in it. Never delete a file.",
  "Look at the tests now: find the longest one and note what it proves.",
  "Find out how settings are read, and write down what surprised you.",
  "Check the documentation against the code it describes, and mend what is wrong.",
  "Search for what is left to do, and do the smallest of it.",
] as const

const MAX_TURNS_PER_TASK = 20 // a longer demo has more tasks, not longer ones

/** The turns that the simulated model plans for one of several tasks. */
export const turnsPerTask = (turns: number): number =>
  Math.min(MAX_TURNS_PER_TASK, Math.max(2, Math.ceil(turns / (TASKS.length - 1))))

/** Yields the tasks endlessly. */
export function* tasksInTurn(): Generator<string> {
  for (;;) yield* TASKS
}

/** The user's message at the end of the first conversation. */
export const CORRECTION = "No, keep it in one place, please. From now on, always write findings to docs/FINDINGS.md."

/** The task of the second conversation. It does not say where to write. */
export const NEXT_DAY_TASK = "Look again at how settings are read, and write down what you learn."

/** Approximate turns of the correction and the second conversation together. */
const TURNS_AT_THE_END = 10

/** The turns of the first conversation before the correction: at least half of them. */
export const turnsBeforeCorrection = (turns: number): number => Math.max(Math.ceil(turns / 2), turns - TURNS_AT_THE_END)
