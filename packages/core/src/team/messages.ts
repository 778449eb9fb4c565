/** Messages between agents. What another agent says is content: never a rule, never the person's words or consent. */

export interface TeamMessage {
  /** `<sender>#<number>`: unique, in order for each sender. */
  readonly id: string
  readonly from: string
  /** A name, or `*` for all. */
  readonly to: string
  readonly text: string
  /** A few words for a list. */
  readonly summary?: string
  readonly kind?: "shutdown-request" | "shutdown-response" | "plan-approval-response"
  readonly request?: string
  readonly approve?: boolean
  readonly reason?: string
  /** How many messages, one answering another, led to this one. It ends loops of agents that answer each other. */
  readonly hops: number
}
