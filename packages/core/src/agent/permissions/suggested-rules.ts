/**
 * Suggests rules for "Yes, and don't ask again". They are narrow: a command with its subcommand, a directory, a host. If a rule would allow
 * anything, none is suggested.
 */
import { dirname, relative } from "node:path"
import type { CommandLineFacts, SimpleCommand } from "../../tools/command.ts"
import type { PermissionQuestion } from "../../tools/tool.ts"
import { isInside } from "./permission-policy.ts"

const wordSet = (text: string): ReadonlySet<string> => new Set(text.split(/[,\n]\s*/).map((word) => word.trim()))

/** Programs with subcommands: allowing `git commit` must not allow `git push`. */
const WITH_SUBCOMMANDS =
  wordSet(`git, gh, glab, jj, svn, hg, npm, npx, pnpm, yarn, bun, bunx, deno, nx, turbo, cargo, rustup,
  go, make, just, task, pip, pip3, pipx, poetry, uv, uvx, conda, docker, podman, kubectl, helm, terraform, tofu, aws, gcloud, az, fly,
  dotnet, gradle, gradlew, mvn, mvnw, sbt, bundle, rails, mix, composer, brew, apt, apt-get, dnf, yum, pacman, systemctl, swift, flutter,
  dart, zig, bazel`)
/** Commands whose third word determines what runs: `npm run build`, `docker compose up`. */
const WITH_TWO_SUBCOMMANDS =
  wordSet(`npm run, pnpm run, yarn run, bun run, deno task, docker compose, git stash, git remote, git worktree,
  git submodule, gh pr, gh issue, gh run, go tool, npm exec, pnpm exec, pnpm dlx, yarn dlx, uv run,
  poetry run, bundle exec`)
/** Programs that run other programs or code. A prefix rule for them would allow anything. */
const RUNS_ANYTHING =
  wordSet(`bash, sh, dash, zsh, ksh, fish, eval, exec, source, ., env, xargs, sudo, doas, su, ssh, nohup, command,
  builtin, time, timeout, nice, ionice, stdbuf, setsid, watch, parallel, find, fd, awk, gawk, python, python3, node, ruby, perl, php, lua,
  osascript, powershell, pwsh, busybox, chroot, strace, docker run, docker exec`)
/** Programs that delete or overwrite. Only the exact command is suggested. */
const DESTROYS = wordSet("rm, rmdir, dd, shred, mkfs, truncate, chmod, chown, kill, pkill, killall")

export interface SuggestionRequest {
  readonly tool: string
  readonly question: PermissionQuestion
}

/** Rules for similar calls. Empty if no narrow rule exists. */
export function suggestedRules({ tool, question }: SuggestionRequest, project: string): readonly string[] {
  const { kind, subject, paths = [], command } = question
  if (command) return commandRules(tool, command, project)
  if (kind === "execute") return []
  if (kind === "network")
    return subject !== undefined && URL.canParse(subject) ? [`${tool}(domain:${new URL(subject).hostname})`] : []
  if (paths.length > 0)
    return rulesForPaths(tool, paths, (path) => directoryPattern(path, { project, isRead: kind === "read" }))
  return kind === "other" ? [tool] : []
}

/** Candidate rules for exactly this call: the file, or the literal command. The first one that allows the call is offered. */
export function exactRules({ tool, question }: SuggestionRequest, project: string): readonly (readonly string[])[] {
  const { kind, paths = [], command } = question
  if (!command)
    return kind === "read" || kind === "write" ? [rulesForPaths(tool, paths, (path) => filePattern(path, project))] : []
  const [only, ...others] = judgedCommands(command)
  const plain = only && others.length === 0 ? plainWords(only) : undefined
  const line = linePattern(command)
  return [plain, line].flatMap((pattern) => (pattern === undefined ? [] : [[`${tool}(${pattern})`]]))
}

/** One rule per path, without duplicates. Empty if any path has no pattern. */
function rulesForPaths(
  tool: string,
  paths: readonly string[],
  patternOf: (path: string) => string | undefined,
): readonly string[] {
  const patterns = paths.map(patternOf)
  if (patterns.includes(undefined)) return []
  return [...new Set(patterns.map((pattern) => `${tool}(${pattern})`))]
}

