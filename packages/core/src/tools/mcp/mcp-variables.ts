/**
 * Fills `${NAME}` and `${NAME:-default}` in a server's configuration from the person's environment. This is how a server gets a key: by its
 * name in the settings. What was filled in never reaches a report.
 */
import { secretsIn } from "../shell/shell-environment.ts"
import type { HttpServerConfig, McpServerConfig, StdioServerConfig } from "./mcp-config.ts"

type Environment = Readonly<Record<string, string | undefined>>

export interface FilledConfig {
  readonly config: McpServerConfig
  /** Values that must not be shown. */
  readonly secrets: readonly string[]
}

const VARIABLE = /\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g
const SHORTEST_SECRET = 6 // characters: a shorter value occurs in ordinary text

/** Throws if a variable is missing and has no default. */
export function fillVariables(given: McpServerConfig, env: Environment): FilledConfig {
  const filled: string[] = []
  const fill = (text: string) =>
    text.replaceAll(VARIABLE, (_, name: string, otherwise: string | undefined) => {
      const value = env[name] || otherwise
      if (value === undefined)
        throw new Error(`the variable ${name} is not set. Set it, or give it a default: \${${name}:-…}`)
      if (env[name]) filled.push(value)
      return value
    })
  const config = "url" in given ? filledAddress(given, fill) : filledProgram(given, fill)
  const own = "url" in config ? headerSecrets(config.headers ?? {}) : secretsIn(config.env ?? {})
  const secrets = [...new Set([...filled, ...own])].filter((value) => value.length >= SHORTEST_SECRET)
  return { config, secrets: secrets.toSorted((a, b) => b.length - a.length) } // a value may contain another
}

type Fill = (text: string) => string

const filledAddress = (given: HttpServerConfig, fill: Fill): HttpServerConfig => ({
  ...given,
  url: fill(given.url),
  ...(given.headers ? { headers: eachValue(given.headers, fill) } : {}),
})

const filledProgram = (given: StdioServerConfig, fill: Fill): StdioServerConfig => ({
  ...given,
  command: fill(given.command),
  ...(given.args ? { args: given.args.map(fill) } : {}),
  ...(given.env ? { env: eachValue(given.env, fill) } : {}),
  ...(given.cwd === undefined ? {} : { cwd: fill(given.cwd) }),
})

const eachValue = (values: Readonly<Record<string, string>>, fill: Fill): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, fill(value)]))

/** `Bearer abc`: the whole header and the key alone. */
const headerSecrets = (headers: Readonly<Record<string, string>>): readonly string[] =>
  Object.values(headers).flatMap((value) => [value, value.split(" ").at(-1)!])
