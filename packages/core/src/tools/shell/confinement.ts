/** How the commands of a conversation are confined. */
import type { SandboxMode } from "../../base/vocabulary.ts"
import { defaultRoot } from "../../journal/file/layout.ts"

export interface Confinement {
  readonly sandbox: SandboxMode
  /** Strata's own directory. No command in a sandbox sees it. */
  readonly root: string
  /** Places that need no permission to read, also inside of the root. */
  readonly readable: readonly string[]
}

export const defaultConfinement = (env: Readonly<Record<string, string | undefined>>): Confinement => ({
  ...{ sandbox: "unasked", readable: [] },
  root: defaultRoot(env),
})
