/** The environment of a command: without secrets, and with settings that keep programs from waiting for a person. */

export interface HiddenVariable {
  readonly name: RegExp
  readonly why: string
}

/** Secrets by their names. A name in `keep` is shown anyway. */
const HIDDEN_VARIABLES: readonly HiddenVariable[] = [
  { name: /^ANTHROPIC_/i, why: "the key and the address of the model that runs the conversation" },
  {
    name: /(?:^|_)API_?KEYS?(?:_|$)/i,
    why: "keys of model providers and other services, with a number or a stage at the end",
  },
  { name: /(?:^|_)KEYS?$/i, why: "AZURE_STORAGE_KEY, STRIPE_KEY, OPENAI_KEY" },
  { name: /(?:^|_)(?:AUTH_?)?TOKENS?$/i, why: "GITHUB_TOKEN, NPM_TOKEN, npm_config_…_authToken, session tokens" },
  {
    name: /(?:^|_)(?:SECRET|PRIVATE|ACCESS|SIGNING|ENCRYPTION|MASTER)_?KEY(?:_(?:ID|BASE))?$/i,
    why: "AWS_SECRET_ACCESS_KEY, SECRET_KEY_BASE",
  },
  { name: /(?:^|_)SECRETS?(?:_|$)/i, why: "OAuth, webhook and signing secrets" },
  {
    name: /(?:^|_)(?:PASS|PWD|PASSWORD|PASSWD|PASSPHRASE|PGPASSWORD|PASSWORDS)$/i,
    why: "passwords of databases, keys",
  },
  { name: /_AUTH$|^DOCKER_AUTH_CONFIG$/i, why: "npm_config__auth and its like: a name and a password in base64" },
  { name: /(?:^|_)CREDENTIALS?(?:_JSON)?$/i, why: "service accounts, as a path or whole" },
  { name: /(?:^|_)(?:PAT|JWT|CONNECTION_?STRING|SAS_URL|WEBHOOK_URL)$/i, why: "GITHUB_PAT, Azure, chat services" },
]

/** The directories of a shell, which look like passwords. */
const SHOWN_NAMES: ReadonlySet<string> = new Set(["PWD", "OLDPWD"])

/** Secrets by what they contain, whatever the name: DATABASE_URL with a password, a key pasted into a variable of its own. */
const HIDDEN_VALUES: readonly RegExp[] = [
  /^[a-z][\w+.-]*:\/\/[^\s/?#@]*:[^\s/?#@]+@/i, // an address with a password
  /^-----BEGIN [A-Z ]*PRIVATE KEY/,
  /^(?:sk-[\w-]{16,}|gh[opsur]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|npm_\w{20,}|xox[abeoprs]-[\w-]{10,}|AKIA[A-Z0-9]{16}|AIza[\w-]{30,})$/,
]

/** Programs cannot reach the network without these, even where the proxy wants a password. */
const PROXIES = /^(?:https?|all|ftp|no)_proxy$/i

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

type Environment = Readonly<Record<string, string | undefined>>

/** What a program may see of the person's environment: everything but secrets. For hooks, MCP servers and commands alike. */
export function withoutSecrets(
  env: Environment,
  { hidden = HIDDEN_VARIABLES, keep = [] }: EnvironmentOptions = {},
): Readonly<Record<string, string>> {
  const shown = Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && (keep.includes(name) || !isSecret(name, value, hidden)) ? [[name, value] as const] : [],
  )
  return Object.fromEntries(shown)
}

const SHORTEST_SECRET = 6 // characters: a shorter value occurs in ordinary text

/** The values that must not be shown: those of all variables that hold secrets. */
export const secretsIn = (env: Environment): readonly string[] =>
  Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && value.length >= SHORTEST_SECRET && isSecret(name, value, HIDDEN_VARIABLES) ? [value] : [],
  )

function isSecret(name: string, value: string, hidden: readonly HiddenVariable[]): boolean {
  if (SHOWN_NAMES.has(name)) return false
  if (hidden.some((variable) => variable.name.test(name))) return true
  return !PROXIES.test(name) && HIDDEN_VALUES.some((shape) => shape.test(value))
}

export function shellEnvironment(env: Environment, options: EnvironmentOptions = {}): Readonly<Record<string, string>> {
  return { ...withoutSecrets(env, options), ...UNATTENDED }
}
