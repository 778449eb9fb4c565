/** The worker's plan: a todo list made from the task and ticked off step by step, and when the task is done. */

import { hashText, type OfflineTodo, type PlannedCall, type TodoStatus } from "@strata/core/offline"
import type { StepContext } from "./step.ts"

const SUBJECT_WORDS = 5

/** The call that updates the todo list, or `undefined` if it is up to date. */
export function planTodos(context: StepContext): PlannedCall | undefined {
  const { state } = context
  const isNewTask = state.steps === 0 && state.correction === undefined
  const shown = isNewTask || state.todos.length === 0 ? makeTodos(state.task) : state.todos
  const todos = tickOff(shown, progressOf(context))
  const isUpToDate = !isNewTask && JSON.stringify(todos) === JSON.stringify(state.todos)
  return isUpToDate ? undefined : state.toolbox.call("todo", { todos })
}

/** Every task has its own fixed length. A task whose start is out of view ends by chance. */
export function isDone({ state, settings, random }: StepContext): boolean {
  if (state.steps >= turnsFor(state.task, settings)) return true
  return state.continued && state.steps > 1 && random.chance(1 / settings.turns)
}

function turnsFor(task: string, { turns, seed }: StepContext["settings"]): number {
  const spread = (hashText(`${seed} ${task}`) % 1000) / 1000
  return Math.max(1, Math.round(turns * (2 / 3 + (spread * 2) / 3)))
}

/** Counts the step about to be taken, so the last step before the final answer ticks off the last todo. */
function progressOf({ state, settings }: StepContext): number {
  return Math.min(1, (state.steps + 1) / turnsFor(state.task, settings))
}

function makeTodos(task: string): OfflineTodo[] {
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
function tickOff(todos: readonly OfflineTodo[], progress: number): OfflineTodo[] {
  const already = todos.filter(({ status }) => status === "completed").length
  const done = Math.max(already, Math.floor(progress * todos.length))
  return todos.map(({ content }, index) => {
    const status: TodoStatus = index < done ? "completed" : index === done ? "in_progress" : "pending"
    return { content, status }
  })
}
