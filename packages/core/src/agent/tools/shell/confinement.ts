/** Default confinement of commands. */
import { strataDirectory } from "../../../journal/file/layout.ts"
import type { Confinement } from "../../../tools/command.ts"

export const defaultConfinement = (env: Readonly<Record<string, string | undefined>>): Confinement => ({
  ...{ sandbox: "unasked", readable: [] },
  root: strataDirectory(env),
})
