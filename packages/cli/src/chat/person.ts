/** The person at the terminal, as the agent knows them: somebody who can be asked. */
import type { PermissionRequest } from "@strata/core/agent"
import { callWords } from "../display/wording.ts"
import type { Person } from "../session.ts"
import type { Dialog, DialogAnswer, DialogOption } from "./dialog.ts"
import { rulesFor } from "./permission-rules.ts"

export type DialogDraft = Omit<Dialog, "id" | "selected" | "from"> & Partial<Pick<Dialog, "selected" | "from">>
export type Ask = (dialog: DialogDraft) => Promise<DialogAnswer>

export interface PersonParts {
  readonly ask: Ask
  readonly project: string
  /** Allows what the rule names for the rest of the conversation. */
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
      if (chosen === NO) return { allowed: false, ...(answer.words === undefined ? {} : { remark: answer.words }) }
      if (chosen === YES) return { allowed: true }
      for (const rule of rules) allow(rule)
      return { allowed: true }
    },

    async askPerson({ text, options = [] }) {
      const other: DialogOption = { label: options.length === 0 ? "Answer" : "Something else", asksWords: "required" }
      const choices = [...options.map((label) => ({ label })), other]
      const answer = await ask({
        title: text,
        options: choices,
        ...(options.length === 0 ? { words: { text: "", cursor: 0 } } : {}),
      })
      return answer.type === "dismissed" ? undefined : (answer.words ?? options[answer.index])
    },

    async approvePlan(plan) {
      const answer = await ask({
        title: "Go ahead with this plan?",
        body: { form: "markdown", text: plan },
        options: PLAN_OPTIONS,
      })
      if (answer.type === "dismissed") return { approved: false }
      return { approved: answer.index === 0, ...(answer.words === undefined ? {} : { remark: answer.words }) }
    },
  }
}

const YES: DialogOption = { label: "Yes", letter: "y" }
const NO: DialogOption = { label: "No, and say why", letter: "n", asksWords: "optional" }

const PLAN_OPTIONS: readonly DialogOption[] = [
  { label: "Yes; edits in the project are then accepted", letter: "y" },
  { label: "No, keep planning, and say what to change", letter: "n", asksWords: "optional" },
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
