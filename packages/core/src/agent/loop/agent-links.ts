/**
 * Links an agent to other agents: their results and messages reach it from outside its loop. The team provides them. The loop checks for
 * them before every request and after a final answer.
 */

import type { AgentMemoryNamespace } from "../../journal/memory-files.ts"
import type { DailyBudget } from "../../journal/store.ts"
import type { Attachment } from "../../messages/attachments.ts"
import type { CostBudget } from "../../model/spending/budget.ts"
import type { DuringCommand } from "../memory-writes.ts"
import type { ProjectCopy } from "../permissions/path-rules.ts"
import type { PermissionPolicy } from "../permissions/permission-policy.ts"

export interface InboundMessage {
  readonly attachment: Attachment
  /** Called once the attachment is in the journal. Until then, `take` returns the message again. */
  readonly journaled?: () => void
}

/** Messages of other agents to this one. */
export interface InboundMessages {
  /** @internal Waiting messages, in order. */
  take(): Promise<readonly InboundMessage[]>
  /** @internal Notices for the user about messages that could not be received. Each is returned once. */
  notices?(): readonly string[]
  /** Whether a message is waiting. Messages of other processes count once they were read. */
  readonly hasAny: boolean
  /** Resolves with `true` when a message is waiting, and with `false` when none can arrive any more or the signal aborts. */
  whenAny(signal: AbortSignal): Promise<boolean>
}

export interface AgentLinks {
  readonly inbound: InboundMessages
  /**
   * @internal Called when a query begins: its abort signal and cost limit apply to all sub-agents. Call the returned function when it has
   * ended.
   */
  follow(query: { readonly signal: AbortSignal; readonly costLimit: number }): () => void
  /** Stops all sub-agents. Called before the conversation closes. */
  close(): Promise<void>
}

/** What a lead provides to a sub-agent: identity, prompt, journal location, limits and permissions. */
export interface SubAgentContext {
  readonly id: string
  readonly name: string
  /** Name of its definition, or its kind. Passed to hooks. */
  readonly type: string
  /** System prompt, used if its journal has none yet. */
  readonly prompt: string
  /** Whether its definition allows Recall. */
  readonly mayRecall: boolean
  /** Namespace that contains its journal. */
  readonly namespace: string
  readonly leadId: string
  /** Location of the lead's journal. */
  readonly leadLocation: string
  /** The agent's own memory. Without it, it has none, because only the lead adds to the project's memory. */
  readonly memory?: AgentMemoryNamespace
  /** Set if it works in a copy of the repository. File rules apply to both copies. */
  readonly copy?: ProjectCopy
  /** Cost budget shared with the lead and its other sub-agents. */
  readonly budget: CostBudget
  /** Today's budget for the project's memory work, which includes this agent's notes. */
  readonly daily: DailyBudget | undefined
  /** The lead's current policy, which limits the sub-agent's. */
  readonly leadPolicy: () => PermissionPolicy
  /** Runs a command while the lead watches the project's memory. */
  readonly duringCommand: DuringCommand
}
