/** Input of every export format. */
import type { Message } from "@strata/core/messages"
import type { OmittedContent } from "./omitted.ts"

export interface ExportInput {
  readonly id: string
  readonly title?: string
  readonly cwd?: string
  readonly model?: string
  /** The messages in order, already redacted. */
  readonly messages: readonly Message[]
  readonly omitted: OmittedContent
}
