/** "Yes, and don't ask again": the rules that are offered for a call. */
import type { PermissionQuestion } from "../../tools/tool.ts"
import { judge } from "./permissions.ts"
import { suggestedRules } from "./suggested-rules.ts"

const MOST_CHARACTERS = 80 // of a rule: a person would not write a longer one
const MOST_RULES = 3 // more are a list that no one checks

type Judgement = ReturnType<typeof judge>

interface Asked {
  readonly tool: string
  readonly question: PermissionQuestion
  readonly onlyPerson?: true
}

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
