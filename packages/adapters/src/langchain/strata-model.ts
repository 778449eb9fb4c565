/**
 * Strata's own requests, such as summaries, through the client's chat model, with its key, address and parameters. They are not part of the
 * client's run, so its listeners do not receive them.
 */
import type { Model, ModelRequest, ModelResponse } from "@strata/core"
import type { ModelEvent, StreamOptions } from "@strata/core/model"
import {
  asModelError,
  ConnectionLostError,
  ModelAbortedError,
  type ProviderFailure,
  placeBreakpoints,
  withRetries,
} from "@strata/core/model"
import { findModel, type ModelOverride } from "@strata/core/tokens"
import { responseOf } from "./answer.ts"
import { boundOptions, isBindable } from "./bound-model.ts"
import { fromBody } from "./from-body.ts"
import { refusalOf } from "./refusal.ts"
import {
  type CallOptions,
  type ChatModel,
  definedOnly,
  dialectOf,
  type Fields,
  isRecord,
  type LangChainMessage,
  nameOf,
} from "./shapes.ts"

/** The model and options of a client's request. */
export interface LastCall {
  readonly model: ChatModel
  readonly options: CallOptions
}

/** Features for which LangChain's package has no field. */
const OMITS = ["contextManagement", "signedSummaries", "toolReferences", "cacheEditing"] as const

/** Excludes Strata's requests from the client's streams. */
const NO_LISTENERS = { callbacks: [], tags: ["nostream", "langsmith:nostream"] }

export interface StrataModelOptions {
  readonly models?: Readonly<Record<string, ModelOverride>>
}

export function strataModel(last: () => LastCall, { models }: StrataModelOptions = {}): Model {
  const { model, options } = last()
  const dialect = dialectOf(model)
  const name = nameOf(model, paramsOf(model, options))
  const { facts } = findModel(name, models)
  const provider = dialect === "anthropic" ? "anthropic" : (model._llmType?.() ?? "langchain")
  const omitted = Object.fromEntries(OMITS.map((feature) => [feature, false]))

  async function* attempt(
    request: ModelRequest,
    attempts: number,
    { signal }: StreamOptions,
  ): AsyncGenerator<ModelEvent> {
    const sent = fromBody(request as unknown as Fields, { dialect, keepsBreakpoints: dialect === "anthropic" })
    const asked = { ...optionsFor(request, last()), ...(signal ? { signal } : {}) }
    let message: LangChainMessage | undefined
    try {
      for await (const piece of streamChunks(last().model, { sent, options: asked, maxTokens: request.max_tokens })) {
        message = message ? together(message, piece) : piece
        const text = textIn(piece)
        if (text !== "") yield { type: "text", text }
      }
    } catch (error) {
      if (signal?.aborted) throw new ModelAbortedError(provider)
      throw asModelError(error, { read: readFailure, context: { provider, attempts, secrets: [] } })
    }
    if (signal?.aborted) throw new ModelAbortedError(provider)
    if (!message) throw new ConnectionLostError({ provider, attempts, providerMessage: "the answer ended early" })
    const response = responseOf(message, { model: name, dialect, body: request as unknown as Fields })
    yield { type: "response", response: response as unknown as ModelResponse }
  }

  return {
    name,
    provider,
    facts: { ...facts, accepts: { ...facts.accepts, ...omitted } },
    omits: OMITS,
    stream(request, how: StreamOptions = {}) {
      const { signal, attempts: watch, limits: _, purpose: __, previous: ___, ...caching } = how
      const placed = dialect === "anthropic" ? placeBreakpoints(request, caching) : request
      return withRetries({ provider, signal, attempts: watch, attempt: (attempts) => attempt(placed, attempts, how) })
    },
  }
}

/** The parameters that the provider would receive, if the package exposes them. */
export function paramsOf(model: ChatModel, options: CallOptions): Fields {
  try {
    const params = model.invocationParams?.(options)
    return isRecord(params) ? params : {}
  } catch {
    return {} // the call itself will report the error
  }
}

