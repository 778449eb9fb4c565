/** The environment of a command: without secrets, and with settings that keep programs from waiting for a person. */

export interface HiddenVariable {
  readonly name: RegExp
  readonly why: string
}

/** Recognised by name, because values give no clue. A name in `keep` is shown anyway. */
const HIDDEN_VARIABLES: readonly HiddenVariable[] = [
  { name: /^ANTHROPIC_/i, why: "the key and the address of the model that runs the conversation" },
  { name: /(?:^|_)API_?KEYS?$/i, why: "keys of model providers and other services" },
  { name: /(?:^|_)(?:AUTH_?)?TOKENS?$/i, why: "GITHUB_TOKEN, NPM_TOKEN, npm_config_…_authToken, session tokens" },
  {
    name: /(?:^|_)(?:SECRET|PRIVATE|ACCESS|SIGNING|ENCRYPTION|MASTER)_?KEY(?:_ID)?$/i,
    why: "AWS_SECRET_ACCESS_KEY and its like",
  },
  { name: /(?:^|_)(?:CLIENT_|APP_)?SECRETS?$/i, why: "OAuth and webhook secrets" },
  { name: /(?:^|_)(?:PASS|PASSWORD|PASSWD|PASSPHRASE|PGPASSWORD)$|^MYSQL_PWD$/i, why: "passwords of databases, keys" },
  { name: /_AUTH$/i, why: "npm_config__auth and its like: a name and a password in base64" },
  { name: /(?:^|_)CREDENTIALS?(?:_JSON)?$/i, why: "service accounts, as a path or whole" },
]

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
  readonly hidden?: readonly HiddenVariable[]
  /** Names to show although they look like secrets: `GITHUB_TOKEN`, so that `gh` works. */
  readonly keep?: readonly string[]
}

export function shellEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  { hidden = HIDDEN_VARIABLES, keep = [] }: EnvironmentOptions = {},
): Readonly<Record<string, string>> {
  const isShown = (name: string) => keep.includes(name) || !hidden.some((variable) => variable.name.test(name))
  const shown = Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && isShown(name) ? [[name, value] as const] : [],
  )
  return { ...Object.fromEntries(shown), ...UNATTENDED }
}
