/** AskUser: asks a question that only the user can answer. */
import * as z from "zod/v4"
import { unlessInterrupted } from "../../base/work.ts"
import type { Tool, ToolOutput } from "../tool.ts"

const inputSchema = z.object({
  question: z.string().min(1).describe("One clear question, with the context needed to answer it."),
  options: z
    .array(z.string().min(1))
    .max(8)
    .optional()
    .describe("Answers to choose from, your recommendation first. The person may give another answer."),
})

export const askUser: Tool<z.infer<typeof inputSchema>> = {
  name: "AskUser",
  description:
    "Asks the person a question and waits for the answer. Use it when the answer changes what you do and is not in the files: preferences, priorities, access. Do not ask for permission to continue, or for anything you can find in the code.",
  inputSchema,
  limitsItself: true,
  readOnly: true,
  question: ({ question }) => ({ kind: "ask", summary: question }),
  async execute({ question, options }, { promptUser, signal }) {
    if (!promptUser) return unanswered("There is no one to ask.")
    const pending = promptUser({ text: question, ...(options ? { options } : {}) })
    const answer = await unlessInterrupted(signal, pending)
    if (answer.state === "interrupted") return { content: "Interrupted before an answer came.", isError: true }
    if (answer.value === undefined || answer.value.trim() === "") return unanswered("No answer came.")
    return { content: `The person answers: ${answer.value}` }
  },
}

function unanswered(why: string): ToolOutput {
  return {
    content: `${why} Decide with what you know, choose what is easiest to undo, and say in your answer what you assumed.`,
    isError: true,
  }
}
