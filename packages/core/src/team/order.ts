/** What a sub-agent is asked to do, and what a list shows about it. */
import type { AgentEnding, AgentKind } from "../journal/entries.ts"
import type { AgentDefinition } from "./definitions/definition.ts"

export interface AgentOrder {
  /** A few words for lists. */
  readonly description: string
  readonly prompt: string
  readonly kind: AgentKind
  /** A teammate's name. Default: the agent's id. */
  readonly name?: string
  readonly definition?: AgentDefinition
  /** Default: the definition's, else the parent's. A fork always has its parent's. */
  readonly model?: string
  readonly isolation?: "worktree"
  /** The call that starts it. */
  readonly callId: string
}

/** A sub-agent in a list. */
export interface AgentView {
  /** Unique in the conversation: `agent-1`. */
  readonly id: string
  readonly name: string
  readonly kind: AgentKind
  /** `idle`: a teammate that waits for a message. */
  readonly status: "running" | "idle" | AgentEnding
  readonly description: string
  readonly definition?: string
  readonly model: string
  /** What it does now, in a few words. */
  readonly progress?: string
  /** Requests to the model, and calls of tools. */
  readonly turns: number
  readonly toolUses: number
  /** Absent where the price of its model is unknown. */
  readonly dollars?: number
  readonly started: string
  readonly ended?: string
  /** How it ended, in one line. */
  readonly summary?: string
  /** Where its journal is. */
  readonly journal: string
}
