/**
 * "Yes, and don't ask again": the rules a person would write to allow a call from now on. They are narrow: a command with its subcommand,
 * a directory, a host. Where a rule would allow anything, none is suggested.
 */
import { dirname, relative } from "node:path"
import type { CommandFacts, SimpleCommand } from "../../tools/shell/command/facts.ts"
import type { PermissionQuestion } from "../../tools/tool.ts"
import { isInside } from "./permission-policy.ts"

const listed = (text: string): ReadonlySet<string> => new Set(text.split(/[,\n]\s*/).map((word) => word.trim()))

/** Programs with subcommands: allowing `git commit` must not allow `git push`. */
const WITH_SUBCOMMANDS =
  listed(`git, gh, glab, jj, svn, hg, npm, npx, pnpm, yarn, bun, bunx, deno, nx, turbo, cargo, rustup,
  go, make, just, task, pip, pip3, pipx, poetry, uv, uvx, conda, docker, podman, kubectl, helm, terraform, tofu, aws, gcloud, az, fly,
  dotnet, gradle, gradlew, mvn, mvnw, sbt, bundle, rails, mix, composer, brew, apt, apt-get, dnf, yum, pacman, systemctl, swift, flutter,
  dart, zig, bazel`)
/** Of these the third word says what runs: `npm run build`, `docker compose up`. */
const WITH_TWO_SUBCOMMANDS =
  listed(`npm run, pnpm run, yarn run, bun run, deno task, docker compose, git stash, git remote, git worktree,
  git submodule, gh pr, gh issue, gh run, go tool, npm exec, pnpm exec, pnpm dlx, yarn dlx, uv run,
  poetry run, bundle exec`)
/** What runs other programs or code given to it. A rule for how such a line begins would allow anything. */
const RUNS_ANYTHING =
  listed(`bash, sh, dash, zsh, ksh, fish, eval, exec, source, ., env, xargs, sudo, doas, su, ssh, nohup, command,
  builtin, time, timeout, nice, ionice, stdbuf, setsid, watch, parallel, find, fd, awk, gawk, python, python3, node, ruby, perl, php, lua,
  osascript, powershell, pwsh, busybox, chroot, strace, docker run, docker exec`)
/** What deletes or overwrites: allowed once, not for any argument. */
const DESTROYS = listed("rm, rmdir, dd, shred, mkfs, truncate, chmod, chown, kill, pkill, killall")

export interface SuggestionRequest {
  readonly tool: string
  readonly question: PermissionQuestion
}

/** Empty where no narrow rule exists. */
export function suggestedRules({ tool, question }: SuggestionRequest, project: string): readonly string[] {
  const { kind, subject, paths = [], command } = question
  if (command) return commandRules(tool, command, project)
  if (kind === "execute") return []
  if (kind === "network")
    return subject !== undefined && URL.canParse(subject) ? [`${tool}(domain:${new URL(subject).hostname})`] : []
  if (paths.length > 0) return [...new Set(paths.map((path) => `${tool}(${placeOf(path, project)})`))]
  return kind === "other" ? [tool] : []
}

/** In the project: the directory at its top. Outside: only this file. */
function placeOf(path: string, project: string): string {
  if (path === project || !isInside(path, project)) return path
  const directory = dirname(relative(project, path)).split("/")[0]!
  return directory === "." ? `./${relative(project, path)}` : `${directory}/**`
}

function commandRules(tool: string, { commands, redirections }: CommandFacts, project: string): readonly string[] {
  const asked = commands.filter(({ isReadOnly, isGuess }) => !isReadOnly && !isGuess)
  const patterns = asked.map(patternFor)
  const written = redirections.writes.map(({ path }) => (path === undefined ? undefined : filePattern(path, project)))
  if ([...patterns, ...written].some((pattern) => pattern === undefined)) return []
  return [
    ...new Set([...patterns.map((pattern) => `${tool}(${pattern})`), ...written.map((pattern) => `Edit(${pattern})`)]),
  ]
}

/** A redirection is allowed for its file alone. */
const filePattern = (path: string, project: string): string =>
  isInside(path, project) ? `./${relative(project, path)}` : path

function patternFor({ words, changesEnvironment }: SimpleCommand): string | undefined {
  const known = words.indexOf(undefined)
  const first = (known < 0 ? words : words.slice(0, known)) as readonly string[]
  const [program, subcommand = "", third = ""] = first
  if (program === undefined || changesEnvironment || !isPlain(program)) return undefined
  const exact = known < 0 && words.every((word) => isPlain(word!)) ? words.join(" ") : undefined
  const name = program.slice(program.lastIndexOf("/") + 1)
  const two = `${name} ${subcommand}`
  if (RUNS_ANYTHING.has(name) || RUNS_ANYTHING.has(two) || DESTROYS.has(name)) return exact
  if (!WITH_SUBCOMMANDS.has(name)) return `${program}:*`
  if (!isSubcommand(subcommand)) return exact
  if (!WITH_TWO_SUBCOMMANDS.has(two)) return `${program} ${subcommand}:*`
  return isSubcommand(third) ? `${program} ${subcommand} ${third}:*` : exact
}

/** A word that a rule can hold as it is. */
const isPlain = (word: string): boolean => /^[^\s*()]+$/.test(word)
const isSubcommand = (word: string): boolean => /^[a-z][\w:.-]*$/i.test(word)
