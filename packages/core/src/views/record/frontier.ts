/** The frontier view, where the work is: todos, plan, the last request, what is done and what is open. */

import { type DecisionEntry, type Entry, isDecision, isMessage } from "../../journal/entries.ts"
import type { Todo } from "../../messages/attachments.ts"
import { isToolUse, textOf } from "../../messages/blocks.ts"
import { contentOf, isRequest, spokenText, type Uuid } from "../../messages/messages.ts"
import type { Projection } from "../projection.ts"
import { type FinishedCall, followCalls, type OpenCall } from "./tool-calls.ts"

export interface Frontier {
  todos: readonly Todo[]
  plan: { active: boolean; path?: string; text?: string }
  /** What was asked for last. */
  request?: { readonly uuid: Uuid; readonly text: string; readonly isFromAgent?: true }
  /** Whether the assistant has given a final answer to it. */
  answered: boolean
  /** Calls without a result so far. */
  readonly open: Map<string, OpenCall>
}

export const frontier: Projection<Frontier> = {
  name: "frontier",
  scope: "path",
  start: () => ({ todos: [], plan: { active: false }, answered: true, open: new Map() }),
  apply(state, entry) {
    if (isDecision(entry)) followMode(state, entry)
    followState(state, entry)
    for (const call of followCalls(state.open, entry)) followCall(state, call)
    return state
  },
}

/** The agent journals its mode where it changes, so the last one counts, whichever way it was left. */
function followMode(state: Frontier, decision: DecisionEntry): void {
  if (decision.subtype === "session" && decision.mode !== undefined) state.plan.active = decision.mode === "plan"
}

function followState(state: Frontier, entry: Entry): void {
  if (!isMessage(entry) || entry.isSidechain) return
  if (isRequest(entry)) {
    const text = spokenText(entry)
    if (text.trim() === "") return
    state.request = { uuid: entry.uuid, text, ...(entry.isFromAgent ? { isFromAgent: true } : {}) }
    state.answered = false
  } else if (entry.type === "assistant") {
    state.answered = !contentOf(entry).some(isToolUse) && textOf(contentOf(entry)).trim() !== ""
  } else if (entry.type === "attachment") {
    if (entry.attachment.type === "todo_list") state.todos = entry.attachment.todos
    if (entry.attachment.type === "plan_mode") state.plan.active = entry.attachment.active
    if (entry.attachment.type === "permission_mode") state.plan.active = entry.attachment.mode === "plan"
    if (entry.attachment.type === "plan_file")
      state.plan = { ...state.plan, path: entry.attachment.path, text: entry.attachment.content }
  }
}

function followCall(state: Frontier, { tool, input, failed }: FinishedCall): void {
  if (failed) return
  if (tool === "TodoWrite" || tool === "todowrite") state.todos = todosIn(input.todos)
  else if (tool === "update_plan") state.todos = todosIn(input.plan)
  else if (tool === "EnterPlanMode") state.plan.active = true
  else if (tool === "ExitPlanMode" || tool === "exit_plan_mode") {
    const text = input.plan
    state.plan = { ...state.plan, active: false, ...(typeof text === "string" ? { text } : {}) }
  }
}

const STATUSES: ReadonlyMap<unknown, Todo["status"]> = new Map([
  ["pending", "pending"],
  ["in_progress", "in_progress"],
  ["completed", "completed"],
  ["done", "completed"],
])

function todosIn(given: unknown): readonly Todo[] {
  if (!Array.isArray(given)) return []
  return given.flatMap((item: unknown) => {
    const { content, step, status } = (item ?? {}) as { content?: unknown; step?: unknown; status?: unknown }
    const text = content ?? step
    return typeof text === "string" ? [{ content: text, status: STATUSES.get(status) ?? "pending" }] : []
  })
}
