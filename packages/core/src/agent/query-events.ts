/** What a query tells while it runs: enough to show everything, and nothing that must be looked up. */

import type { CompactionProgress } from "../layers/compaction-order.ts"
import type { Attachment } from "../messages/attachments.ts"
import type { ToolResult } from "../messages/blocks.ts"
import type { Uuid } from "../messages/messages.ts"
import type { ModelResponse } from "../model/model.ts"
import type { ContextSize } from "../tokens/context-size.ts"
import type { Cost } from "../tokens/price.ts"
import type { Fill } from "../tokens/window.ts"
import type { PermissionQuestion } from "../tools/tool.ts"

export type QueryEvent =
  /** The user's words are in the journal. `queued`: they were typed while the system was busy. */
  | { readonly type: "user"; readonly uuid: Uuid; readonly text: string; readonly queued: boolean }
  /** A request is about to be sent. */
  | { readonly type: "request"; readonly turn: number; readonly size: ContextSize; readonly fill: Fill }
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thinking"; readonly text: string }
  /** The attempt failed and is made again: what was streamed of it is void. */
  | { readonly type: "retry"; readonly attempt: number; readonly delayMs: number; readonly reason: string }
  | { readonly type: "response"; readonly uuid: Uuid; readonly response: ModelResponse; readonly cost: Cost }
  | {
      readonly type: "tool-start"
      readonly id: string
      readonly name: string
      readonly input: unknown
      readonly summary: string
    }
  | { readonly type: "tool-progress"; readonly id: string; readonly text: string }
  | {
      readonly type: "tool-denied"
      readonly id: string
      readonly name: string
      readonly question: PermissionQuestion
      readonly why: string
    }
  | {
      readonly type: "tool-result"
      readonly id: string
      readonly name: string
      readonly result: ToolResult
      readonly ms: number
    }
  | { readonly type: "attached"; readonly kind: string; readonly about: string }
  /** How far a compaction has come. */
  | { readonly type: "compaction"; readonly progress: CompactionProgress }
  /** The conversation begins anew here (LOOP-2): summary and attachments follow, one by one, then `compacted`. */
  | {
      readonly type: "boundary"
      readonly uuid: Uuid
      readonly trigger: "auto" | "manual"
      readonly tokensBefore: number
    }
  | { readonly type: "summary"; readonly uuid: Uuid; readonly text: string }
  | {
      readonly type: "compacted"
      readonly tokensBefore: number
      readonly tokensAfter: number
      readonly route: string
    }
  /** `quiet`: all is well, a layer did its work. */
  | { readonly type: "notice"; readonly message: string; readonly quiet?: true }
  | ({ readonly type: "done"; readonly turns: number } & QueryEnd)

/** How a query ended. */
export type QueryEnd =
  | { readonly reason: "answer"; readonly text: string }
  | { readonly reason: "refusal" }
  | { readonly reason: "max-turns"; readonly limit: number }
  | { readonly reason: "cost-limit"; readonly limit: number; readonly spent: number }
  | { readonly reason: "stopped-by-hook"; readonly why: string }
  | { readonly reason: "aborted" }
  /** The error's sentence; the error itself stands in `error`. */
  | { readonly reason: "error"; readonly message: string; readonly error: unknown }

/** What an attachment is about, in a word. */
export function aboutOf(attachment: Attachment): string {
  if ("path" in attachment && attachment.path !== undefined) return attachment.path
  if ("name" in attachment) return attachment.name
  return "hook" in attachment ? attachment.hook : ""
}
