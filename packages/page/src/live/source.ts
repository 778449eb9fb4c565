/**
 * What the pages ask for. The program knows the places and the person's settings; a page reads only what it is given. Ids come from
 * `conversations` or from `look`, so no address of a page ever becomes a path.
 */
import type { CompactionPlan, CompactionRefusal, KeptAgents, ProjectBank, RecallAnswer, UndoReport } from "@strata/core"
import type { Look } from "../look/open-look.ts"

export interface PageSource {
  /** What the conversations are of: a project, or this machine. */
  readonly name: string
  /** Newest first. */
  conversations(): Promise<readonly ListedConversation[]>
  find(id: string): Promise<NamedConversation | undefined>
  /** All conversations of this machine. It takes the place of the list. */
  readonly look?: LookPages
  /** Memories of the project. Absent where pages are not about one project. */
  memories?(): Promise<ProjectBank>
}

/** What the page about all conversations asks for. */
export interface LookPages extends Pick<Look, "report" | "list" | "gone"> {
  /** What is still being done, as a sentence. */
  working(): string | undefined
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
  readonly file: string
  /** Its own id, where the file has several. */
  readonly within?: string
  /** What a person may do with it. Absent for other programs' conversations. */
  readonly own?: OwnConversation
}

export interface OwnConversation {
  agents(): Promise<KeptAgents>
  /** Takes back a compaction, named by its boundary, or says what would happen. */
  undo(request: { readonly compaction: string; readonly dryRun: boolean }): Promise<UndoReport>
  /** What a compaction would do now. Nothing is changed and no model is asked. */
  planCompaction(): Promise<CompactionPlan | CompactionRefusal>
  recall(words: string): Promise<RecallAnswer>
}
