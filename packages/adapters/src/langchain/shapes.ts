/** The parts of LangChain that Strata uses, by their shape: none of its packages is imported, so any installed version fits. */

export type Fields = Readonly<Record<string, unknown>>

/** A message object of LangChain, or the plain form that its models also accept. */
export interface LangChainMessage {
  readonly type?: string
  readonly role?: string
  readonly content: unknown
  readonly id?: string | undefined
  readonly name?: string | undefined
  readonly tool_calls?: readonly ToolCall[] | undefined
  readonly invalid_tool_calls?: readonly Fields[] | undefined
  readonly tool_call_id?: string | undefined
  readonly status?: string | undefined
  readonly usage_metadata?: UsageMetadata | undefined
  readonly additional_kwargs?: Fields | undefined
  readonly response_metadata?: Fields | undefined
}

export interface ToolCall {
  readonly id?: string | undefined
  readonly name: string
  readonly args: Fields
  readonly type?: string
}

/** `input_tokens` includes cached tokens. */
export interface UsageMetadata {
  readonly input_tokens: number
  readonly output_tokens: number
  readonly total_tokens: number
  readonly input_token_details?: { readonly cache_read?: number; readonly cache_creation?: number }
  readonly output_token_details?: Fields
}

/** Options of a model call: those that its tools were bound with, and the configuration of the run. */
export interface CallOptions extends Fields {
  readonly tools?: readonly unknown[]
  readonly tool_choice?: unknown
  readonly callbacks?: unknown
  readonly configurable?: Fields
  readonly signal?: AbortSignal
}

export interface ChatModel {
  invoke(input: unknown, options?: CallOptions): Promise<LangChainMessage>
  stream?(input: unknown, options?: CallOptions): Promise<AsyncIterable<LangChainMessage>>
  /** The parameters of a request in the provider's form. */
  invocationParams?(options: CallOptions): Fields
  _llmType?(): string
  getName?(): string
  readonly model?: unknown
  readonly modelName?: unknown
}

/** How a model's provider accepts messages. Claude gets blocks of the Messages API with cache breakpoints. */
export type Dialect = "anthropic" | "other"

export const dialectOf = (model: ChatModel): Dialect => (model._llmType?.() === "anthropic" ? "anthropic" : "other")

export function nameOf(model: ChatModel, params: Fields = {}): string {
  for (const name of [params.model, model.model, model.modelName]) {
    if (typeof name === "string" && name !== "") return name
  }
  return model.getName?.() ?? "a model"
}

/** `human`, `ai`, `tool`, `system` or another kind. */
export const kindOf = ({ type, role }: LangChainMessage): string => KINDS[type ?? role ?? ""] ?? type ?? role ?? ""

const KINDS: Readonly<Record<string, string>> = { user: "human", assistant: "ai", developer: "system" }

export const isRecord = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Removes fields that are empty or missing. */
export function definedOnly(fields: Fields): Fields {
  const isThere = (value: unknown) =>
    value !== undefined &&
    value !== null &&
    !(isRecord(value) && Object.keys(value).length === 0) &&
    !(Array.isArray(value) && value.length === 0)
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => isThere(value)))
}
