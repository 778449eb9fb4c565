/**
 * What a layer is. A layer reads the views and answers with drafts of entries; the conversation journals them, and the views follow.
 * No layer knows another, and a layer's failure never breaks the conversation.
 */
import type { Flags } from "../base/flags.ts"
import type { ToolResult } from "../conversation/blocks.ts"
import type { RequestExtras } from "../conversation/request.ts"
import type { Draft } from "../journal/entries.ts"
import type { Journal } from "../journal/store.ts"
import type { ContextSize } from "../tokens/context-size.ts"
import type { ModelFacts } from "../tokens/model-facts.ts"
import type { Fill, Thresholds } from "../tokens/window.ts"
import type { Views } from "../views/views.ts"

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
  readonly journal: Pick<Journal, "address" | "location" | "find" | "writeBlob" | "readBlob">
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
  /** After a response was recorded. Whatever takes long runs in the background. */
  afterResponse?(turn: Turn): void
  /** After a final answer. */
  afterQuery?(turn: Turn): void
}
