/** What every door takes. */
import type { SettingsInput } from "@strata/core"

export interface StrataOptions {
  /** Where journals are kept. Default: `~/.strata`, or `STRATA_HOME`. */
  readonly dir?: string
  /** The project's directory. Default: the process's. */
  readonly cwd?: string
  /** What the project is called. Default: `STRATA_PROJECT`, the setting, else the git remote, the first commit, or the path. */
  readonly project?: string
  /** Whose conversations these are. Memories are kept and recalled only with an owner, and only for it. */
  readonly owner?: string
  /** Which conversation it is, where the program has an id of its own. Default: the messages tell. */
  readonly conversation?: string
  /** Nothing is changed: the journal is kept, and what would have been done is counted. */
  readonly observe?: boolean
  /** A tool to look up what left the context. Default `true`: once something has left it. `"always"`: from the first request on. */
  readonly recall?: boolean | "always"
  readonly settings?: SettingsInput
  /** Gets a line for each failure of ours; the request is sent all the same. Default: the first is a warning of the process. */
  readonly log?: (line: string) => void
}
