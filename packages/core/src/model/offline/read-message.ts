/**
 * Messages as the offline model reads them: API blocks, with only the fields that matter here. Requests of any version fit, and unknown
 * blocks are ignored.
 */

export interface ReadMessage {
  /** Text of a `system` message is a notice, never the user's. A `summary` is a known summary in any form. */
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

/** A request, and how to create ids for the calls in the answer. */
export interface OfflineQuestion {
  readonly request: ReadRequest
  readonly nextToolUseId: () => string
  /** Set if the server compacts: the answer must be a summary, and the last block of the request contains the instructions. */
  readonly summary?: { readonly instructions: string }
  /** Maximum tokens of a summary. Default: no limit. */
  readonly budget?: TokenBudget
}

export interface TokenBudget {
  readonly tokens: number
  readonly tokensOf: (text: string) => number
}

export type AnswerBlock =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "tool_use"; readonly id: string; readonly name: string; readonly input: unknown }
