/**
 * A brain is what answers: it gets a request that the simulator has accepted and says what the assistant would say.
 * It knows nothing of HTTP, tokens, caching or streaming; the simulator takes care of those.
 */

/** A request body after validation, as the client sent it (consecutive messages of one role already merged). */
export interface BrainRequest {
  readonly model: string
  readonly max_tokens: number
  readonly system?: string | readonly { readonly type: "text"; readonly text: string }[]
  readonly tools?: readonly {
    readonly name: string
    readonly description?: string
    readonly input_schema?: Record<string, unknown>
  }[]
  readonly messages: readonly BrainMessage[]
}

export interface BrainMessage {
  readonly role: "user" | "assistant" | "system"
  readonly content: readonly BrainBlock[]
}

/** Blocks as on the wire; only the fields that brains look at are named. */
export interface BrainBlock {
  readonly type: string
  readonly text?: string
  readonly thinking?: string
  readonly id?: string
  readonly name?: string
  readonly input?: unknown
  readonly tool_use_id?: string
  readonly content?: string | readonly BrainBlock[]
  readonly is_error?: boolean
}

export interface BrainTurn {
  readonly request: BrainRequest
  /** Counts the requests this simulator has answered, from 0. */
  readonly index: number
  /** In [0, 1), from the simulator's seed and the request alone: when it came, and what else came, changes nothing. */
  readonly random: () => number
  /** A new tool_use id, `toolu_…`, from the seed and the request as well. */
  readonly nextToolUseId: () => string
  /**
   * Present where the server compacts: the answer is to be a summary. The instructions, the API's or the client's own,
   * stand at the end of the request as its last block, and need not say that a summary is wanted.
   */
  readonly summary?: { readonly instructions: string }
}

export type AnswerBlock =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thinking"; readonly thinking: string }
  | { readonly type: "tool_use"; readonly id: string; readonly name: string; readonly input: unknown }
  /** For answers the API would never give: a malformed input, as the JSON text to stream. */
  | { readonly type: "tool_use"; readonly id: string; readonly name: string; readonly inputText: string }

export interface Answer {
  readonly content: readonly AnswerBlock[]
  /** Default: `tool_use` where the content has a tool_use, else `end_turn`. */
  readonly stopReason?: "end_turn" | "max_tokens" | "stop_sequence" | "tool_use" | "pause_turn" | "refusal"
}

export interface Brain {
  readonly name: string
  answer(turn: BrainTurn): Answer | Promise<Answer>
}
