/**
 * "Yes, and don't ask again": the rules that would have allowed a call. They are as narrow as a person expects: a command with its
 * sub-command, a directory, a host. The person sees them before choosing.
 */

import { type PermissionRequest, simpleCommands } from "@strata/core/agent"

/** Programs whose first word says what is done: `git commit` may be allowed without allowing `git push`. */
const WITH_SUBCOMMANDS = new Set([
  ...["git", "gh", "npm", "npx", "pnpm", "yarn", "bun", "deno", "cargo", "go", "make", "just", "pip", "poetry", "uv"],
  ...["docker", "kubectl", "terraform", "dotnet", "gradle", "mvn", "bundle", "rails", "mix", "composer"],
])

/** Empty where no narrow rule exists: then there is nothing to offer but yes and no. */
export function rulesFor({ tool, question }: PermissionRequest, project: string): readonly string[] {
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
  if (line === undefined || /[`\n]|\$\(|[<>]\(/.test(line)) return [] // hides commands, so no rule could tell what it does
  return [...new Set(simpleCommands(line).map((command) => `${tool}(${patternFor(command)})`))]
}

function patternFor(command: string): string {
  const [program = "", subcommand = ""] = command.split(/\s+/)
  return WITH_SUBCOMMANDS.has(program) && /^[a-z][\w:-]*$/i.test(subcommand) ? `${program} ${subcommand}:*` : command
}
