/** The environment of a command: without secrets, and with settings that keep programs from waiting for a person. */
import { MARK_VARIABLE } from "../processes/process-group.ts"
import { isSecretVariable } from "./secret-variables.ts"

/** Set even if the person has another value; the comments say why. */
const UNATTENDED: Readonly<Record<string, string>> = {
  TERM: "dumb", // no cursor movement; full-screen programs give up
  PAGER: "cat", // a pager waits for a key
  GIT_PAGER: "cat",
  MANPAGER: "cat",
  EDITOR: "false", // fails at once instead of waiting
  VISUAL: "false",
  GIT_EDITOR: "true", // takes the message git proposes: `rebase --continue`, `merge`
  GIT_TERMINAL_PROMPT: "0", // no question for a user name
  GIT_OPTIONAL_LOCKS: "0", // `git status` beside another command takes no lock
  SSH_ASKPASS_REQUIRE: "never",
  DEBIAN_FRONTEND: "noninteractive",
}

export interface EnvironmentOptions {
  /** Names to show although they look like secrets: `GITHUB_TOKEN`, so that `gh` works. */
  readonly keep?: readonly string[]
}

type Environment = Readonly<Record<string, string | undefined>>

/** What a program may see of the person's environment: everything but secrets. For hooks and commands alike. */
export function withoutSecrets(
  env: Environment,
  { keep = [] }: EnvironmentOptions = {},
): Readonly<Record<string, string>> {
  const isShown = (name: string) => keep.includes(name) || !isSecretVariable(name, env[name]!)
  const names = Object.keys(env).filter((name) => env[name] !== undefined)
  const hidden = names.filter((name) => !isShown(name))
  // git refuses to work where it counts settings that are not all there
  if (hidden.some((name) => /^GIT_CONFIG_VALUE_\d+$/.test(name))) hidden.push("GIT_CONFIG_COUNT")
  return Object.fromEntries(names.filter((name) => !hidden.includes(name)).map((name) => [name, env[name]!]))
}

const SHORTEST_SECRET = 6 // characters: a shorter value occurs in ordinary text

/** The values that must not be shown: those of all variables that hold secrets. */
export const secretsIn = (env: Environment): readonly string[] =>
  Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && value.length >= SHORTEST_SECRET && isSecretVariable(name, value) ? [value] : [],
  )

export function shellEnvironment(env: Environment, options: EnvironmentOptions = {}): Readonly<Record<string, string>> {
  return { ...withoutSecrets(env, options), ...UNATTENDED }
}

/** All that programs need that only read: where they are, whose they are, which language and time zone. */
const NEEDED = new Set(
  `PATH HOME USER LOGNAME SHELL LANG LANGUAGE TERM COLORTERM NO_COLOR FORCE_COLOR CLICOLOR COLUMNS LINES TZ PWD HOSTNAME
  LOCALE_ARCHIVE XDG_CONFIG_HOME XDG_DATA_HOME CI NODE_ENV ${MARK_VARIABLE}`.split(/\s+/),
)

/**
 * For a command that no one allowed: a list of what it gets. Not TMPDIR: it may name a directory of the project, where `tac` would write.
 * File patterns find names in the order of their bytes, as the judge of commands expects: the first may be the script of `sed`.
 */
export function neededEnvironment(env: Environment): Readonly<Record<string, string>> {
  const { LC_ALL, ...others } = env
  const kept = Object.entries(others).filter(([name]) => NEEDED.has(name) || (!LC_ALL && /^LC_[A-Z]+$/.test(name)))
  return shellEnvironment({ ...Object.fromEntries(kept), ...(LC_ALL ? { LANG: LC_ALL } : {}), LC_COLLATE: "C" })
}
