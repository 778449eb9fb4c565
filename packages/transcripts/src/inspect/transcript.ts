/** Describes a recorded conversation, independent of the program that wrote it. */

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
  /** Entries of the active branch. */
  readonly entries: readonly Entry[]
  /** Abandoned branches and sub-agents: they cost money but do not fill this conversation's window. */
  readonly aside: readonly Entry[]
}
