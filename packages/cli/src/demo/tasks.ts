/** What the agent is asked to do, one task after the other, as a person would: the demo goes on until its turns are used up. */

const TASKS = [
  "Get to know this repository, then tidy up one small thing in it. Never delete a file.",
  "Look at the tests now: find the longest one and note what it proves.",
  "Find out how settings are read, and write down what surprised you.",
  "Check the documentation against the code it describes, and mend what is wrong.",
  "Search for what is left to do, and do the smallest of it.",
] as const

/** Of one task, where several are to fit: turns that the simulated model plans for it. */
export const turnsPerTask = (turns: number): number => Math.max(2, Math.ceil(turns / (TASKS.length - 1)))

/** Without end: after the last one it begins again. */
export function* tasksInTurn(): Generator<string> {
  for (;;) yield* TASKS
}
