/**
 * Judges what a call may do: a pure function of the mode, the rules and the call. Paths are absolute, with symlinks followed. Deny wins
 * over everything, and no tool can write the files that Strata keeps.
 */
import { matchesGlob, relative, sep } from "node:path"
import type { PermissionMode } from "../base/vocabulary.ts"
import type { PermissionQuestion } from "../tools/tool.ts"
import { urlFits } from "../tools/web/hosts.ts"

export interface PermissionPolicy {
  readonly mode: PermissionMode
  /** Rules: `Tool`, `Tool(pattern)`. A pattern is a glob for paths; for commands the whole line or its start (`npm test:*`). */
  readonly allow: readonly string[]
  readonly ask: readonly string[]
  readonly deny: readonly string[]
  /** The project's directory. Reading in it needs no permission. */
  readonly project: string
  /** Other directories that need no permission to read: where this project's large results were put aside. */
  readonly readable?: readonly string[]
  /** Directories that no tool may write to: journals, locks, memories. */
  readonly kept: readonly string[]
}

export interface Request {
  readonly tool: string
  readonly isReadOnly: boolean
  /** What the tool itself says. Rules that deny, ask or allow come first. */
  readonly needsApproval?: boolean | undefined
  readonly question: PermissionQuestion
}

export type Judgement =
  | { readonly verdict: "allow"; readonly why: string }
  /** `onlyPerson`: a hook cannot say yes in place of the person. */
  | { readonly verdict: "ask"; readonly why: string; readonly onlyPerson?: true }
  | { readonly verdict: "deny"; readonly why: string }

export function judge(request: Request, policy: PermissionPolicy): Judgement {
  const { tool, isReadOnly, question } = request
  const writes = question.kind === "write" || question.kind === "execute"
  const keptPath = writes && question.paths?.find((path) => policy.kept.some((kept) => isInside(path, kept)))
  if (keptPath) return deny(`${keptPath} belongs to Strata, and no tool may write it`)
  const denied = findRule(policy.deny, request, "any")
  if (denied) return deny(`the rule "${denied}" forbids it`)
  if (policy.mode === "plan" && !isReadOnly && question.kind !== "ask")
    return deny("plan mode is on: read and plan, change nothing")
  if (policy.mode === "bypass") return allow("permissions are bypassed")
  const asked = findRule(policy.ask, request, "any")
  if (asked) return { ...ask(`the rule "${asked}" asks for it`), onlyPerson: true }
  const allowed = findRule(policy.allow, request, "all")
  if (allowed) return allow(`the rule "${allowed}" allows it`)
  if (request.needsApproval) return ask(`${tool} asks for approval of every call`)
  if (request.needsApproval === false) return allow(`${tool} needs no approval`)
  return judgeByKind(tool, request, policy)
}

function judgeByKind(tool: string, { isReadOnly, question }: Request, policy: PermissionPolicy): Judgement {
  const { project, readable = [] } = policy
  const inProject = (question.paths ?? []).every((path) => isInside(path, project))
  const mayRead = (question.paths ?? []).every((path) => [project, ...readable].some((place) => isInside(path, place)))
  if (question.kind === "ask") return allow("it only asks the person")
  if (question.kind === "other" && isReadOnly) return allow("it changes nothing")
  if (question.kind === "read") return mayRead ? allow("reading in the project") : ask("it reads outside the project")
  if (question.kind === "execute" && isReadOnly)
    return inProject ? allow("the command changes nothing") : ask("it looks outside the project")
  if (question.kind === "write" && question.paths?.length) return judgeEdit(tool, question, policy)
  return ask(`${tool} needs permission`)
}

function judgeEdit(tool: string, { paths = [] }: PermissionQuestion, { project, mode }: PermissionPolicy): Judgement {
  const setup = paths.find((path) => runsPrograms(shortened(path, project)))
  if (setup !== undefined)
    return { ...ask(`${shortened(setup, project)} decides which programs run`), onlyPerson: true }
  if (mode !== "accept-edits") return ask(`${tool} needs permission`)
  if (!paths.every((path) => isInside(path, project))) return ask("it writes outside the project")
  return allow("edits in the project are accepted")
}

const shortened = (path: string, project: string) => (isInside(path, project) ? relative(project, path) : path)

