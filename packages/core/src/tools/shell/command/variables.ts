/** What is known about variables: those set in the line, and those of the environment that are no secret. */
import type { Variable } from "./fields.ts"

/** Their value is known, or harmless to print. */
const PUBLIC = new Set(
  `HOME PWD OLDPWD USER LOGNAME SHELL LANG TERM TMPDIR HOSTNAME PATH UID EUID PPID RANDOM SECONDS LINENO BASH_VERSION OSTYPE MACHTYPE
  HOSTTYPE COLUMNS LINES EDITOR SHLVL EPOCHSECONDS NODE_ENV CI ? # $ ! - @ * 0 1 2 3 4 5 6 7 8 9`.split(/\s+/),
)
const KNOWN = new Set(["HOME", "USER", "LOGNAME"])

/** Set before a command, these change no program that runs. */
const HARMLESS_PREFIX = new Set(
  `CI NODE_ENV DEBUG FORCE_COLOR NO_COLOR CLICOLOR CLICOLOR_FORCE COLUMNS LINES PORT VERBOSE RUST_BACKTRACE RUST_LOG
  LOG_LEVEL PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE GIT_TERMINAL_PROMPT TS_NODE_TRANSPILE_ONLY VITEST JEST_WORKERS
  HUSKY NEXT_TELEMETRY_DISABLED DOTNET_CLI_TELEMETRY_OPTOUT`.split(/\s+/),
)
/** Names of files that programs look for: with a slash they could be anywhere. */
const NAMES_A_FILE = /^(?:LANG|LANGUAGE|TERM|LC_[A-Z]+)$/
const PAGERS = /^(?:GIT_|MAN)?PAGER$/

/** Set by an assignment of its own, these change what the shell or later programs do. */
const SHELL_MEANING =
  /^(?:PATH|IFS|CDPATH|ENV|BASH.*|SHELLOPTS|GLOBIGNORE|GLOBSORT|HOME|PWD|OLDPWD|PS\d|PROMPT_COMMAND|TMPDIR|EXECIGNORE|FIGNORE|HIST.*|LD_.*|DYLD_.*|GIT_.*|LC_.*|LANG.*|POSIXLY_CORRECT|OPT.*|TIMEFORMAT|MAIL.*|TERM.*|NODE_.*|NPM_.*|npm_.*|PYTHON.*|PERL.*|RUBY.*|.*PAGER|.*EDITOR|VISUAL|SHELL|COMP_.*|auto_resume|histchars|INPUTRC|TMOUT)$/

export interface Assigned {
  readonly name: string
  /** `undefined`: not known. */
  readonly value: string | undefined
}

export function isHarmlessPrefix({ name, value }: Assigned): boolean {
  if (name === "GIT_OPTIONAL_LOCKS") return value === "0"
  if (PAGERS.test(name)) return value === "cat" || value === ""
  if (name === "TZ") return value !== undefined && /^[\w+-]+(?:\/[\w+-]+)*$/.test(value)
  if (NAMES_A_FILE.test(name)) return value !== undefined && /^[\w.@:-]*$/.test(value)
  return HARMLESS_PREFIX.has(name)
}

/** An assignment reaches programs only if the variable is already in their environment. */
export function isHarmlessAssignment({ name }: Assigned, env: Readonly<Record<string, string | undefined>>): boolean {
  return env[name] === undefined && !SHELL_MEANING.test(name)
}

export function environmentVariable(name: string, env: Readonly<Record<string, string | undefined>>): Variable {
  const isPrintable = PUBLIC.has(name) || /^LC_[A-Z]+$/.test(name)
  return { text: KNOWN.has(name) ? env[name] : undefined, isPrintable }
}
