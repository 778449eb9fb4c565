/**
 * Request and response bodies on the wire. Only fields that the simulator uses are listed. The schema in `validate/` decides which fields a
 * body may have.
 */

export type Ttl = "5m" | "1h"

export interface CacheControl {
  readonly type: "ephemeral"
  readonly ttl?: Ttl
}

export interface MediaSource {
  readonly type: "base64" | "url" | "file" | "text" | "content"
  readonly media_type?: string
  readonly data?: string
  readonly content?: string | readonly Block[]
}

/** Any content block. Validation has already checked which fields belong to which `type`. */
export interface Block {
  readonly type: string
  readonly text?: string
  readonly thinking?: string
  readonly signature?: string | null
  readonly data?: string
  readonly id?: string
  readonly name?: string
  readonly input?: unknown
  readonly tool_use_id?: string
  readonly tool_name?: string
  readonly content?: string | readonly Block[] | null
  readonly is_error?: boolean
  readonly source?: MediaSource
  readonly citations?: unknown
  readonly encrypted_content?: string | null
  readonly transformations?: { readonly oversized_image?: "downsize" | "error" } | null
  readonly cache_control?: CacheControl | null
  /** Non-standard: see `cache-edits.ts`. */
  readonly cache_reference?: string
  readonly edits?: readonly { readonly type: "delete"; readonly cache_reference: string }[]
}

export type Role = "user" | "assistant" | "system"

export interface MessageParam {
  readonly role: Role
  /** Absent or empty in a system message that only has an `output_config`. */
  readonly content?: string | readonly Block[]
  readonly output_config?: { readonly effort?: string | null } | null
}

export interface ToolParam {
  readonly type?: string | null
  readonly name: string
  readonly description?: string
  readonly input_schema?: Record<string, unknown>
  /** Not part of the prompt until a `tool_reference` loads it. */
  readonly defer_loading?: boolean
  readonly allowed_domains?: readonly string[] | null
  readonly blocked_domains?: readonly string[] | null
  readonly max_uses?: number | null
  readonly citations?: { readonly enabled?: boolean } | null
  readonly url_sources?: Readonly<Record<string, { readonly type: string } | undefined>> | null
  readonly cache_control?: CacheControl | null
}

export type ThinkingParam =
  | {
      readonly type: "enabled"
      readonly budget_tokens: number
      readonly display?: Display
      readonly block_binding?: Binding
    }
  | { readonly type: "adaptive"; readonly display?: Display; readonly block_binding?: Binding }
  | { readonly type: "disabled" }
  | { readonly type: "between_tools" }
type Display = "summarized" | "omitted" | "updates" | null
type Binding = { readonly prefix_mismatch_behavior?: "error" | "drop_block" | null } | null

export interface ToolChoice {
  readonly type: "auto" | "any" | "tool" | "none"
  readonly name?: string
  readonly disable_parallel_tool_use?: boolean
}

export type Edit =
  | {
      readonly type: "clear_tool_uses_20250919"
      readonly trigger?: { readonly type: "input_tokens" | "tool_uses"; readonly value: number }
      readonly keep?: { readonly type: "tool_uses"; readonly value: number }
      readonly clear_at_least?: { readonly type: "input_tokens"; readonly value: number } | null
      readonly exclude_tools?: readonly string[] | null
      readonly clear_tool_inputs?: boolean | readonly string[] | null
    }
  | {
      readonly type: "clear_thinking_20251015"
      readonly keep?: "all" | { readonly type: "all" } | { readonly type: "thinking_turns"; readonly value: number }
    }
  | {
      readonly type: "compact_20260112"
      readonly trigger?: { readonly type: "input_tokens"; readonly value: number } | null
      readonly pause_after_compaction?: boolean
      readonly instructions?: string | null
    }

