/** "Yes, and don't ask again": the rules that are offered for a call. */
import type { PermissionQuestion } from "../../tools/tool.ts"
import { judge } from "./permissions.ts"
import { exactRules, suggestedRules } from "./suggested-rules.ts"

const MOST_CHARACTERS = 80 // of a rule: a person would not write a longer one
const MOST_EXACT = 160 // a command or a path as it is, which the person can compare
const MOST_RULES = 3 // more are a list that no one checks

type Judgement = ReturnType<typeof judge>

interface Asked {
  readonly tool: string
  readonly question: PermissionQuestion
  readonly onlyPerson?: true
}

/** Each list allows the call. Where no rule is narrow and short, or it would ask again all the same, there is only yes or no. */
export interface OfferedRules {
  /** For calls like this one: a command with its subcommand, a directory. Without such rules, for exactly this one. */
  readonly rules: readonly string[]
  /** For exactly this call, where `rules` allow more. */
  readonly exactRules?: readonly string[]
}

export function offeredRules(request: Asked, project: string): OfferedRules {
  if (request.onlyPerson || isOnlyForPerson(judged([], { request, project }))) return { rules: [] }
  const allows = (rules: readonly string[], most: number) =>
    rules.length > 0 &&
    rules.length <= MOST_RULES &&
    rules.every((rule) => rule.length <= most) &&
    judged(rules, { request, project }).verdict === "allow"
  const wide = [suggestedRules(request, project)].filter((rules) => allows(rules, MOST_CHARACTERS))
  const exact = exactRules(request, project).filter((rules) => allows(rules, MOST_EXACT))
  const [rules = [], narrower] = [...wide, ...exact.slice(0, 1)]
  return narrower === undefined || narrower.join() === rules.join() ? { rules } : { rules, exactRules: narrower }
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
