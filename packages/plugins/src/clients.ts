/** The agents that pass their compaction to Strata, and the data they send. */
import type { CompactableMessage } from "@strata/core"

export const CLIENTS = ["claude-code", "pi", "opencode"] as const
export type Client = (typeof CLIENTS)[number]

export type Environment = Readonly<Record<string, string | undefined>>

export const MODES = ["observe", "record", "replace"] as const
export type Mode = (typeof MODES)[number]

/** How Strata is installed in a client. */
export interface Installation {
  readonly env: Environment
  /** How the client starts Strata: the program and its first arguments. */
  readonly program: readonly string[]
  readonly mode: Mode
  /** Whether the client lets a plugin compact. */
  readonly hasMods: boolean
}

/** The messages that the client's model sees now, and those that earlier compactions removed. */
export interface ClientSession {
  readonly inView: readonly PlacedMessage[]
  readonly earlier: readonly CompactableMessage[]
}

/** A message with its position in the client's list. One message of a client can become several. */
export interface PlacedMessage {
  readonly message: CompactableMessage
  readonly at: number
}
