/** What an installation adds to pi and to opencode: one file in the directory that they load by themselves. It names our code and its options. */
import { homedir } from "node:os"
import { join } from "node:path"
import { StrataError } from "@strata/core"
import type { Client, Environment, Installation } from "../clients.ts"
import { pluginDirectory } from "../plugin-directory.ts"
import { type FileChange, textIn } from "./changes.ts"

const FILE = "strata.ts"
const source = (client: Client) => JSON.stringify(join(pluginDirectory(client), FILE))

export function installPi(installation: Installation): Promise<readonly FileChange[]> {
  const directory = installation.env.PI_CODING_AGENT_DIR ?? join(homeOf(installation.env), ".pi", "agent")
  return added(join(directory, "extensions", FILE), [
    `import strata from ${source("pi")}`,
    `export default (pi) => strata(pi, ${optionsOf(installation)})`,
  ])
}

export function installOpencode(installation: Installation): Promise<readonly FileChange[]> {
  const directory = installation.env.XDG_CONFIG_HOME ?? join(homeOf(installation.env), ".config")
  return added(join(directory, "opencode", "plugin", FILE), [
    `import { Strata as strata } from ${source("opencode")}`,
    `export const Strata = (input) => strata(input, ${optionsOf(installation)})`,
  ])
}

/** All of the file was added, whatever the person changed in it. */
export const withoutOwnFile = (): undefined => undefined

async function added(path: string, lines: readonly string[]): Promise<readonly FileChange[]> {
  if ((await textIn(path)) !== undefined)
    throw new StrataError(`There is a file ${path} that Strata did not write. Nothing was changed. Remove it first.`)
  return [{ path, before: undefined, after: `${lines.join("\n")}\n` }]
}

const optionsOf = ({ mode, program }: Installation) => JSON.stringify({ mode, program })
const homeOf = (env: Environment) => env.HOME ?? homedir()
