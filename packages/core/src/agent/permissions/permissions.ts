/**
 * Judges a call by the mode, the rules and its effect. Paths are absolute, with symbolic links resolved. Deny takes precedence, and no tool
 * can write Strata's files. Command lines are judged in judge-command.ts.
 */
import { commandFacts } from "../tools/shell/command/command-facts.ts"
import { matchesUrl } from "../tools/web/hosts.ts"
import { judgeCommand } from "./judge-command.ts"
import { pathFits } from "./path-rules.ts"
import {
  allow,
  allowUnapproved,
  areMemories,
  ask,
  deny,
  isInside,
  isProtected,
  isReadable,
  type Judgement,
  type JudgementRequest,
  type PermissionPolicy,
  PLANNING,
  pathRoots,
  setupAmong,
} from "./permission-policy.ts"
import { coversReading, coversWriting, type PermissionRule, parseRule, toolFits } from "./rules.ts"

export { isInside, type Judgement, type JudgementRequest, type PermissionPolicy } from "./permission-policy.ts"

export function judge(request: JudgementRequest, policy: PermissionPolicy): Judgement {
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
  const keptPath = question.kind === "write" && !isMemory && question.paths?.find((path) => isProtected(path, policy))
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
  if (request.needsApproval === false) return allowUnapproved(`${tool} needs no approval`)
  return judgeByKind(tool, request, policy)
}

/** The shell of a tool. For tools other than Bash it is unknown. */
const shellOf = (tool: string): string => (tool === "Bash" ? "bash" : "sh")

function judgeByKind(tool: string, { isReadOnly, question }: JudgementRequest, policy: PermissionPolicy): Judgement {
  const { kind, paths = [] } = question
  if (kind === "ask") return allow("it only asks the person")
  if (kind === "other" && isReadOnly) return allowUnapproved("it changes nothing")
  if (kind === "read")
    return paths.every((path) => isReadable(path, policy))
      ? allowUnapproved("reading in the project")
      : ask("it reads outside the project")
  if (kind === "write" && paths.length > 0 && policy.mode === "accept-edits") {
    const isInProject = paths.every((path) => isInside(path, policy.project))
    return isInProject ? allow("edits in the project are accepted") : ask("it writes outside the project")
  }
  return ask(`${tool} needs permission`)
}

interface RuleSearch {
  readonly policy: PermissionPolicy
  readonly quantifier: "any" | "all"
}

/** The first matching rule. To deny or ask, one matching path is enough. To allow, every path must match a rule. */
function findRule(
  rules: readonly string[],
  { tool, question }: JudgementRequest,
  { policy, quantifier }: RuleSearch,
): string | undefined {
  const strict = quantifier === "any"
  const isNamed = (rule: PermissionRule) =>
    toolFits(rule.tool, tool) || (question.ruleName !== undefined && toolFits(rule.tool, question.ruleName))
  const covers = (rule: PermissionRule): boolean => {
    if (question.kind === "read") return strict ? coversReading(rule, tool) : toolFits(rule.tool, tool)
    return question.kind === "write" ? coversWriting(rule, { by: tool, strict }) : isNamed(rule)
  }
  const fitting = rules.map(parseRule).filter(covers)
  const whole = fitting.find((rule) => rule.pattern === undefined)
  if (whole) return whole.text
  const subjects = question.subject === undefined ? (question.paths ?? []) : [question.subject]
  if (subjects.length === 0) return undefined
  // a domain includes its subdomains if the rule restricts, and only itself if it allows
  const fits = (rule: PermissionRule, subject: string) =>
    question.kind === "network"
      ? matchesUrl(subject, { pattern: rule.pattern!, withSubdomains: strict })
      : pathFits(rule.pattern!, subject, { ...pathRoots(policy), strict })
  const found = subjects.map((subject) => fitting.find((rule) => fits(rule, subject)))
  const isFound = strict ? found.some((rule) => rule) : found.every((rule) => rule)
  return isFound ? found.find((rule) => rule)?.text : undefined
}