export interface MessagesBody {
  readonly model: string
  readonly messages: readonly MessageParam[]
  /** Absent only in count_tokens. */
  readonly max_tokens: number
  readonly system?: string | readonly Block[]
  readonly tools?: readonly ToolParam[]
  readonly tool_choice?: ToolChoice
  readonly thinking?: ThinkingParam
  readonly output_config?: {
    readonly effort?: string | null
    readonly format?: unknown
    readonly task_budget?: { readonly total: number; readonly remaining?: number | null } | null
  }
  readonly output_format?: unknown
  readonly stop_sequences?: readonly string[]
  readonly stream?: boolean
  readonly temperature?: number
  readonly top_p?: number
  readonly top_k?: number
  readonly cache_control?: CacheControl | null
  readonly diagnostics?: { readonly previous_message_id?: string | null } | null
  readonly speed?: "standard" | "fast" | null
  readonly context_management?: { readonly edits?: readonly Edit[] } | null
  readonly compaction?: { readonly type: "summarize"; readonly instructions?: string | null } | null
  readonly thread?: unknown
}

export interface CacheCreation {
  readonly ephemeral_5m_input_tokens: number
  readonly ephemeral_1h_input_tokens: number
}

/** Input tokens by price, and output tokens: the part all usage objects share. */
export interface TokenUsage {
  readonly input_tokens: number
  readonly output_tokens: number
  readonly cache_creation_input_tokens: number
  readonly cache_read_input_tokens: number
  readonly cache_creation: CacheCreation
}

export type IterationUsage = TokenUsage &
  ({ readonly type: "compaction" } | { readonly type: "message"; readonly model: null })

export interface ServerToolUsage {
  readonly web_search_requests: number
  readonly web_fetch_requests: number
}

export interface Usage extends TokenUsage {
  readonly output_tokens_details: { readonly thinking_tokens: number }
  readonly server_tool_use: ServerToolUsage | null
  readonly service_tier: "standard"
  readonly inference_geo: "global"
  readonly speed: "standard" | "fast"
  readonly iterations?: readonly IterationUsage[]
  /** Non-standard, and only in cache editing mode. */
  readonly cache_deleted_input_tokens?: number
}

export type StopReason =
  | "end_turn"
  | "max_tokens"
  | "stop_sequence"
  | "tool_use"
  | "pause_turn"
  | "refusal"
  | "model_context_window_exceeded"
  | "compaction"

export type ContentBlock =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thinking"; readonly thinking: string; readonly signature: string }
  | {
      readonly type: "tool_use"
      readonly id: string
      readonly name: string
      readonly input: unknown
      readonly caller: { readonly type: "direct" }
      /** Never sent. The JSON to stream if it differs from `input`: truncated, or malformed on purpose. */
      readonly inputText?: string
    }
  | {
      readonly type: "server_tool_use"
      readonly id: string
      readonly name: string
      readonly input: unknown
      readonly caller: { readonly type: "direct" }
    }
  | {
      readonly type: "compaction"
      readonly content: string | null
      readonly encrypted_content?: string | null
      readonly signature?: string
    }
  /** Never sent in this form: `block` is sent instead. */
  | { readonly type: "other"; readonly block: { readonly type: string } & Readonly<Record<string, unknown>> }

export type AppliedEdit =
  | {
      readonly type: "clear_tool_uses_20250919"
      readonly cleared_tool_uses: number
      readonly cleared_input_tokens: number
    }
  | {
      readonly type: "clear_thinking_20251015"
      readonly cleared_thinking_turns: number
      readonly cleared_input_tokens: number
    }

export interface InputTransformation {
  readonly type: "thinking_dropped" | "thinking_mismatch_allowed"
  readonly path: string
  readonly reason: "prefix_binding_mismatch" | "model_binding_mismatch"
}

export type CacheMissReason =
  | {
      readonly type: "model_changed" | "system_changed" | "tools_changed" | "messages_changed"
      readonly cache_missed_input_tokens: number
    }
  | { readonly type: "previous_message_not_found" }

export interface MessageResponse {
  readonly id: string
  readonly type: "message"
  readonly role: "assistant"
  readonly model: string
  readonly content: readonly ContentBlock[]
  readonly stop_reason: StopReason
  readonly stop_sequence: string | null
  readonly stop_details: null
  readonly container: null
  readonly diagnostics: { readonly cache_miss_reason: CacheMissReason } | null
  readonly usage: Usage
  readonly context_management?: { readonly applied_edits: readonly AppliedEdit[] } | null
  readonly input_transformations?: readonly InputTransformation[]
}
