/** "Yes, and don't ask again": the rules that are offered for a call, and what each one allows. */
import type { PermissionRequest } from "@strata/core/internal"
import { judge } from "@strata/core/internal/agent/permissions/permissions"
import { suggestedRules } from "@strata/core/internal/agent/permissions/suggested-rules"

const MOST_CHARACTERS = 80 // of a rule: a person would not write a longer one
const MOST_RULES = 3 // more are a list that no one checks

type Judgement = ReturnType<typeof judge>
type Asked = Pick<PermissionRequest, "tool" | "question" | "onlyPerson">

/** Empty where no rule is narrow and short, or where it would ask again all the same: then there is only yes or no. */
export function offeredRules(request: Asked, project: string): readonly string[] {
  if (request.onlyPerson) return []
  const rules = suggestedRules(request, project)
  const isShort = rules.length <= MOST_RULES && rules.every((rule) => rule.length <= MOST_CHARACTERS)
  if (!isShort || isOnlyForPerson(judged([], { request, project }))) return []
  return judged(rules, { request, project }).verdict === "allow" ? rules : []
}

function judged(
  allow: readonly string[],
  { request, project }: { readonly request: Asked; readonly project: string },
): Judgement {
  const { tool, question } = request
  return judge({ tool, question, isReadOnly: false }, { mode: "ask", allow, ask: [], deny: [], project, kept: [] })
}

/** Each such call is a decision of its own: a file that runs code later. */
const isOnlyForPerson = (judgement: Judgement): boolean => judgement.verdict === "ask" && judgement.onlyPerson === true

/** What a rule allows, as the end of a sentence. */
export function ruleMeaning(rule: string): string {
  const [, tool = rule, pattern] = /^([^(]+)\((.*)\)$/s.exec(rule) ?? []
  if (pattern === undefined) return `every call of ${tool}, with any input`
  if (pattern.startsWith("domain:")) return `every page of ${pattern.slice("domain:".length)}`
  if (pattern.endsWith(":*")) return `every command that starts with "${pattern.slice(0, -":*".length)}"`
  if (tool === "Bash") return "exactly this command"
  return pattern.endsWith("/**")
    ? `${tool} for every file below ${pattern.slice(0, -"/**".length)}`
    : `${tool} for ${pattern} only`
}
