/**
 * What reaches an agent from outside its loop: results and messages of other agents. The floor above provides it. The loop asks before
 * every request and after a final answer.
 */

import type { AgentMemoryPlace } from "../../journal/memory-files.ts"
import type { Budget } from "../../journal/store.ts"
import type { Attachment } from "../../messages/attachments.ts"
import type { CostBudget } from "../../model/spending/budget.ts"
import type { DuringCommand } from "../memory-writes.ts"
import type { ProjectCopy } from "../permissions/path-rules.ts"
import type { PermissionPolicy } from "../permissions/permission-policy.ts"

export interface InboundMessage {
  readonly attachment: Attachment
  /** Called once the attachment is in the journal. Until then the same thing waits, and comes again with the next `take`. */
  readonly journaled?: () => void
}

/** What other agents send to this one. */
export interface InboundMessages {
  /** @internal What waits, in order. */
  take(): Promise<readonly InboundMessage[]>
  /** @internal For the person: what could not be received. Each is given once. */
  notices?(): readonly string[]
  /** Whether something waits. What other processes sent counts once it was read. */
  readonly hasAny: boolean
  /** Resolves with `true` when something waits, with `false` when nothing can come any more or the signal aborts. */
  whenAny(signal: AbortSignal): Promise<boolean>
}

export interface Companions {
  readonly arrivals: InboundMessages
  /** @internal A query begins: its abort and its limit in dollars reach everyone who works for it. Call the result when it has ended. */
  follow(query: { readonly signal: AbortSignal; readonly costLimit: number }): () => void
  /** Ends everyone's work. Called before the conversation closes. */
  close(): Promise<void>
}

/** What an agent that works for another one has from it. */
export interface SubAgentPlace {
  readonly id: string
  readonly name: string
  /** The name of its definition, or what it is: for hooks. */
  readonly type: string
  /** Its system prompt, if its journal has none yet. */
  readonly prompt: string
  /** Whether its definition allows it to look up its own past. */
  readonly mayRecall: boolean
  /** The project and the conversation that its journal is kept under. */
  readonly project: string
  readonly under: string
  /** Where the journal of that conversation is. */
  readonly leadLocation: string
  /** Its own memory. Without it, it has none: what it learns is for its lead, and only the lead adds to the memory of the project. */
  readonly memory?: AgentMemoryPlace
  /** It works in a copy of the repository. Rules about files count for both. */
  readonly copy?: ProjectCopy
  /** What the lead and everyone who works for it may spend. */
  readonly budget: CostBudget
  /** What memory work of the project has cost today. Its notes are part of that. */
  readonly daily: Budget | undefined
  /** What the lead may do now. Its agent may never do more. */
  readonly within: () => PermissionPolicy
  /** The lead looks after the memory of the project while a command runs. */
  readonly duringCommand: DuringCommand
}
