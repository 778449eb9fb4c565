/**
 * "Yes, and don't ask again": the rules that allow a call from now on. They are narrow: a command with its sub-command, a directory,
 * a host. The person sees them before choosing.
 */

import { type PermissionRequest, simpleCommands } from "@strata/core/internal"

/** Programs with sub-commands: allowing `git commit` must not allow `git push`. */
const WITH_SUBCOMMANDS = new Set([
  ...["git", "gh", "npm", "npx", "pnpm", "yarn", "bun", "deno", "cargo", "go", "make", "just", "pip", "poetry", "uv"],
  ...["docker", "kubectl", "terraform", "dotnet", "gradle", "mvn", "bundle", "rails", "mix", "composer"],
])

const MOST_CHARACTERS = 80 // of a rule: a person would not write a longer one
const MOST_RULES = 3 // more are a list that no one checks

/** The rules to offer for a call. Empty where no rule is narrow and short: then there is only yes or no. */
export function offeredRules(request: Asked, project: string): readonly string[] {
  const rules = rulesFor(request, project)
  return rules.length <= MOST_RULES && rules.every((rule) => rule.length <= MOST_CHARACTERS) ? rules : []
}

type Asked = Pick<PermissionRequest, "tool" | "question">

function rulesFor({ tool, question }: Asked, project: string): readonly string[] {
  const { kind, subject, paths = [] } = question
  if (kind === "execute") return commandRules(tool, subject)
  if (kind === "network")
    return subject !== undefined && URL.canParse(subject) ? [`${tool}(domain:${new URL(subject).hostname})`] : []
  if (paths.length > 0)
    return paths.every((path) => path.startsWith(`${project}/`))
      ? [`${tool}(${project}/**)`]
      : paths.map((path) => `${tool}(${path})`)
  return kind === "other" ? [tool] : []
}

function commandRules(tool: string, line: string | undefined): readonly string[] {
  if (line === undefined || /[`\n]|\$\(|[<>]\(/.test(line)) return [] // may hide other commands, so no rule is safe
  return [...new Set(simpleCommands(line).map((command) => `${tool}(${patternFor(command)})`))]
}

function patternFor(command: string): string {
  const [program = "", subcommand = ""] = command.split(/\s+/)
  return WITH_SUBCOMMANDS.has(program) && /^[a-z][\w:-]*$/i.test(subcommand) ? `${program} ${subcommand}:*` : command
}

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
