/**
 * The request builder: a pure function of the views. No clock, no random id and no map order gets into a request. Equal views give
 * equal bytes.
 */
import { hasExactText, stringifyExact } from "../../messages/exact-json.ts"
import type { FlatMessage } from "../../messages/flatten.ts"
import type { ModelRequest, RequestExtras, SystemPrompt, ToolDefinition } from "../../messages/request.ts"

export interface RequestParts {
  /** As it is sent, without a `[1m]` suffix. */
  readonly model: string
  readonly maxTokens: number
  readonly system: unknown
  readonly tools: unknown
  readonly messages: readonly FlatMessage[]
  readonly thinking?: ModelRequest["thinking"]
  readonly extras?: RequestExtras
}

export function buildRequest({
  model,
  maxTokens,
  system,
  tools,
  messages,
  thinking,
  extras,
}: RequestParts): ModelRequest {
  return {
    model,
    max_tokens: maxTokens,
    ...(system ? { system: system as SystemPrompt } : {}),
    ...(Array.isArray(tools) && tools.length > 0 ? { tools: tools as ToolDefinition[] } : {}),
    messages: messages as ModelRequest["messages"],
    ...(thinking ? { thinking } : {}),
    ...extras,
  } as ModelRequest
}

/** All edits in order, and each beta once. */
export function mergeExtras(extras: readonly RequestExtras[]): RequestExtras {
  const edits = extras.flatMap(({ context_management }) => context_management?.edits ?? [])
  const betas = [...new Set(extras.flatMap((each) => each.betas ?? []))]
  return { ...(edits.length > 0 ? { context_management: { edits } } : {}), ...(betas.length > 0 ? { betas } : {}) }
}

/** The body of a request, with fields spelled as the model or the caller wrote them. Otherwise it equals `JSON.stringify`. */
export function serialiseRequest(request: ModelRequest, written: (message: Message) => string = writtenOut): string {
  const { messages, ...rest } = request
  const front = JSON.stringify(rest)
  const texts = messages.map((message) => written(message))
  return `${front === "{}" ? "{" : `${front.slice(0, -1)},`}"messages":[${texts.join(",")}]}`
}

type Message = ModelRequest["messages"][number]

/** One message as it is sent. */
export const writtenOut = (message: Message): string =>
  hasExactText(message) ? stringifyExact(message) : JSON.stringify(message)
