/**
 * What a layer is. A layer reads the views and answers with drafts of entries; the conversation journals them, and the views follow.
 * No layer knows another, and a layer's failure never breaks the conversation.
 */
import type { Flags } from "../base/flags.ts"
import type { ToolResult } from "../conversation/blocks.ts"
import type { Draft } from "../journal/entries.ts"
import type { Journal } from "../journal/store.ts"
import type { ContextSize } from "../tokens/context-size.ts"
import type { Fill, Thresholds } from "../tokens/window.ts"
import type { Views } from "../views/views.ts"

/** What a layer may look at. */
export interface Turn {
  readonly conversation: string
  readonly model: string
  readonly views: Views
  readonly size: ContextSize
  readonly thresholds: Thresholds
  readonly fill: Fill
  readonly flags: Flags
  readonly now: Date
  /** To read what lies behind the views, and to put things aside. Entries are added by returning drafts. */
  readonly journal: Pick<Journal, "address" | "location" | "find" | "writeBlob" | "readBlob">
}

export interface Layer {
  readonly name: string
  /** When a tool result arrives, before it is first sent. */
  onToolResult?(result: ToolResult, turn: Turn): Promise<readonly Draft[]>
  /** Before every request, in the order of the layers: the cheapest first. */
  beforeRequest?(turn: Turn): Promise<readonly Draft[]>
  /** After a response was recorded. Whatever takes long runs in the background. */
  afterResponse?(turn: Turn): void
  /** After a final answer. */
  afterQuery?(turn: Turn): void
}
