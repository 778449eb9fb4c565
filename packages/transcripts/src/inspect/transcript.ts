/** What is known of a recorded conversation, whichever program wrote it. */

import type { Entry } from "@strata/core/store"
import type { ImportReport } from "../import/importer.ts"

/** A recorded conversation of any program. */
export interface Transcript {
  readonly file: string
  readonly format: string
  readonly id: string
  readonly title?: string
  readonly cwd?: string
  readonly model?: string
  readonly report: ImportReport
  /** The main path of the conversation. */
  readonly entries: readonly Entry[]
  /** Abandoned branches and sub-agents: they cost money but do not fill this conversation's window. */
  readonly aside: readonly Entry[]
}
