/**
 * What the pages ask for. The program knows the places and the user's settings; a page reads only what it is given. Ids come from
 * `conversations` or from `look`, so no address of a page ever becomes a path.
 */

import type { CompactionPlan, ProjectBank, RecallAnswer, UndoReport } from "@strata/core"
import type { AgentDirectory, AgentView } from "@strata/core/agent"
import type { DreamKillResult, DreamState } from "@strata/core/memory"
import type { CompactionRefusal } from "@strata/core/policy"
import type { SentRequest } from "@strata/core/store"
import type { Usage } from "../usage/open-usage.ts"
import type { JournalLocation, TranscriptLocation } from "./live-source.ts"

export interface PageSource {
  /** What the conversations are of: a project, or this machine. */
  readonly name: string
  /** Newest first. */
  conversations(): Promise<readonly ListedConversation[]>
  find(id: string): Promise<NamedConversation | undefined>
  /** All conversations of this machine. It takes the place of the list. */
  readonly usage?: UsagePages
  /** Memories of the project. Absent where pages are not about one project. */
  memories?(): Promise<ProjectBank>
  /** What works in the background. Absent where pages are not about one project. */
  readonly work?: WorkPages
}

/** What the page about background work asks for. It may run in any process of this machine. */
export interface WorkPages {
  now(): Promise<readonly BackgroundWork[]>
  stopDream(): Promise<DreamKillResult>
  onChange(listener: () => void): () => void
}

/** Something that works while no one waits for it. */
export type BackgroundWork =
  | { readonly kind: "dream"; readonly dream: DreamState }
  | { readonly kind: "agent"; readonly agent: AgentView; readonly conversation: WorkConversation }
  /** Notes, a summary, memories: the model was asked, and has not answered yet. */
  | { readonly kind: "request"; readonly request: SentRequest; readonly conversation: WorkConversation }

/** The conversation that something works for. */
export interface WorkConversation {
  readonly id: string
  readonly title: string
}

/** What the page about all conversations asks for. */
export interface UsagePages extends Pick<Usage, "report" | "list" | "findDeletedSessions"> {
  /** What is still being done, as a sentence. */
  progress(): string | undefined
  onChange(listener: () => void): () => void
}

export interface ListedConversation {
  readonly id: string
  readonly title: string
  /** An ISO time. */
  readonly touched: string
  readonly model?: string
  /** The program that wrote it, if it is not ours. */
  readonly program?: string
}

/** A conversation that can be shown. */
export interface NamedConversation {
  readonly id: string
  readonly title: string
  /** Where it is read: in a store, or in a file. */
  readonly location: JournalLocation | TranscriptLocation
  /** What a user may do with it. Absent for other programs' conversations. */
  readonly actions?: ConversationActions
}

export interface ConversationActions {
  agents(): Promise<AgentDirectory>
  /** Takes back a compaction, named by its boundary, or says what would happen. */
  undo(request: { readonly compaction: string; readonly dryRun: boolean }): Promise<UndoReport>
  /** What a compaction would do now. Nothing is changed and no model is asked. */
  planCompaction(): Promise<CompactionPlan | CompactionRefusal>
  recall(words: string): Promise<RecallAnswer>
}
