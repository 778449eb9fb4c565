/**
 * The worker's plan: its todo list, made from the task's own words and ticked off as the steps go by, and when the task
 * is done.
 */

import { hashText } from "../dice.ts"
import type { PlannedCall, Todo, TodoStatus } from "../toolbox.ts"
import type { Hand } from "./step.ts"

const SUBJECT_WORDS = 5

/** The call that brings the todo list up to date, or nothing where it is. */
export function planTodos(hand: Hand): PlannedCall | undefined {
  const { situation } = hand
  const isNewTask = situation.steps === 0 && situation.correction === undefined
  const shown = isNewTask || situation.todos.length === 0 ? makeTodos(situation.task) : situation.todos
  const todos = tickOff(shown, progressOf(hand))
  const isUpToDate = !isNewTask && JSON.stringify(todos) === JSON.stringify(situation.todos)
  return isUpToDate ? undefined : situation.toolbox.call("todo", { todos })
}

/** Tasks differ in length, each always by the same; one whose start is out of view ends by chance. */
export function isDone({ situation, settings, dice }: Hand): boolean {
  if (situation.steps >= turnsFor(situation.task, settings)) return true
  return situation.continued && situation.steps > 1 && dice.chance(1 / settings.turns)
}

function turnsFor(task: string, { turns, seed }: Hand["settings"]): number {
  const spread = (hashText(`${seed} ${task}`) % 1000) / 1000
  return Math.max(1, Math.round(turns * (2 / 3 + (spread * 2) / 3)))
}

/** The step about to be taken counts: the last one before the final answer ticks off the last todo. */
function progressOf({ situation, settings }: Hand): number {
  return Math.min(1, (situation.steps + 1) / turnsFor(situation.task, settings))
}

function makeTodos(task: string): Todo[] {
  const subject = task.trim().split(/\s+/).slice(0, SUBJECT_WORDS).join(" ") || "the task"
  const contents = [
    `Find where this belongs: ${subject}`,
    "Read the files concerned",
    `Make the changes for: ${subject}`,
    "Check the changes with commands",
    "Report what was done",
  ]
  return contents.map((content) => ({ content, status: "pending" }))
}

/** Never takes back what is done: after a compaction the count of steps starts again, the list does not. */
function tickOff(todos: readonly Todo[], progress: number): Todo[] {
  const already = todos.filter(({ status }) => status === "completed").length
  const done = Math.max(already, Math.floor(progress * todos.length))
  return todos.map(({ content }, index) => {
    const status: TodoStatus = index < done ? "completed" : index === done ? "in_progress" : "pending"
    return { content, status }
  })
}
