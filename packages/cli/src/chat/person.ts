/** The person at the terminal: answers the agent's questions through dialogs. */
import type { PermissionRequest } from "@strata/core/internal"
import { callWords } from "../display/tool-calls.ts"
import type { Person } from "../session.ts"
import type { Dialog, DialogAnswer, DialogOption } from "./dialog.ts"
import { rulesFor } from "./permission-rules.ts"

export type DialogDraft = Omit<Dialog, "id" | "selected" | "from"> & Partial<Pick<Dialog, "selected" | "from">>
export type Ask = (dialog: DialogDraft) => Promise<DialogAnswer>

export interface PersonParts {
  readonly ask: Ask
  readonly project: string
  /** Adds a rule for the rest of the conversation. */
  readonly allow: (rule: string) => void
}

export function personAt({ project, allow, ...parts }: PersonParts): Required<Person> {
  const ask: Ask = (dialog) => parts.ask({ ...dialog, from: "agent" })
  return {
    async askPermission(request) {
      const rules = rulesFor(request, project)
      const answer = await ask(permissionDialog(request, rules))
      if (answer.type === "dismissed") return { allowed: false }
      const chosen = permissionOptions(rules)[answer.index]
      if (chosen === NO) return { allowed: false, ...(answer.reply === undefined ? {} : { remark: answer.reply }) }
      if (chosen === YES) return { allowed: true }
      for (const rule of rules) allow(rule)
      return { allowed: true }
    },

    async askPerson({ text, options = [] }) {
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

const YES: DialogOption = { label: "Yes", letter: "y" }
const NO: DialogOption = { label: "No (say why)", letter: "n", asksReply: "optional" }

const PLAN_OPTIONS: readonly DialogOption[] = [
  { label: "Yes, and accept edits in the project", letter: "y" },
  { label: "No, keep planning (say what to change)", letter: "n", asksReply: "optional" },
]

function permissionOptions(rules: readonly string[]): readonly DialogOption[] {
  if (rules.length === 0) return [YES, NO]
  return [YES, { label: `Yes, and don't ask again for ${rules.join(", ")}`, letter: "a" }, NO]
}

function permissionDialog({ tool, question, why }: PermissionRequest, rules: readonly string[]): DialogDraft {
  const { summary, preview, kind } = question
  return {
    title: callWords(tool, summary),
    ...(preview === undefined
      ? {}
      : { body: { form: kind === "write" ? ("diff" as const) : ("text" as const), text: preview } }),
    options: permissionOptions(rules),
    why,
  }
}
