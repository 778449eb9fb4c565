/** The user at the terminal: answers the agent's questions through dialogs. */

import type { SessionUser } from "../session.ts"
import type { DialogAnswer, DialogDraft, DialogOption } from "./dialog.ts"
import { memoryDialog, permissionChoices, permissionDialog } from "./permission-dialog.ts"

export type Ask = (dialog: DialogDraft) => Promise<DialogAnswer>

export interface UserOptions {
  readonly ask: Ask
  readonly project: string
  /** Adds a rule for the rest of the conversation. */
  readonly allow: (rule: string) => void
}

export function terminalUser({ project, allow, ...parts }: UserOptions): Required<SessionUser> {
  const ask: Ask = (dialog) => parts.ask({ from: "agent", ...dialog })
  return {
    async askPermission(request) {
      if (request.background) {
        const answer = await ask({ ...memoryDialog(request), from: "background" })
        return { allowed: answer.type === "chosen" && answer.index === 0 }
      }
      const answer = await ask(permissionDialog({ request, project }))
      if (answer.type === "dismissed") return { allowed: false }
      const { allowed, rules } = permissionChoices(request)[answer.index]!
      if (!allowed) return { allowed, ...(answer.reply === undefined ? {} : { remark: answer.reply }) }
      for (const rule of rules) allow(rule)
      return { allowed }
    },

    async promptUser({ text, options = [] }) {
      const other: DialogOption = { label: options.length === 0 ? "Answer" : "Something else", asksReply: "required" }
      const choices = [...options.map((label) => ({ label })), other]
      const answer = await ask({
        title: text,
        options: choices,
        ...(options.length === 0 ? { reply: { text: "", cursor: 0 } } : {}),
      })
      return answer.type === "dismissed" ? undefined : (answer.reply ?? options[answer.index])
    },

    async approvePlan(plan) {
      const answer = await ask({
        title: "Go ahead with this plan?",
        body: { form: "markdown", text: plan },
        options: PLAN_OPTIONS,
      })
      if (answer.type === "dismissed") return { approved: false }
      return { approved: answer.index === 0, ...(answer.reply === undefined ? {} : { remark: answer.reply }) }
    },
  }
}

const PLAN_OPTIONS: readonly DialogOption[] = [
  { label: "Yes, and accept edits in the project", letter: "y" },
  { label: "No, keep planning (say what to change)", letter: "n", asksReply: "optional" },
]
