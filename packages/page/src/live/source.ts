/**
 * The interface between pages and program. The program knows the directories and the user's settings; a page reads only the data it gets.
 * Ids come from `conversations` or `usage`, so that no URL of a page ever becomes a path.
 */

import type { CompactionPlan, ProjectBank, RecallResult, UndoReport } from "@strata/core"
import type { AgentDirectory, AgentView } from "@strata/core/agent"
import type { DreamKillResult, DreamState } from "@strata/core/memory"
import type { CompactionRefusal } from "@strata/core/policy"
import type { SentRequest } from "@strata/core/store"
import type { Usage } from "../usage/open-usage.ts"
import type { UsageRow } from "../usage/report-data.ts"
import type { JournalLocation, TranscriptLocation } from "./live-source.ts"

export interface PageSource {
  /** Name of the project or machine that the conversations belong to. */
  readonly name: string
  /** Conversations, newest first. */
  conversations(): Promise<readonly ListedConversation[]>
  find(id: string): Promise<NamedConversation | undefined>
  /** A sentence about conversations that are not listed, and how to see them. */
  notListed?(): Promise<string | undefined>
  /** Absent if the list of conversations does not change by itself. */
  readonly list?: ListPages
  /** Usage report over all conversations of this machine. Replaces the list. */
  readonly usage?: UsagePages
  /** Memories of the project. Absent if the pages do not belong to one project. */
  memories?(): Promise<ProjectBank>
  /** Background work. Absent if the pages do not belong to one project. */
  readonly work?: WorkPages
}

/** Data of the page about background work in any process of this machine. */
export interface WorkPages {
  now(): Promise<readonly BackgroundWork[]>
  stopDream(): Promise<DreamKillResult>
  onChange(listener: () => void): () => void
}

/** Work that runs in the background. */
export type BackgroundWork =
  | { readonly kind: "dream"; readonly dream: DreamState }
  | { readonly kind: "agent"; readonly agent: AgentView; readonly conversation: WorkConversation }
  /** A running request for notes, a summary or memories. */
  | { readonly kind: "request"; readonly request: SentRequest; readonly conversation: WorkConversation }

/** The conversation that the work belongs to. */
export interface WorkConversation {
  readonly id: string
  readonly title: string
}

/** Data of the page about all conversations. */
export interface UsagePages extends Pick<Usage, "report" | "list" | "findDeletedSessions"> {
  /** Sentence about work in progress. */
  progress(): string | undefined
  onChange(listener: () => void): () => void
  /** The beginning of a command line that the pages suggest. Default: `strata`. */
  readonly strata?: string
}

export interface ListedConversation {
  readonly id: string
  /** Absent until its journal has been read. */
  readonly title?: string
  /** Time of the last change, in ISO 8601. */
  readonly touched: string
  readonly model?: string
  /** The program that wrote it, if it is not Strata. */
  readonly program?: string
  /** Name of its project. */
  readonly project?: string
  /** Absent until its journal has been read. */
  readonly usage?: ConversationUsage
}

/** Size and cost of a conversation. */
export interface ConversationUsage {
  readonly dollars: number
  readonly cost: UsageRow["cost"]
  readonly requests: number
  /** Input and output of all requests. */
  readonly tokens: number
  readonly compactions: number
}

/** Data of the list of conversations while it changes. */
export interface ListPages {
  /** The project to show first. Default: all. */
  readonly project: string | undefined
  /** Sentence about work in progress. */
  progress(): string | undefined
  onChange(listener: () => void): () => void
}

/** A conversation that pages can show. */
export interface NamedConversation {
  readonly id: string
  readonly title: string
  /** Location of the conversation: in a store, or in a file. */
  readonly location: JournalLocation | TranscriptLocation
  /** Actions of the user. Absent for conversations of other programs. */
  readonly actions?: ConversationActions
}

export interface ConversationActions {
  agents(): Promise<AgentDirectory>
  /** Undoes a compaction, identified by its boundary, or describes the result. */
  undo(request: { readonly compaction: string; readonly dryRun: boolean }): Promise<UndoReport>
  /** Plans a compaction. Nothing is changed and no model is asked. */
  planCompaction(): Promise<CompactionPlan | CompactionRefusal>
  recall(words: string): Promise<RecallResult>
}
