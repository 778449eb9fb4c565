/** The task of a sub-agent, and its entry in lists. */
import type { AgentEnding, AgentKind } from "../journal/entries.ts"
import type { AgentDefinition } from "./definitions/definition.ts"

export interface AgentTask {
  /** Short description for lists. */
  readonly description: string
  readonly prompt: string
  readonly kind: AgentKind
  /** A teammate's name. Default: the agent's id. */
  readonly name?: string
  readonly definition?: AgentDefinition
  /** Requested model. Default: the definition's, else the parent's. A fork always uses its parent's. */
  readonly model?: string
  readonly isolation?: "worktree"
  /** Id of the tool call that starts the agent. */
  readonly callId: string
}

export interface AgentView {
  /** Unique within the conversation, such as `agent-1`. */
  readonly id: string
  readonly name: string
  readonly kind: AgentKind
  /** `idle`: a teammate that is waiting for messages. */
  readonly status: "running" | "idle" | AgentEnding
  readonly description: string
  readonly definition?: string
  readonly model: string
  /** Short description of its current activity. */
  readonly progress?: string
  /** Number of requests to the model. */
  readonly turns: number
  readonly toolUses: number
  /** Absent if the price of its model is unknown. */
  readonly dollars?: number
  readonly started: string
  readonly ended?: string
  /** First line of its result. */
  readonly summary?: string
  /** Location of its journal. */
  readonly journal: string
}
