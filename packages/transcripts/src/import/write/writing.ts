/** What every writer of a format is given. */
import type { Message } from "@strata/core/messages"
import type { LeftOut } from "./left-out.ts"

export interface Writing {
  readonly id: string
  readonly title?: string
  readonly cwd?: string
  readonly model?: string
  /** In order, ready to leave the machine. */
  readonly messages: readonly Message[]
  readonly leftOut: LeftOut
}
