/** Events of a query. Each contains everything needed to display it. */

import type { AuditFigures } from "../../journal/entries.ts"
import type { CompactionProgress } from "../../layers/layer.ts"
import type { Attachment } from "../../messages/attachments.ts"
import type { ToolResult } from "../../messages/blocks.ts"
import type { Uuid } from "../../messages/messages.ts"
import type { ModelResponse } from "../../model/model.ts"
import type { ContextSize } from "../../tokens/context-size.ts"
import type { Cost } from "../../tokens/models.ts"
import type { WindowUsage } from "../../tokens/window.ts"
import type { PermissionQuestion } from "../../tools/tool.ts"

export type QueryEvent =
  /** The user's message is in the journal. `queued`: it was typed while the agent worked. */
  | { readonly type: "user"; readonly uuid: Uuid; readonly text: string; readonly queued: boolean }
  /** A request is about to be sent. */
  | { readonly type: "request"; readonly turn: number; readonly size: ContextSize; readonly fill: WindowUsage }
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thinking"; readonly text: string }
  /** An attempt failed and is repeated. Discard its streamed text. */
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
      /** Set if nobody could be asked: rules that would have allowed the call. Empty if no narrow rule exists. */
      readonly rules?: readonly string[]
    }
  | {
      readonly type: "tool-result"
      readonly id: string
      readonly name: string
      readonly result: ToolResult
      readonly ms: number
    }
  | { readonly type: "attached"; readonly kind: string; readonly about: string }
  /** The progress of a compaction. */
  | { readonly type: "compaction"; readonly progress: CompactionProgress }
  /** The context starts again here. Summary and attachments follow one by one, then `compacted`. */
  | {
      readonly type: "boundary"
      readonly uuid: Uuid
      readonly trigger: "auto" | "manual"
      readonly tokensBefore: number
      /** Number of messages that the summary replaces, if known. */
      readonly messages?: number
    }
  | { readonly type: "summary"; readonly uuid: Uuid; readonly text: string }
  | {
      readonly type: "compacted"
      readonly tokensBefore: number
      readonly tokensAfter: number
      readonly route: string
      /** Reason why the planner compacted before the window was full. */
      readonly planned?: string
      /** Result of checking the summary. */
      readonly audit?: AuditFigures
    }
  /** `quiet`: informational, about the work of a layer. */
  | { readonly type: "notice"; readonly message: string; readonly quiet?: true }
  /** The query failed. The error is thrown after the last event unless you call `take()`, which returns it. */
  | { readonly type: "error"; readonly message: string; readonly error: unknown; readonly take: () => unknown }
  | ({ readonly type: "done"; readonly turns: number } & QueryEnd)

/** The end of a query. */
export type QueryEnd =
  | { readonly reason: "answer"; readonly text: string }
  | { readonly reason: "refusal" }
  | { readonly reason: "max-turns"; readonly limit: number }
  /** `next`: estimated cost of the request that was not sent. */
  | { readonly reason: "cost-limit"; readonly limit: number; readonly spent: number; readonly next?: number }
  | { readonly reason: "stopped-by-hook"; readonly why: string }
  /** The query makes no progress: the model pauses, fails or repeats the same call. `why` is a sentence. */
  | { readonly reason: "no-progress"; readonly why: string }
  | { readonly reason: "aborted" }
  /** `message` is a sentence for the user. */
  | { readonly reason: "error"; readonly message: string; readonly error: unknown }

/** Subject of an attachment: a path or a name. */
export function attachmentSubject(attachment: Attachment): string {
  if ("path" in attachment && attachment.path !== undefined) return attachment.path
  if ("name" in attachment) return attachment.name
  if ("command" in attachment) return attachment.command
  if (attachment.type === "queued_agent_message") return attachment.from
  return "hook" in attachment ? attachment.hook : ""
}
