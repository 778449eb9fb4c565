/** Environment of a command: without secrets, and with settings that prevent programs from waiting for a user. */
import { MARK_VARIABLE } from "../processes/process-group.ts"
import { isSecretVariable } from "./secret-variables.ts"

/** Settings that override the user's values, for the reasons given. */
const UNATTENDED: Readonly<Record<string, string>> = {
  TERM: "dumb", // no cursor movement; full-screen programs give up
  PAGER: "cat", // a pager waits for a key
  GIT_PAGER: "cat",
  MANPAGER: "cat",
  EDITOR: "false", // fails at once instead of waiting
  VISUAL: "false",
  GIT_EDITOR: "true", // accepts the message that git proposes: `rebase --continue`, `merge`
  GIT_TERMINAL_PROMPT: "0", // no question for a user name
  GIT_OPTIONAL_LOCKS: "0", // `git status` takes no lock while another command runs
  SSH_ASKPASS_REQUIRE: "never",
  DEBIAN_FRONTEND: "noninteractive",
}

export interface EnvironmentOptions {
  /** Names of variables to pass on although they look like secrets: `GITHUB_TOKEN`, so that `gh` works. */
  readonly keep?: readonly string[]
}

type Environment = Readonly<Record<string, string | undefined>>

/** The user's environment without secrets, for hooks and commands. */
export function withoutSecrets(
  env: Environment,
  { keep = [] }: EnvironmentOptions = {},
): Readonly<Record<string, string>> {
  const isShown = (name: string) => keep.includes(name) || !isSecretVariable(name, env[name]!)
  const names = Object.keys(env).filter((name) => env[name] !== undefined)
  const hidden = names.filter((name) => !isShown(name))
  // git fails if GIT_CONFIG_COUNT includes missing settings
  if (hidden.some((name) => /^GIT_CONFIG_VALUE_\d+$/.test(name))) hidden.push("GIT_CONFIG_COUNT")
  return Object.fromEntries(names.filter((name) => !hidden.includes(name)).map((name) => [name, env[name]!]))
}

const SHORTEST_SECRET = 6 // characters; a shorter value occurs in ordinary text

/** Values of all secret variables, which must be redacted. */
export const secretsIn = (env: Environment): readonly string[] =>
  Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && value.length >= SHORTEST_SECRET && isSecretVariable(name, value) ? [value] : [],
  )

export function shellEnvironment(env: Environment, options: EnvironmentOptions = {}): Readonly<Record<string, string>> {
  return { ...withoutSecrets(env, options), ...UNATTENDED }
}

/** Variables that reading programs need: directories, user, language and time zone. */
const NEEDED = new Set(
  `PATH HOME USER LOGNAME SHELL LANG LANGUAGE TERM COLORTERM NO_COLOR FORCE_COLOR CLICOLOR COLUMNS LINES TZ PWD HOSTNAME
  LOCALE_ARCHIVE XDG_CONFIG_HOME XDG_DATA_HOME CI NODE_ENV ${MARK_VARIABLE}`.split(/\s+/),
)

/**
 * Environment of an unapproved command. TMPDIR is omitted, because it may be a directory of the project, where `tac` would write.
 * LC_COLLATE=C sorts file patterns by bytes, as the command analysis expects: the first match may be the script of `sed`.
 */
export function neededEnvironment(env: Environment): Readonly<Record<string, string>> {
  const { LC_ALL, ...others } = env
  const kept = Object.entries(others).filter(([name]) => NEEDED.has(name) || (!LC_ALL && /^LC_[A-Z]+$/.test(name)))
  return shellEnvironment({ ...Object.fromEntries(kept), ...(LC_ALL ? { LANG: LC_ALL } : {}), LC_COLLATE: "C" })
}
