/** The agents that hand over their compaction, and what they hand over. */
import type { CarryMessage } from "@strata/core"

export const CLIENTS = ["claude-code", "pi", "opencode"] as const
export type Client = (typeof CLIENTS)[number]

export type Environment = Readonly<Record<string, string | undefined>>

export const MODES = ["observe", "record", "replace"] as const
export type Mode = (typeof MODES)[number]

/** How Strata is put into a client. */
export interface Installation {
  readonly env: Environment
  /** How the client starts Strata: the program and its first words. */
  readonly program: readonly string[]
  readonly mode: Mode
  /** Whether the client lets a plugin compact. */
  readonly hasMods: boolean
}

/** What the client's model sees now, and what earlier compactions took out of view. */
export interface ClientSession {
  readonly inView: readonly PlacedMessage[]
  readonly earlier: readonly CarryMessage[]
}

/** A message, and its place in the list that the client gave. One message of a client can be several of ours. */
export interface PlacedMessage {
  readonly message: CarryMessage
  readonly at: number
}
