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

/** Empty where no narrow rule exists: the dialog then offers only yes and no. */
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
  if (line === undefined || /[`\n]|\$\(|[<>]\(/.test(line)) return [] // may hide other commands, so no rule is safe
  return [...new Set(simpleCommands(line).map((command) => `${tool}(${patternFor(command)})`))]
}

function patternFor(command: string): string {
  const [program = "", subcommand = ""] = command.split(/\s+/)
  return WITH_SUBCOMMANDS.has(program) && /^[a-z][\w:-]*$/i.test(subcommand) ? `${program} ${subcommand}:*` : command
}
