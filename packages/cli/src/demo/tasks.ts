/** The tasks for the agent. The demo gives them one after another until its turns are used up. */

const TASKS = [
  "Get to know this repository, then tidy up one small thing in it. Never delete a file.",
  "Look at the tests now: find the longest one and note what it proves.",
  "Find out how settings are read, and write down what surprised you.",
  "Check the documentation against the code it describes, and mend what is wrong.",
  "Search for what is left to do, and do the smallest of it.",
] as const

/** The turns that the simulated model plans for one of several tasks. */
export const turnsPerTask = (turns: number): number => Math.max(2, Math.ceil(turns / (TASKS.length - 1)))

/** Endless: starts over after the last task. */
export function* tasksInTurn(): Generator<string> {
  for (;;) yield* TASKS
}
