/** Converts a call of a chat model to a request of the Messages API. */
import type { ApiBody, ConversationRequest } from "../clients/plan.ts"
import {
  type CallOptions,
  type ChatModel,
  type Dialect,
  definedOnly,
  dialectOf,
  type Fields,
  isRecord,
  type LangChainMessage,
  nameOf,
} from "./shapes.ts"
import { type LastCall, paramsOf } from "./strata-model.ts"
import { toBody, toolDefinition } from "./to-body.ts"

export interface LangChainRequest extends ConversationRequest, LastCall {}

export interface LangChainCall {
  readonly model: ChatModel
  readonly input: unknown
  /** Includes the options that the tools were bound with. */
  readonly options: CallOptions
  /** The tools before the model's package converted them. */
  readonly tools: readonly unknown[]
  readonly conversation?: string | undefined
}

/** `undefined` if the call cannot be expressed as a request of the Messages API. */
export function requestOf({ model, input, options, tools, conversation }: LangChainCall): LangChainRequest | undefined {
  if (!Array.isArray(input) || !input.every(isMessage)) return undefined
  const dialect = dialectOf(model)
  const translated = toBody(input, dialect)
  if (!translated || translated.messages.length === 0) return undefined
  const params = paramsOf(model, options)
  const body = { ...parametersIn(params, { model, dialect, options, tools }), ...translated }
  const { betas } = params
  return {
    client: { name: "LangChain", ...identityIn(options, conversation), tools: toolNames(body) },
    body,
    ...(Array.isArray(betas) ? { betas: betas.map(String) } : {}),
    model,
    options,
  }
}

const isMessage = (value: unknown): value is LangChainMessage => isRecord(value) && "content" in value

function parametersIn(
  params: Fields,
  { model, dialect, options, tools }: Omit<LangChainCall, "input"> & { readonly dialect: Dialect },
): ApiBody {
  const name = nameOf(model, params)
  if (dialect === "anthropic") {
    const { betas: _, stream: __, ...own } = params
    return { ...definedOnly(own), model: name }
  }
  const { max_tokens, max_completion_tokens, maxOutputTokens } = params
  const limit = [max_tokens, max_completion_tokens, maxOutputTokens].find((each) => typeof each === "number")
  const bound = options.tools ?? []
  const isKnown =
    bound.length > 0 && bound.every((tool) => isRecord(tool) && (isRecord(tool.function) || "input_schema" in tool))
  const definitions = (isKnown ? bound : tools).map(toolDefinition)
  return { model: name, ...definedOnly({ max_tokens: limit, tools: definitions }) }
}

const toolNames = ({ tools }: ApiBody): readonly string[] =>
  Array.isArray(tools)
    ? tools.flatMap((tool) => (isRecord(tool) && typeof tool.name === "string" ? tool.name : []))
    : []

/**
 * Identifies the conversation by the thread of the configuration. An agent inside a graph or a tool runs in the outer agent's thread: the
 * names of the enclosing nodes distinguish it.
 */
function identityIn(
  { configurable = {} }: CallOptions,
  conversation: string | undefined,
): Pick<ConversationRequest["client"], "id" | "thread"> {
  const { thread_id, checkpoint_ns } = configurable
  const id = conversation ?? (thread_id === undefined || thread_id === null ? undefined : String(thread_id))
  const nodes = typeof checkpoint_ns === "string" ? checkpoint_ns.split("|").slice(0, -1) : []
  const thread = nodes.map((node) => node.replace(/:[^:]*$/, "")).join("|")
  return { ...(id === undefined ? {} : { id }), ...(thread === "" ? {} : { thread }) }
}
