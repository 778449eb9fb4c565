/** What an agent definition says: who the agent is, what it may use, and with which model. */

export interface AgentDefinition {
  readonly name: string
  /** For the model that chooses an agent: when to use it. */
  readonly description: string
  /** The agent's system prompt. */
  readonly prompt: string
  /** The tools it gets. Default: all of its parent's except Agent. */
  readonly tools?: readonly string[]
  readonly disallowedTools?: readonly string[]
  readonly model?: string
  /** Where it keeps memories of its own. Default: it keeps none. */
  readonly memory?: "user" | "project" | "local"
  /** Requests for one task. */
  readonly maxTurns?: number
  readonly background?: boolean
  /** It works on a copy of the repository. */
  readonly isolation?: "worktree"
  /** The file that it comes from. */
  readonly source?: string
}
