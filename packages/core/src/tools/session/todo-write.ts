/** TodoWrite: replaces the conversation's todo list. */
import * as z from "zod/v4"
import type { Todo } from "../../messages/attachments.ts"
import type { Tool } from "../tool.ts"

const inputSchema = z.object({
  todos: z
    .array(
      z.object({
        content: z.string().min(1).describe("The task: Fix the failing parser test."),
        status: z.enum(["pending", "in_progress", "completed"]),
        activeForm: z.string().optional().describe("The same in progress: Fixing the failing parser test."),
      }),
    )
    .describe("The whole list, in working order. It replaces the previous one."),
})
type TodoWriteInput = z.infer<typeof inputSchema>

export const todoWrite: Tool<TodoWriteInput> = {
  name: "TodoWrite",
  description: `Keeps the todo list of this conversation. The person sees it, and it survives when older messages are summarised.

Use it for work of three or more steps, or for several requests at once. A single small step needs no list. Give the whole list each time. Keep exactly one todo in_progress. Mark it completed as soon as it is done and checked, and add what you find on the way. Work that failed or is half done is not completed.`,
  inputSchema,
  limitsItself: true,
  readOnly: true, // it changes only the todo list, which plan mode needs too
  question: ({ todos }) => ({ kind: "other", summary: `note ${todos.length} todos` }),
  async execute({ todos }, context) {
    context.todos.set(todos.map(({ content, status }): Todo => ({ content, status })))
    return { content: summaryOf(todos) }
  },
}

function summaryOf(todos: TodoWriteInput["todos"]): string {
  if (todos.length === 0) return "The todo list is empty."
  const count = (status: Todo["status"]) => todos.filter((todo) => todo.status === status).length
  const active = count("in_progress")
  const counts = `Noted: ${count("completed")} completed, ${active} in progress, ${count("pending")} pending.`
  return active > 1 ? `${counts} More than one is in progress: work on one at a time.` : counts
}
