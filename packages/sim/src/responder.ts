/**
 * A responder writes the answers: it gets a request that the simulator has accepted and returns the assistant's content. The simulator
 * takes care of HTTP, tokens, caching and streaming.
 */

/** A validated request body as the client sent it, with consecutive messages of one role merged. */
export interface ResponderRequest {
  readonly model: string
  readonly max_tokens: number
  readonly system?: string | readonly { readonly type: "text"; readonly text: string }[]
  readonly tools?: readonly ResponderTool[]
  /** What the client demands: no call (`none`), some call (`any`), or this one (`tool`). */
  readonly tool_choice?: {
    readonly type: "auto" | "any" | "tool" | "none"
    readonly name?: string
    readonly disable_parallel_tool_use?: boolean
  }
  /** The client wants a structured output: the text of the answer must be JSON that fits the schema. */
  readonly format?: { readonly schema: Record<string, unknown> }
  /** If a server tool has just run, the last message is the assistant's, and the responder continues that answer. */
  readonly messages: readonly ResponderMessage[]
}

export interface ResponderTool {
  readonly name: string
  /** Set for tools that the API defines, such as `web_search_20250305`. */
  readonly type?: string | null
  readonly description?: string
  /** Also set for tools that the API defines. */
  readonly input_schema?: Record<string, unknown>
}

export interface ResponderMessage {
  readonly role: "user" | "assistant" | "system"
  readonly content: readonly ResponderBlock[]
}

/** A block as on the wire. Only the fields that responders use are listed. */
export interface ResponderBlock {
  readonly type: string
  readonly text?: string
  readonly thinking?: string
  readonly id?: string
  readonly name?: string
  readonly input?: unknown
  readonly tool_use_id?: string
  readonly content?: string | readonly ResponderBlock[]
  readonly is_error?: boolean
}

export interface ResponderTurn {
  readonly request: ResponderRequest
  /** Counts the requests this simulator has answered, from 0. */
  readonly index: number
  /** A number in [0, 1) that depends only on the simulator's seed and the request, not on timing or other requests. */
  readonly random: () => number
  /** A new tool_use id, `toolu_…`. It also depends only on the seed and the request. */
  readonly nextToolUseId: () => string
  /**
   * Set when the server compacts: the answer must be a summary. The instructions are the API's or the client's own and
   * are the last block of the request. They need not mention a summary.
   */
  readonly summary?: { readonly instructions: string }
}

export type AnswerBlock =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thinking"; readonly thinking: string }
  /** A call without an id gets a new one. */
  | { readonly type: "tool_use"; readonly id?: string; readonly name: string; readonly input: unknown }
  /** For answers that the API would never give: the text to stream as the input, which may be malformed JSON. */
  | { readonly type: "tool_use"; readonly id?: string; readonly name: string; readonly inputText: string }
  /**
   * A call of a tool that the server runs. The simulator adds the result and asks the responder to continue. The id begins with
   * `srvtoolu_`.
   */
  | { readonly type: "server_tool_use"; readonly id?: string; readonly name: string; readonly input: object }
  /** A block of a newer server, sent complete in its start event. */
  | { readonly type: "other"; readonly block: OtherBlock }

/** A block whose type clients do not know. */
export type OtherBlock = { readonly type: string } & Readonly<Record<string, unknown>>

export interface Answer {
  readonly content: readonly AnswerBlock[]
  /** Default: `tool_use` if the content has a tool_use, else `end_turn`. */
  readonly stopReason?: "end_turn" | "max_tokens" | "stop_sequence" | "tool_use" | "pause_turn" | "refusal"
}

export interface Responder {
  readonly name: string
  answer(turn: ResponderTurn): Answer | Promise<Answer>
}