/** Streams if the model can, because a long response without streaming may outlast the connection. */
async function* streamChunks(
  model: ChatModel,
  { sent, options, maxTokens }: SendOptions,
): AsyncGenerator<LangChainMessage> {
  const start = async (each: ChatModel) =>
    each.stream ? each.stream(sent, options) : [await each.invoke(sent, options)]
  const roomy = withRoom(model, maxTokens)
  yield* await start(roomy).catch((error: unknown) => {
    // objects derived from a class instance lack its private fields
    if (roomy === model || !(error instanceof TypeError)) throw error
    return start(model)
  })
}

interface SendOptions {
  readonly sent: readonly LangChainMessage[]
  readonly options: CallOptions
  /** Maximum output tokens. */
  readonly maxTokens: number
}

/** Sets the output limit for a summary. A model without such a limit, or with a larger thinking budget, keeps its own. */
function withRoom(model: ChatModel, tokens: number): ChatModel {
  const { thinking } = model as { readonly thinking?: unknown }
  const budget = isRecord(thinking) ? Number(thinking.budget_tokens ?? 0) : 0
  if (!("maxTokens" in model) || budget >= tokens) return model
  return Object.create(model, { maxTokens: { value: tokens, writable: true } }) as ChatModel
}

interface GrowingMessage extends LangChainMessage {
  concat?(next: LangChainMessage): LangChainMessage
}

const together = (whole: GrowingMessage, piece: LangChainMessage): LangChainMessage => whole.concat?.(piece) ?? piece

/** Options of the client's run, or options that shape its responses. */
const DROPPED_OPTIONS: ReadonlySet<string> = new Set([
  ...["callbacks", "configurable", "signal", "metadata", "tags", "runId", "runName", "tools", "tool_choice"],
  ...["outputConfig", "outputFormat", "response_format", "responseSchema", "ls_structured_output_format", "stop"],
])

/** The parameters of the client's request, so that Strata's request reads its cache. */
function optionsFor({ tools, tool_choice }: ModelRequest, { model, options }: LastCall): CallOptions {
  const parameters = Object.entries(options).filter(([name]) => !DROPPED_OPTIONS.has(name))
  const { format: _, ...config } = isRecord(options.outputConfig) ? options.outputConfig : {}
  const given = tools as readonly Fields[] | undefined
  return {
    ...Object.fromEntries(parameters),
    ...definedOnly({ outputConfig: config, tools: given && toolsFor(model, given) }),
    ...(tool_choice && given ? { tool_choice: dialectOf(model) === "anthropic" ? tool_choice : tool_choice.type } : {}),
    ...NO_LISTENERS,
  }
}

/** Tools in the shape of the model's package. */
function toolsFor(model: ChatModel, tools: readonly Fields[]): readonly unknown[] | undefined {
  if (dialectOf(model) === "anthropic" || !isBindable(model)) return tools
  const plain = tools.map(({ name, description, input_schema: schema }) => ({ name, description, schema }))
  return boundOptions(model.bindTools(plain)).tools
}

const textIn = ({ content }: LangChainMessage): string => {
  if (typeof content === "string") return content
  if (!Array.isArray(content)) return ""
  return content
    .map((part) => (isRecord(part) && part.type === "text" && typeof part.text === "string" ? part.text : ""))
    .join("")
}

function readFailure(error: unknown): ProviderFailure | undefined {
  const refusal = refusalOf(error)
  if (!refusal) return undefined
  const { status, error: body } = refusal
  const inner = isRecord(body) && isRecord(body.error) ? body.error : body
  const message =
    isRecord(inner) && typeof inner.message === "string"
      ? inner.message
      : error instanceof Error
        ? error.message
        : String(error)
  return { status, message, type: isRecord(inner) && typeof inner.type === "string" ? inner.type : undefined }
}
