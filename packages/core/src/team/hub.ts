/** Where messages between the agents of one process are handed over. `Team` is one; tests may have their own. */
import type { TeamMessage } from "./messages.ts"

/** The name by which its agents reach the conversation that started them. */
export const LEAD = "lead"

/** Who got a message, or why no one did: a sentence for the model that sent it. */
export type Delivery =
  /** `isQueued`: the receiver has it in memory and not in its journal yet. */
  | { readonly state: "delivered"; readonly to: readonly string[]; readonly isQueued?: true }
  | { readonly state: "refused"; readonly why: string }

export interface MessageHub {
  /** The names that a message can be sent to: the lead, and every agent that runs or waits. */
  members(): readonly string[]
  /** To one name, or to all but the sender. The receiver gets it at its next round; a teammate that waits begins to work. */
  deliver(message: TeamMessage): Delivery
}
