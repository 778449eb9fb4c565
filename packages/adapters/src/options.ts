/** Options that all adapters accept. */
import type { SettingsInput } from "@strata/core"

export interface StrataOptions {
  /** Directory of the journals. Default: `~/.strata`, or `STRATA_HOME`. */
  readonly dir?: string
  /** The project's directory. Default: the process's working directory. */
  readonly cwd?: string
  /** Name of the project. Default: `STRATA_PROJECT`, the setting, else the git remote, the first commit, or the path. */
  readonly project?: string
  /** Owner of the conversations. Memories are stored and recalled only with an owner, and only for that owner. */
  readonly owner?: string
  /** Conversation id for all requests. Default: inferred from the messages. */
  readonly conversation?: string
  /** Changes no requests: the journal is written, and savings are only reported. */
  readonly observe?: boolean
  /**
   * Whether the model gets a tool to look up content that left the context. Default `true`: once something has left it. `"always"`: from
   * the first request on.
   */
  readonly recall?: boolean | "always"
  readonly settings?: SettingsInput
  /** Receives a line for each failure of Strata; the request is sent anyway. Default: the first one becomes a warning of the process. */
  readonly log?: (line: string) => void
}
