/** The worker's plan: a todo list made from the task and ticked off step by step, and when the task is done. */

import { hashText, type PlannedCall, type Todo, type TodoStatus } from "@strata/core/offline"
import type { Hand } from "./step.ts"

const SUBJECT_WORDS = 5

/** The call that updates the todo list, or `undefined` if it is up to date. */
export function planTodos(hand: Hand): PlannedCall | undefined {
  const { situation } = hand
  const isNewTask = situation.steps === 0 && situation.correction === undefined
  const shown = isNewTask || situation.todos.length === 0 ? makeTodos(situation.task) : situation.todos
  const todos = tickOff(shown, progressOf(hand))
  const isUpToDate = !isNewTask && JSON.stringify(todos) === JSON.stringify(situation.todos)
  return isUpToDate ? undefined : situation.toolbox.call("todo", { todos })
}

/** Every task has its own fixed length. A task whose start is out of view ends by chance. */
export function isDone({ situation, settings, dice }: Hand): boolean {
  if (situation.steps >= turnsFor(situation.task, settings)) return true
  return situation.continued && situation.steps > 1 && dice.chance(1 / settings.turns)
}

function turnsFor(task: string, { turns, seed }: Hand["settings"]): number {
  const spread = (hashText(`${seed} ${task}`) % 1000) / 1000
  return Math.max(1, Math.round(turns * (2 / 3 + (spread * 2) / 3)))
}

/** Counts the step about to be taken, so the last step before the final answer ticks off the last todo. */
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

/** Never unticks a todo: after a compaction the step count starts again, but the list does not. */
function tickOff(todos: readonly Todo[], progress: number): Todo[] {
  const already = todos.filter(({ status }) => status === "completed").length
  const done = Math.max(already, Math.floor(progress * todos.length))
  return todos.map(({ content }, index) => {
    const status: TodoStatus = index < done ? "completed" : index === done ? "in_progress" : "pending"
    return { content, status }
  })
}
