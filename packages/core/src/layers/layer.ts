/**
 * What a layer is. A layer reads the views and answers with drafts of entries; the conversation journals them, and the views follow.
 * No layer knows another, and a layer's failure never breaks the conversation.
 */
import type { Flags } from "../base/flags.ts"
import type { Draft } from "../journal/entries.ts"
import type { Journal } from "../journal/store.ts"
import type { ToolResult } from "../messages/blocks.ts"
import type { Uuid } from "../messages/messages.ts"
import type { ModelRequest, RequestExtras } from "../messages/request.ts"
import type { ContextSize } from "../tokens/context-size.ts"
import type { ModelFacts } from "../tokens/model-facts.ts"
import type { Fill, Thresholds } from "../tokens/window.ts"
import type { Views } from "../views/views.ts"
import type { CompactionOrder, CompactionProgress, PlannedCompaction } from "./compaction-order.ts"

/** What a layer may look at. */
export interface Turn {
  readonly conversation: string
  readonly model: string
  readonly facts: ModelFacts
  readonly views: Views
  readonly size: ContextSize
  readonly thresholds: Thresholds
  readonly fill: Fill
  readonly flags: Flags
  readonly now: Date
  /** To read what lies behind the views, and to put things aside. Entries are added by returning drafts. */
  readonly journal: Pick<Journal, "address" | "location" | "notesPath" | "find" | "writeBlob" | "readBlob">
  /** What layer 4 may do (WIN-5); by itself only where there is such a layer. */
  readonly compaction: { readonly auto: boolean; readonly manual: boolean }
  /** A name for a message that a draft must refer to before it is in the journal. */
  readonly newUuid: () => Uuid
  /** The request as it would be sent now. It changes nothing: what a fork begins with. */
  readonly request: () => Promise<ModelRequest>
  /** Aborted when the conversation closes, or when whoever asked for this gives up. */
  readonly signal: AbortSignal
  /** Tells those who watch how far a long piece of work has come. */
  readonly progress: (progress: CompactionProgress) => void
}

export interface Layer {
  readonly name: string
  /** When a tool result arrives, before it is first sent. `together`: all results that came in the same message. */
  onToolResult?(result: ToolResult, turn: Turn, together: readonly ToolResult[]): Promise<readonly Draft[]>
  /** Before every request, in the order of the layers: the cheapest first. */
  beforeRequest?(turn: Turn): Promise<readonly Draft[]>
  /** What the request carries besides the conversation. A function of the views: equal views, equal bytes. */
  requestExtras?(turn: Turn): Promise<RequestExtras | undefined>
  /** One line for a person about what the layer did, where there is anything to say. */
  describe?(drafts: readonly Draft[], effect: { readonly saved: number }): string | undefined
  /** After its drafts were journaled: what else follows from them. */
  acted?(drafts: readonly Draft[], turn: Turn): Promise<void>
  /** Its drafts could not be journaled: nothing follows from them. */
  lost?(drafts: readonly Draft[]): void
  /** After a response was recorded. What takes long goes on in the background; what it decides is journaled when it is there. */
  afterResponse?(turn: Turn): BackgroundWork
  /** After a final answer. */
  afterQuery?(turn: Turn): BackgroundWork
  /** Compacts because someone asked for it. */
  compact?(turn: Turn, order: CompactionOrder): Promise<readonly Draft[]>
  /** What `compact` would do, as a value that can be printed. It changes nothing. */
  planCompaction?(turn: Turn, order: CompactionOrder): Promise<PlannedCompaction>
}

// biome-ignore lint/suspicious/noConfusingVoidType: a layer that has nothing to do returns nothing
export type BackgroundWork = Promise<readonly Draft[]> | void
