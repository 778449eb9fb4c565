/** Permission rules: `Tool`, `Tool(pattern)`. Determines which calls they match, and which rules can match nothing. */
import type { SimpleCommand } from "../../tools/command.ts"
import type { Tool } from "../../tools/tool.ts"
import { canMatchUrl } from "../tools/web/hosts.ts"
import { hasParentPart } from "./path-rules.ts"

export interface PermissionRule {
  readonly text: string
  readonly tool: string
  readonly pattern: string | undefined
}

export function parseRule(text: string): PermissionRule {
  const match = /^([^()\s]+)(?:\((.*)\))?$/s.exec(text.trim())
  const pattern = match?.[2]?.trim()
  return { text, tool: match?.[1] ?? text, pattern: pattern === "*" || pattern === "**" ? undefined : pattern }
}

/** Tools that read files. Rules for Read cover them, and rules for Edit cover the tools that write files. */
const READING_TOOLS = new Set(["Read", "Grep", "Glob"])
const WRITING_TOOLS = new Set(["Edit", "Write", "MultiEdit", "NotebookEdit"])

/** Whether a rule's tool matches. `mcp__server` and `mcp__server__*` match all tools of a server. */
export function toolFits(rule: string, tool: string): boolean {
  if (rule === tool || rule === "*") return true
  const prefix = rule.endsWith("*") ? rule.slice(0, -1) : rule.startsWith("mcp__") ? `${rule}__` : undefined
  return prefix !== undefined && tool.startsWith(prefix)
}

/** Whether a rule applies to reads by a tool. */
export const coversReading = ({ tool }: PermissionRule, by: string): boolean =>
  (tool === "Read" && READING_TOOLS.has(by)) || toolFits(tool, by)

/** Whether a rule applies to writes by a tool. `Edit(…)` covers all tools that write files. If `strict`, `Write(…)` does too. */
export function coversWriting(
  { tool, pattern }: PermissionRule,
  { by, strict }: { readonly by: string; readonly strict: boolean },
): boolean {
  if (!WRITING_TOOLS.has(by)) return toolFits(tool, by)
  return tool === "Edit" || toolFits(tool, by) || (strict && tool === "Write" && pattern !== undefined)
}

/** `possible`: the rule may match, depending on words that are only known when the command runs. */
export type RuleMatch = "certain" | "possible" | "no"

/**
 * Matches a command: `npm test:*` matches a prefix, `*` within a pattern any text. If `strict`, the program matches regardless of its path.
 */
export function commandFits(
  pattern: string,
  { words }: Pick<SimpleCommand, "words">,
  { strict }: { readonly strict: boolean },
): RuleMatch {
  const forms = strict ? [words, withoutPath(words)] : [words]
  const matches = forms.map((form) => fits(pattern, form))
  return matches.includes("certain") ? "certain" : matches.includes("possible") ? "possible" : "no"
}

function withoutPath([name, ...rest]: readonly (string | undefined)[]): readonly (string | undefined)[] {
  const bare = name?.slice(name.lastIndexOf("/") + 1)
  return [process.platform === "darwin" || process.platform === "win32" ? bare?.toLowerCase() : bare, ...rest]
}

function fits(pattern: string, words: readonly (string | undefined)[]): RuleMatch {
  const isPrefix = pattern.endsWith(":*")
  const patternWords = (isPrefix ? pattern.slice(0, -2) : pattern).trim().split(/\s+/)
  const firstUnknown = words.indexOf(undefined)
  const known = (firstUnknown < 0 ? words : words.slice(0, firstUnknown)) as readonly string[]
  if (patternWords.some((word) => word.includes("*")))
    return fitsText(patternWords.join(" "), { known, isOpen: firstUnknown >= 0, isPrefix })
  const shared = Math.min(patternWords.length, known.length)
  if (!patternWords.slice(0, shared).every((word, at) => word === known[at])) return "no"
  if (patternWords.length > known.length) return firstUnknown >= 0 ? "possible" : "no"
  if (isPrefix) return "certain"
  return firstUnknown >= 0 ? "possible" : patternWords.length === known.length ? "certain" : "no"
}