interface PatternContext {
  readonly project: string
  readonly isRead: boolean
}

const FEWEST_FOLDERS = 3 // minimum depth of a directory outside the project: `/home/ada/notes`, never `/home/ada`

/**
 * Pattern for the directory of the file and everything below it. Outside the project only for reads, and only for directories that the user
 * created.
 */
function directoryPattern(path: string, { project, isRead }: PatternContext): string | undefined {
  const directory = dirname(path)
  if (!isLiteral(path)) return undefined
  if (path !== project && isInside(path, project)) {
    const inside = relative(project, directory)
    return inside === "" ? "./**" : `${inside.startsWith("~") ? "./" : ""}${inside}/**`
  }
  const folders = directory.split("/").filter((name) => name !== "")
  const isHidden = folders.some((name) => name.startsWith("."))
  return isRead && folders.length >= FEWEST_FOLDERS && !isHidden && !isInside(project, directory)
    ? `${directory}/**`
    : undefined
}

/** Whether a pattern can contain the path literally: no special or invisible characters. */
const isLiteral = (path: string): boolean => /^[^*?[\]{}()\\\p{C}]+$/u.test(path) && path === path.trim()

/**
 * Rules for a command line. Empty for several commands, or words that are unknown before it runs: then only the exact line can be allowed.
 */
function commandRules(tool: string, facts: CommandLineFacts, project: string): readonly string[] {
  const [only, ...others] = judgedCommands(facts)
  if (!only || others.length > 0 || only.words.includes(undefined) || hidesCharacters(facts)) return []
  const pattern = patternFor(only)
  const written = facts.redirections.writes.map(({ path }) =>
    path === undefined ? undefined : filePattern(path, project),
  )
  if (pattern === undefined || written.includes(undefined)) return []
  return [...new Set([`${tool}(${pattern})`, ...written.map((file) => `Edit(${file})`)])]
}

const judgedCommands = ({ commands }: CommandLineFacts): readonly SimpleCommand[] =>
  commands.filter(({ isGuess }) => !isGuess)

const HIDDEN: ReadonlySet<string> = new Set(["control character", "invisible character", "look-alike character"])

/** Whether the line hides characters, so that the user cannot review it. */
const hidesCharacters = ({ unusual }: CommandLineFacts): boolean => unusual.some(({ kind }) => HIDDEN.has(kind))

/** Pattern for the exact line. `undefined` if it contains a star, which matches any text in a rule. */
function linePattern(facts: CommandLineFacts): string | undefined {
  const line = facts.line.trim()
  return /[*\n]/.test(line) || hidesCharacters(facts) ? undefined : line
}

/** Pattern for the file of a redirection. */
function filePattern(path: string, project: string): string | undefined {
  if (!isLiteral(path)) return undefined
  return path !== project && isInside(path, project) ? `./${relative(project, path)}` : path
}

/** The literal words, if a rule can contain them. */
const plainWords = ({ words, changesEnvironment }: SimpleCommand): string | undefined =>
  !changesEnvironment && words.every((word) => word !== undefined && isPlain(word)) ? words.join(" ") : undefined

function patternFor(command: SimpleCommand): string | undefined {
  const [program, subcommand = "", third = ""] = command.words
  if (program === undefined || command.changesEnvironment || !isPlain(program)) return undefined
  const exact = plainWords(command)
  const name = program.slice(program.lastIndexOf("/") + 1)
  const two = `${name} ${subcommand}`
  if (RUNS_ANYTHING.has(name) || RUNS_ANYTHING.has(two) || DESTROYS.has(name)) return exact
  if (!WITH_SUBCOMMANDS.has(name)) return `${program}:*`
  if (!isSubcommand(subcommand)) return exact
  if (!WITH_TWO_SUBCOMMANDS.has(two)) return `${program} ${subcommand}:*`
  return isSubcommand(third) ? `${program} ${subcommand} ${third}:*` : exact
}

/** Whether a rule can contain the word literally. */
const isPlain = (word: string): boolean => /^[^\s*()]+$/.test(word)
const isSubcommand = (word: string): boolean => /^[a-z][\w:.-]*$/i.test(word)
