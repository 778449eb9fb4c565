/** A request to the Messages API, as the official SDK takes it. */
import type { MessageCreateParamsNonStreaming } from "@anthropic-ai/sdk/resources/messages"

export type ModelRequest = MessageCreateParamsNonStreaming
/** What a request may contain in addition to the conversation. */
export interface RequestExtras {
  /** Asks the server to edit its copy of the messages. */
  readonly context_management?: { readonly edits: readonly unknown[] }
  /** Asks for a summary of the messages instead of a response. */
  readonly compaction?: { readonly type: "summarize"; readonly instructions?: string }
  /** Beta features to switch on, sent as a header. */
  readonly betas?: readonly string[]
}

/** A system prompt: a string, or blocks as the API accepts them. */
export type SystemPrompt = NonNullable<ModelRequest["system"]>
/** A tool definition as the API accepts it. */
export type ToolDefinition = NonNullable<ModelRequest["tools"]>[number]