interface TextMatch {
  readonly known: readonly string[]
  /** Whether unknown words follow. */
  readonly isOpen: boolean
  readonly isPrefix: boolean
}

function fitsText(pattern: string, { known, isOpen, isPrefix }: TextMatch): RuleMatch {
  const parts = pattern.split("*").map((part) => part.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"))
  const text = known.join(" ")
  if (/\s/.test(known[0] ?? "")) return "no"
  // `npm run *` also matches `npm run`
  const whole = parts.join("[\\s\\S]*").replace(/ \[\\s\\S\]\*$/, "(?: [\\s\\S]*)?")
  if (!isOpen && new RegExp(`^${whole}${isPrefix ? "(?: [\\s\\S]*)?" : ""}$`).test(text)) return "certain"
  return isOpen && couldStart(pattern, text) ? "possible" : "no"
}

/** Whether an incomplete text could still match. */
function couldStart(pattern: string, text: string): boolean {
  const fixed = pattern.slice(0, pattern.indexOf("*"))
  return fixed.startsWith(text) || text.startsWith(fixed)
}

/** Permission rules by effect. */
export interface PermissionRules {
  readonly allow: readonly string[]
  readonly ask: readonly string[]
  readonly deny: readonly string[]
}

/** Sentences about rules that can never match, so that nobody relies on them. */
export function ruleProblems(
  { allow, ask, deny }: PermissionRules,
  tools: readonly Pick<Tool, "name">[] = [],
): readonly string[] {
  const sentences = (rules: readonly string[], strict: boolean) =>
    rules.flatMap((text) => {
      const why = ruleProblem(text, { tools, strict })
      return why === undefined ? [] : [`The permission rule "${text}" matches nothing: ${why}`]
    })
  return [...new Set([...sentences(allow, false), ...sentences([...ask, ...deny], true)])]
}

const WITHOUT_PATTERN = new Set(["TodoWrite", "AskUser", "EnterPlanMode", "ExitPlanMode", "BashOutput", "KillShell"])

interface RuleUse {
  readonly tools: readonly Pick<Tool, "name">[]
  /** Whether the rule denies or asks. Such rules match more than those that allow. */
  readonly strict: boolean
}

function ruleProblem(text: string, { tools, strict }: RuleUse): string | undefined {
  const match = /^([^()\s]+)(?:\((.*)\))?$/s.exec(text.trim())
  if (!match) return "it must be written as Tool or Tool(pattern)."
  const [, tool = "", pattern] = match
  const isKnown = BUILT_IN.has(tool) || tool.startsWith("mcp__") || tools.some(({ name }) => toolFits(tool, name))
  if (!isKnown) return `there is no tool named ${tool}.`
  if (pattern === undefined || pattern === "*") return undefined
  if (pattern.trim() === "") return "its pattern is empty."
  if (WITHOUT_PATTERN.has(tool)) return `${tool} has nothing that a pattern could match. Write ${tool} alone.`
  if (tool === "Bash") return /^\s*:\*/.test(pattern) ? "there is no command before :*." : undefined
  if (tool === "WebFetch" && !canMatchUrl({ pattern, withSubdomains: strict }))
    return "it is neither a domain nor a URL. Write domain:example.com, or https://example.com/docs/*."
  if (!READING_TOOLS.has(tool) && !WRITING_TOOLS.has(tool)) return undefined
  if (/^~[^/]/.test(pattern)) return "other users' home directories are not resolved. Write the complete path."
  if (/^\$(?:\{|[A-Z_]+(?:\/|$))/.test(pattern)) return "variables are not expanded. Write ~ or the whole path."
  if (!strict && /^[^/~]/.test(pattern) && hasParentPart(pattern))
    return "it goes up with .. and only rules that deny or ask may. Write the path without it."
  if (pattern.includes("\\") && !pattern.includes("/")) return "paths are written with /."
  return undefined
}

/** Tools that are known even if this agent lacks them, because settings are shared. */
const BUILT_IN = new Set([
  ...READING_TOOLS,
  ...WRITING_TOOLS,
  ...WITHOUT_PATTERN,
  "Bash",
  "WebFetch",
  "WebSearch",
  "Skill",
  "Task",
  "Agent",
  "ListMcpResources",
  "ReadMcpResource",
])
