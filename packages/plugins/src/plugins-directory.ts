/** The directory in which plugins keep their files: a folder in Strata's directory. */
import { homedir } from "node:os"
import { join } from "node:path"
import type { Environment } from "./clients.ts"

export const pluginsDirectory = (env: Environment): string =>
  join(env.STRATA_HOME ?? join(env.HOME ?? homedir(), ".strata"), "plugins")
