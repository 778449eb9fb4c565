/**
 * "Yes, and don't ask again": the rules a person would write to allow a call from now on. They are narrow: a command with its subcommand,
 * a directory, a host. Where a rule would allow anything, none is suggested.
 */
import { dirname, relative } from "node:path"
import type { CommandFacts, SimpleCommand } from "../../tools/command.ts"
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

/** For calls like this one. Empty where no narrow rule exists. */
export function suggestedRules({ tool, question }: SuggestionRequest, project: string): readonly string[] {
  const { kind, subject, paths = [], command } = question
  if (command) return commandRules(tool, command, project)
  if (kind === "execute") return []
  if (kind === "network")
    return subject !== undefined && URL.canParse(subject) ? [`${tool}(domain:${new URL(subject).hostname})`] : []
  if (paths.length > 0)
    return ruled(tool, paths, (path) => directoryPattern(path, { project, isRead: kind === "read" }))
  return kind === "other" ? [tool] : []
}

/** For exactly this call: the file, or the command as it is written. The first of these that allows the call is the one to offer. */
export function exactRules({ tool, question }: SuggestionRequest, project: string): readonly (readonly string[])[] {
  const { kind, paths = [], command } = question
  if (!command)
    return kind === "read" || kind === "write" ? [ruled(tool, paths, (path) => filePattern(path, project))] : []
  const [only, ...others] = judgedCommands(command)
  const plain = only && others.length === 0 ? plainWords(only) : undefined
  const line = linePattern(command)
  return [plain, line].flatMap((pattern) => (pattern === undefined ? [] : [[`${tool}(${pattern})`]]))
}

/** One rule for each path, without repetitions. None at all if one path has no pattern. */
function ruled(
  tool: string,
  paths: readonly string[],
  patternOf: (path: string) => string | undefined,
): readonly string[] {
  const patterns = paths.map(patternOf)
  if (patterns.includes(undefined)) return []
  return [...new Set(patterns.map((pattern) => `${tool}(${pattern})`))]
}

interface Place {
  readonly project: string
  readonly isRead: boolean
}

const FEWEST_FOLDERS = 3 // of a directory outside the project: `/home/ada/notes`, never `/home/ada`

/** The directory of the file, and what is below it. Outside the project only to read, and only a directory that a person made. */
function directoryPattern(path: string, { project, isRead }: Place): string | undefined {
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

/** A path that a pattern can hold as it is: nothing in it means something else, and all of it can be seen. */
const isLiteral = (path: string): boolean => /^[^*?[\]{}()\\\p{C}]+$/u.test(path) && path === path.trim()

/** More than one command, or words that are only known when it runs: only the line as it is. */
function commandRules(tool: string, facts: CommandFacts, project: string): readonly string[] {
  const [only, ...others] = judgedCommands(facts)
  if (!only || others.length > 0 || only.words.includes(undefined) || hidesCharacters(facts)) return []
  const pattern = patternFor(only)
  const written = facts.redirections.writes.map(({ path }) =>
    path === undefined ? undefined : filePattern(path, project),
  )
  if (pattern === undefined || written.includes(undefined)) return []
  return [...new Set([`${tool}(${pattern})`, ...written.map((file) => `Edit(${file})`)])]
}

const judgedCommands = ({ commands }: CommandFacts): readonly SimpleCommand[] =>
  commands.filter(({ isGuess }) => !isGuess)

const HIDDEN: ReadonlySet<string> = new Set(["control character", "invisible character", "look-alike character"])

/** What cannot be seen cannot be agreed to. */
const hidesCharacters = ({ unusual }: CommandFacts): boolean => unusual.some(({ kind }) => HIDDEN.has(kind))

/** A star in a rule is any text. */
function linePattern(facts: CommandFacts): string | undefined {
  const line = facts.line.trim()
  return /[*\n]/.test(line) || hidesCharacters(facts) ? undefined : line
}

/** A redirection is allowed for its file alone. */
function filePattern(path: string, project: string): string | undefined {
  if (!isLiteral(path)) return undefined
  return path !== project && isInside(path, project) ? `./${relative(project, path)}` : path
}

/** The words as they are, where a rule can hold them. */
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

/** A word that a rule can hold as it is. */
const isPlain = (word: string): boolean => /^[^\s*()]+$/.test(word)
const isSubcommand = (word: string): boolean => /^[a-z][\w:.-]*$/i.test(word)