/**
 * Files that other programs take orders from. An accepted edit of one would run a command without a question: `git status` runs what
 * `.git/config` names, and an agent runs the hooks in `.strata`. A file named `HEAD` can make any directory a repository.
 */
const SETUP_DIRECTORIES = new Set([".git", ".strata", ".claude", ".vscode", ".idea", ".husky", ".devcontainer"])
const SETUP_FILES = new Set([
  ...["head", ".gitconfig", ".gitmodules", ".mcp.json", ".envrc", ".ripgreprc"],
  ...[
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
  ],
])

/** Upper and lower case are one, as on the file systems of macOS and Windows. */
function runsPrograms(path: string): boolean {
  const names = path.toLowerCase().split(sep)
  return names.some((name) => SETUP_DIRECTORIES.has(name)) || SETUP_FILES.has(names.at(-1)!)
}

const allow = (why: string): Judgement => ({ verdict: "allow", why })
const ask = (why: string) => ({ verdict: "ask", why }) as const
const deny = (why: string): Judgement => ({ verdict: "deny", why })

/**
 * The first rule that fits. To deny or ask, one matching path or command is enough. To allow, every one must match a rule, so a rule for
 * `npm test` does not allow `npm test && rm -rf /`.
 */
function findRule(
  rules: readonly string[],
  { tool, question }: Request,
  quantifier: "any" | "all",
): string | undefined {
  const subjects = subjectsOf(question)
  const fitting = rules.map(parseRule).filter((rule) => toolFits(rule.tool, tool))
  const whole = fitting.find((rule) => rule.pattern === undefined)
  if (whole) return whole.text
  if (subjects.length === 0 || (quantifier === "all" && hidesCommands(question))) return undefined
  // a domain covers its sub-domains where the rule restricts, and only itself where it allows
  const withSubdomains = quantifier === "any"
  const fits = (rule: Rule, subject: string) =>
    question.kind === "network"
      ? urlFits(subject, { pattern: rule.pattern!, withSubdomains })
      : patternFits(rule.pattern!, subject, question)
  const found = subjects.map((subject) => fitting.find((rule) => fits(rule, subject)))
  const isFound = quantifier === "any" ? found.some((rule) => rule) : found.every((rule) => rule)
  return isFound ? found.find((rule) => rule)?.text : undefined
}

/** What patterns are matched with: each path, or each simple command of a command line. */
function subjectsOf(question: PermissionQuestion): readonly string[] {
  if (question.kind === "execute" && question.subject !== undefined) return simpleCommands(question.subject)
  if (question.subject !== undefined) return [question.subject]
  return question.paths ?? []
}

/** The commands that a line runs, in order. */
export function simpleCommands(line: string): readonly string[] {
  return line
    .split(/\s*(?:&&|\|\||[;|&\n])\s*/)
    .map((part) => part.trim())
    .filter((part) => part !== "")
}

/** A line with a command inside another cannot be judged by how its commands start. */
function hidesCommands({ kind, subject = "" }: PermissionQuestion): boolean {
  return kind === "execute" && /`|\$\(|[<>]\(/.test(subject)
}

interface Rule {
  readonly text: string
  readonly tool: string
  readonly pattern: string | undefined
}

function parseRule(text: string): Rule {
  const match = /^([^()\s]+)(?:\((.*)\))?$/s.exec(text.trim())
  const pattern = match?.[2]
  return { text, tool: match?.[1] ?? text, pattern: pattern === "" || pattern === "*" ? undefined : pattern }
}

/** `mcp__server` and `mcp__server__*` name all tools of a server. */
function toolFits(rule: string, tool: string): boolean {
  if (rule === tool || rule === "*") return true
  const prefix = rule.endsWith("*") ? rule.slice(0, -1) : rule.startsWith("mcp__") ? `${rule}__` : undefined
  return prefix !== undefined && tool.startsWith(prefix)
}

function patternFits(pattern: string, subject: string, question: PermissionQuestion): boolean {
  if (question.kind === "execute") {
    if (!pattern.endsWith(":*")) return subject === pattern
    const beginning = pattern.slice(0, -2)
    return subject === beginning || subject.startsWith(`${beginning} `)
  }
  return matchesGlob(subject, pattern) || isInside(subject, pattern.replace(/\/\*\*$/, ""))
}

export function isInside(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith(sep) ? directory : directory + sep)
}
