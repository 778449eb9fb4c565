/** Converts the response of a LangChain model to a response of the Messages API. */
import { createEstimator, findModel } from "@strata/core/tokens"
import { type Dialect, type Fields, isRecord, type LangChainMessage, type UsageMetadata } from "./shapes.ts"
import { answerContent } from "./to-body.ts"

export interface ResponseContext {
  readonly model: string
  readonly dialect: Dialect
  /** The body that was sent, for estimating its size if the provider does not count. */
  readonly body: Fields
}

export interface MessagesResponse extends Fields {
  readonly id: string
  readonly model: string
  readonly content: readonly Fields[]
  readonly stop_reason: string
  readonly usage: Readonly<Record<string, unknown>> & { readonly input_tokens: number; readonly output_tokens: number }
}

export function responseOf(message: LangChainMessage, { model, dialect, body }: ResponseContext): MessagesResponse {
  const content = answerContent(message, dialect)
  return {
    id: message.id ?? "",
    type: "message",
    role: "assistant",
    model,
    content,
    stop_reason: stopReason(message),
    stop_sequence: null,
    usage: usageOf(message) ?? estimateUsage(body, { content, model }),
  }
}

/** Stop reasons of providers, mapped to those of the Messages API. */
const STOP_REASONS: Readonly<Record<string, string>> = {
  ...{ stop: "end_turn", length: "max_tokens", tool_calls: "tool_use", content_filter: "refusal" },
  ...{ STOP: "end_turn", MAX_TOKENS: "max_tokens", SAFETY: "refusal" },
}

function stopReason({ response_metadata = {}, additional_kwargs = {}, tool_calls = [] }: LangChainMessage): string {
  const { stop_reason, finish_reason, finishReason } = { ...additional_kwargs, ...response_metadata } as Fields
  const given = [stop_reason, finish_reason, finishReason].find((each) => typeof each === "string") as
    | string
    | undefined
  const reason = given === undefined ? "end_turn" : (STOP_REASONS[given] ?? given)
  // some providers report a normal stop when they call a tool
  return reason === "end_turn" && tool_calls.length > 0 ? "tool_use" : reason
}

/** LangChain includes cached tokens in the input, the API does not. */
function usageOf({ usage_metadata, response_metadata = {} }: LangChainMessage): MessagesResponse["usage"] | undefined {
  if (!usage_metadata) return undefined
  const {
    input_tokens,
    output_tokens,
    input_token_details: { cache_read = 0, cache_creation = 0 } = {},
  } = usage_metadata
  const { cache_creation: lifetimes } = isRecord(response_metadata.usage) ? response_metadata.usage : {}
  return {
    input_tokens: Math.max(0, input_tokens - cache_read - cache_creation),
    output_tokens,
    cache_read_input_tokens: cache_read,
    cache_creation_input_tokens: cache_creation,
    ...(isRecord(lifetimes) ? { cache_creation: lifetimes } : {}),
  }
}

/** Estimates usage, because zero would look like an empty context. */
function estimateUsage(
  body: Fields,
  { content, model }: { readonly content: readonly Fields[]; readonly model: string },
) {
  const estimator = createEstimator(findModel(model).facts.family)
  const size = (value: unknown) => Math.round(estimator.text(JSON.stringify(value) ?? ""))
  return { input_tokens: size([body.system, body.tools, body.messages]), output_tokens: size(content) }
}

/** The output of all rounds, and the input of the last. */
export function totalUsage(rounds: readonly LangChainMessage[]): UsageMetadata | undefined {
  const last = rounds.at(-1)?.usage_metadata
  if (!last) return undefined
  const output_tokens = rounds.reduce((sum, { usage_metadata }) => sum + (usage_metadata?.output_tokens ?? 0), 0)
  return { ...last, output_tokens, total_tokens: last.input_tokens + output_tokens }
}
