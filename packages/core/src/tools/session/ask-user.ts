/** AskUser: a question only the person can answer. */
import { z } from "zod/v4"
import { unlessInterrupted } from "../interruption.ts"
import type { Tool, ToolOutput } from "../tool.ts"

const inputSchema = z.object({
  question: z.string().min(1).describe("One clear question, with what one must know to answer it."),
  options: z
    .array(z.string().min(1))
    .max(8)
    .optional()
    .describe("Answers to choose from, the one you recommend first. The person may answer otherwise."),
})

export const askUser: Tool<z.infer<typeof inputSchema>> = {
  name: "AskUser",
  description:
    "Asks the person a question and waits for the answer. Use it where the answer changes what you do and cannot be found in the files: wishes, priorities, access. Do not ask for permission to go on, nor what a look at the code would tell.",
  inputSchema,
  limitsItself: true,
  readOnly: true,
  question: ({ question }) => ({ kind: "ask", summary: question }),
  async execute({ question, options }, { askPerson, signal }) {
    if (!askPerson) return unanswered("There is nobody to ask.")
    const asked = askPerson({ text: question, ...(options ? { options } : {}) })
    const answer = await unlessInterrupted(signal, asked)
    if (answer.state === "interrupted") return { content: "Interrupted before an answer came.", isError: true }
    if (answer.value === undefined || answer.value.trim() === "") return unanswered("No answer came.")
    return { content: `The person answers: ${answer.value}` }
  },
}

function unanswered(why: string): ToolOutput {
  return {
    content: `${why} Decide by what is known, choose what is easiest to undo, and say in your answer what you assumed.`,
    isError: true,
  }
}
