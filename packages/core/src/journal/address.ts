/** By what a store knows a journal. */

/** Which journal it is. */
export interface JournalAddress {
  /** The name of a project, and whose it is: letters, digits, `-` and `_`. Two names share nothing. */
  readonly project: string
  readonly id: string
  /** The conversation that it belongs to, for a sub-agent's. Ids of sub-agents are unique only under one conversation. */
  readonly under?: string
}
