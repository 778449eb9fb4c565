/**
 * Converts permission rules written for Claude Code. Some tools have other names in Strata, and in Claude Code a path with one leading
 * slash starts at the project.
 */
import { isPermissionRule } from "../base/enums.ts"
import type { Settings } from "./settings-schema.ts"

export const RULE_LISTS = ["allow", "ask", "deny"] as const
export type ClaudeRuleList = (typeof RULE_LISTS)[number]
export type RuleLists = Pick<Settings["permissions"], ClaudeRuleList>

export interface RuleContext {
  /** The directory where paths with one leading slash start. */
  readonly directory: string
  readonly list: ClaudeRuleList
}

/** Tool names of Claude Code 1.0 to 2.1, with their names in Strata. */
const RENAMED_TOOLS: Readonly<Record<string, string>> = {
  AskUserQuestion: "AskUser",
  KillBash: "KillShell",
  LS: "Glob",
  ListMcpResourcesTool: "ListMcpResources",
  NotebookRead: "Read",
  ReadMcpResourceTool: "ReadMcpResource",
  TaskOutput: "BashOutput",
  TaskStop: "KillShell",
}

/** Tools that Strata does not have. Rules that allow them are dropped. */
const UNSUPPORTED_TOOLS = new Set([
  "SlashCommand",
  "TodoRead",
  "LSP",
  "TaskCreate",
  "TaskGet",
  "TaskList",
  "TaskUpdate",
])

/** Converted rules, and rules that are not valid. */
export interface TranslatedRules {
  readonly rules: readonly string[]
  readonly notUnderstood: readonly string[]
}

export function translateRules(given: unknown, place: RuleContext): TranslatedRules {
  const isOne = typeof given === "string" && place.list !== "allow" // a single rule that denies or asks is accepted without a list
  const all: readonly unknown[] = Array.isArray(given) ? given : isOne ? [given] : []
  const isGood = (rule: unknown): rule is string => typeof rule === "string" && isPermissionRule(rule)
  const good = all.filter(isGood).filter((rule) => place.list !== "allow" || !UNSUPPORTED_TOOLS.has(ruleTool(rule)))
  return {
    rules: good.flatMap((rule) => expandRule(withStrataName(rule.trim()), place)),
    notUnderstood: all.filter((rule) => !isGood(rule)).map((rule) => (typeof rule === "string" ? rule : typeof rule)),
  }
}

const ruleTool = (rule: string): string => rule.trim().replace(/\(.*$/s, "")

function withStrataName(rule: string): string {
  const tool = ruleTool(rule)
  const ours = Object.hasOwn(RENAMED_TOOLS, tool) ? RENAMED_TOOLS[tool]! : tool
  return ours + rule.slice(tool.length)
}

/**
 * In Claude Code, a path with one leading slash starts at the project, and with two at the root of the disk. A rule that denies or asks
 * applies to both meanings, because users write both.
 */
function expandRule(rule: string, { directory, list }: RuleContext): string[] {
  const [, tool, path] = /^(Read|Edit|Write|MultiEdit|NotebookEdit|Grep|Glob)\((\/(?!\/).*)\)$/s.exec(rule) ?? []
  if (tool === undefined || path === undefined) return [rule]
  const inProject = `${tool}(${directory.replace(/[*?[\]{}\\]/g, "\\$&")}${path})`
  return list === "allow" ? [inProject] : [rule, inProject]
}

const TEXT = /"(?:[^"\\\n]|\\.)*"/y
const BETWEEN = /(?:[\s,]|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y

/**
 * Extracts the rules that deny or ask from a text that is not valid JSON, for example because of an extra comma. Restrictions must not be
 * lost with the rest of the file.
 */
export function parseRestrictingRules(text: string): Readonly<Record<"ask" | "deny", readonly string[]>> {
  const found = { ask: [] as string[], deny: [] as string[] }
  for (const { 0: opening, 1: list, index } of text.matchAll(/"(ask|deny)"\s*:\s*\[/g)) {
    let at = index + opening.length
    for (;;) {
      BETWEEN.lastIndex = at
      TEXT.lastIndex = at + (BETWEEN.exec(text)?.[0].length ?? 0)
      const [quoted] = TEXT.exec(text) ?? []
      if (quoted === undefined) break
      at = TEXT.lastIndex
      const rule = parseQuoted(quoted)
      if (rule !== undefined) found[list as "ask" | "deny"].push(rule)
    }
  }
  return found
}

function parseQuoted(text: string): string | undefined {
  try {
    return JSON.parse(text) as string
  } catch {
    return undefined
  }
}
