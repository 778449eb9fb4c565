/** The address of a journal in a store. */

/** Identifies a journal. */
export interface JournalAddress {
  /** The namespace: project name and owner, with letters, digits, `-` and `_`. Namespaces share nothing. */
  readonly project: string
  readonly id: string
  /** The id of the parent conversation, for a sub-agent's journal. Ids of sub-agents are unique only within one conversation. */
  readonly under?: string
}
