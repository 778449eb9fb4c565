/**
 * Messages as this model reads them: blocks as on the wire, of which only the fields that matter here are listed. Requests of any version
 * fit, and unknown blocks are passed over.
 */

export interface ReadMessage {
  /** Text of a `system` message is a notice, never the user's. A `summary` is known to be one, whatever form it has. */
  readonly role: "user" | "assistant" | "system" | "summary"
  readonly content: readonly ReadBlock[]
}

export interface ReadBlock {
  readonly type: string
  readonly text?: string
  readonly thinking?: string
  readonly id?: string
  readonly name?: string
  readonly input?: unknown
  readonly tool_use_id?: string
  readonly content?: string | readonly ReadBlock[]
  readonly is_error?: boolean
}

export interface ReadRequest {
  readonly messages: readonly ReadMessage[]
  readonly tools?: readonly OfferedTool[]
}

export interface OfferedTool {
  readonly name: string
  readonly input_schema?: Readonly<Record<string, unknown>>
}

/** A request, and how to name the calls of the answer. */
export interface OfflineQuestion {
  readonly request: ReadRequest
  readonly nextToolUseId: () => string
  /** Set where a server compacts: the answer must be a summary. The instructions are the last block of the request. */
  readonly summary?: { readonly instructions: string }
  /** The most tokens of a summary. Default: no limit. */
  readonly budget?: TokenBudget
}

export interface TokenBudget {
  readonly tokens: number
  readonly tokensOf: (text: string) => number
}

export type AnswerBlock =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "tool_use"; readonly id: string; readonly name: string; readonly input: unknown }
