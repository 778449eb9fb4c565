/**
 * Judges what a call may do, by the mode, the rules and the call. Paths are absolute, with symlinks followed. Deny wins over everything,
 * and no tool can write the files that Strata keeps. Command lines are judged as parsed, in judge-command.ts.
 */
import { commandFacts } from "../tools/shell/command/command-facts.ts"
import { urlFits } from "../tools/web/hosts.ts"
import { judgeCommand } from "./judge-command.ts"
import { pathFits } from "./path-rules.ts"
import {
  allow,
  allowUnasked,
  areMemories,
  ask,
  deny,
  isInside,
  isKept,
  isReadable,
  type Judgement,
  type PermissionPolicy,
  PLANNING,
  placeOf,
  type Request,
  setupAmong,
} from "./permission-policy.ts"
import { coversReading, coversWriting, parseRule, type Rule, toolFits } from "./rules.ts"

export { isInside, type Judgement, type PermissionPolicy, type Request } from "./permission-policy.ts"

export function judge(request: Request, policy: PermissionPolicy): Judgement {
  const { tool, isReadOnly, question } = request
  if (question.command)
    return judgeCommand({ ...request, isReadOnly: question.command.isReadOnly, facts: question.command }, policy)
  if (question.kind === "execute" && question.subject !== undefined)
    return judgeCommand(
      {
        ...request,
        facts: commandFacts(question.subject, { directory: policy.project, env: {}, shell: shellOf(tool) }),
      },
      policy,
    )
  const isMemory = question.kind === "write" && areMemories(question.paths ?? [], policy)
  const keptPath = question.kind === "write" && !isMemory && question.paths?.find((path) => isKept(path, policy))
  if (keptPath) return deny(`${keptPath} belongs to Strata, and no tool may write it`)
  const denied = findRule(policy.deny, request, { policy, quantifier: "any" })
  if (denied) return deny(`the rule "${denied}" forbids it`)
  if (policy.mode === "plan" && !isReadOnly && question.kind !== "ask") return deny(PLANNING)
  if (isMemory && policy.memory?.writes === "deny") return deny('the setting memory is "read-only"')
  if (policy.mode === "bypass") return allow("permissions are bypassed")
  const asked = findRule(policy.ask, request, { policy, quantifier: "any" })
  if (asked) return { ...ask(`the rule "${asked}" asks for it`), onlyUser: true }
  if (isMemory)
    return policy.memory?.writes === "ask"
      ? { ...ask('the setting memory is "ask"'), onlyUser: true }
      : allow("it writes a memory of this project")
  const setup = question.kind === "write" ? setupAmong(question.paths ?? [], policy) : undefined
  if (setup !== undefined) return { ...ask(`${setup} decides which programs run`), onlyUser: true }
  const allowed = findRule(policy.allow, request, { policy, quantifier: "all" })
  if (allowed) return allow(`the rule "${allowed}" allows it`)
  if (request.needsApproval) return ask(`${tool} asks for approval of every call`)
  if (request.needsApproval === false) return allowUnasked(`${tool} needs no approval`)
  return judgeByKind(tool, request, policy)
}

/** Which shell runs the line of another tool is not known. */
const shellOf = (tool: string): string => (tool === "Bash" ? "bash" : "sh")

function judgeByKind(tool: string, { isReadOnly, question }: Request, policy: PermissionPolicy): Judgement {
  const { kind, paths = [] } = question
  if (kind === "ask") return allow("it only asks the person")
  if (kind === "other" && isReadOnly) return allowUnasked("it changes nothing")
  if (kind === "read")
    return paths.every((path) => isReadable(path, policy))
      ? allowUnasked("reading in the project")
      : ask("it reads outside the project")
  if (kind === "write" && paths.length > 0 && policy.mode === "accept-edits") {
    const isInProject = paths.every((path) => isInside(path, policy.project))
    return isInProject ? allow("edits in the project are accepted") : ask("it writes outside the project")
  }
  return ask(`${tool} needs permission`)
}

interface Search {
  readonly policy: PermissionPolicy
  readonly quantifier: "any" | "all"
}

/** The first rule that fits. To deny or ask, one matching path is enough. To allow, every path must match a rule. */
function findRule(
  rules: readonly string[],
  { tool, question }: Request,
  { policy, quantifier }: Search,
): string | undefined {
  const strict = quantifier === "any"
  const isNamed = (rule: Rule) =>
    toolFits(rule.tool, tool) || (question.ruleName !== undefined && toolFits(rule.tool, question.ruleName))
  const covers = (rule: Rule): boolean => {
    if (question.kind === "read") return strict ? coversReading(rule, tool) : toolFits(rule.tool, tool)
    return question.kind === "write" ? coversWriting(rule, { by: tool, strict }) : isNamed(rule)
  }
  const fitting = rules.map(parseRule).filter(covers)
  const whole = fitting.find((rule) => rule.pattern === undefined)
  if (whole) return whole.text
  const subjects = question.subject === undefined ? (question.paths ?? []) : [question.subject]
  if (subjects.length === 0) return undefined
  // a domain covers its sub-domains where the rule restricts, and only itself where it allows
  const fits = (rule: Rule, subject: string) =>
    question.kind === "network"
      ? urlFits(subject, { pattern: rule.pattern!, withSubdomains: strict })
      : pathFits(rule.pattern!, subject, { ...placeOf(policy), strict })
  const found = subjects.map((subject) => fitting.find((rule) => fits(rule, subject)))
  const isFound = strict ? found.some((rule) => rule) : found.every((rule) => rule)
  return isFound ? found.find((rule) => rule)?.text : undefined
}
