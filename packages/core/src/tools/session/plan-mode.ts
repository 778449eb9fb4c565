/** EnterPlanMode and ExitPlanMode: the model explores first, and changes things only after the user has approved a plan. */
import * as z from "zod/v4"
import { unlessInterrupted } from "../../base/work.ts"
import type { Tool, ToolOutput } from "../tool.ts"

const SUMMARY_CHARACTERS = 100
const enterSchema = z.object({})

export const enterPlanMode: Tool<z.infer<typeof enterSchema>> = {
  name: "EnterPlanMode",
  description:
    "Turns plan mode on: until a plan is approved, only calls that change nothing are run. Use it when a task is large, has several solutions, or is hard to undo, and the person has not said how to do it.",
  inputSchema: enterSchema,
  limitsItself: true,
  readOnly: true,
  question: () => ({ kind: "other", summary: "plan before changing anything" }),
  async execute(_, { plan }) {
    if (plan.isActive()) return { content: "Plan mode is on already." }
    plan.enter()
    return {
      content:
        "Plan mode is on: read and plan, change nothing. When you know what to do, call ExitPlanMode with the plan. Use AskUser for what only the person can decide.",
    }
  },
}

const exitSchema = z.object({
  plan: z.string().min(1).describe("The plan in markdown: what to change, where, in which order, and how to check it."),
})

/** Read-only, because it is called in plan mode. The user decides. */
export const exitPlanMode: Tool<z.infer<typeof exitSchema>> = {
  name: "ExitPlanMode",
  description:
    "Shows the plan to the person and asks for approval. Approval turns plan mode off. Call it only when the plan is complete; ask questions before, with AskUser.",
  inputSchema: exitSchema,
  limitsItself: true,
  readOnly: true,
  question: ({ plan }) => ({ kind: "ask", summary: `approve: ${firstLineOf(plan)}`, preview: plan }),
  async execute({ plan }, context) {
    if (!context.plan.isActive())
      return failed("Plan mode is not on, so there is nothing to approve. Continue with the work.")
    const answer = await unlessInterrupted(context.signal, context.plan.leave(plan))
    if (answer.state === "interrupted") return failed("Interrupted before the plan was approved. Plan mode stays on.")
    const { approved, remark } = answer.value
    const remarkText = remark ? ` The person says: ${remark}` : ""
    return approved
      ? { content: `The plan is approved and plan mode is off: carry it out.${remarkText}` }
      : failed(
          `The plan is not approved, and plan mode stays on.${remarkText || " Improve it, or ask what is missing."}`,
        )
  },
}

/** An error result, so that the work-state view knows that the mode did not change. */
const failed = (content: string): ToolOutput => ({ content, isError: true })

function firstLineOf(plan: string): string {
  const line = plan.trim().split("\n")[0]!
  return line.length > SUMMARY_CHARACTERS ? `${line.slice(0, SUMMARY_CHARACTERS)}…` : line
}
