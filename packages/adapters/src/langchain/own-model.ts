/**
 * Requests of our own, such as summaries, over the caller's chat model: with its key, its address and its parameters. They are no part of
 * the caller's run, so none of its listeners hears them.
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
import { boundOptions, isBindable } from "./bound.ts"
import { fromBody } from "./from-body.ts"
import { refusalOf } from "./refusal.ts"
import {
  type CallOptions,
  type ChatModel,
  dialectOf,
  type Fields,
  isRecord,
  type LangChainMessage,
  nameOf,
  present,
} from "./shapes.ts"

/** What a caller's request says about how it is sent. */
export interface LastCall {
  readonly model: ChatModel
  readonly options: CallOptions
}

/** LangChain's package has no field for these. */
const OMITS = ["contextManagement", "signedSummaries", "toolReferences", "cacheEditing"] as const

/** Keeps our requests out of the caller's streams. */
const UNHEARD = { callbacks: [], tags: ["nostream", "langsmith:nostream"] }

export interface OwnModelOptions {
  readonly models?: Readonly<Record<string, ModelOverride>>
}

export function ownModel(last: () => LastCall, { models }: OwnModelOptions = {}): Model {
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
    const sent = fromBody(request as unknown as Fields, { dialect, keepsMarks: dialect === "anthropic" })
    const asked = { ...optionsFor(request, last()), ...(signal ? { signal } : {}) }
    let whole: LangChainMessage | undefined
    try {
      for await (const piece of pieces(last().model, { sent, options: asked, room: request.max_tokens })) {
        whole = whole ? together(whole, piece) : piece
        const text = textIn(piece)
        if (text !== "") yield { type: "text", text }
      }
    } catch (error) {
      if (signal?.aborted) throw new ModelAbortedError(provider)
      throw asModelError(error, { read: readFailure, context: { provider, attempts, secrets: [] } })
    }
    if (signal?.aborted) throw new ModelAbortedError(provider)
    if (!whole) throw new ConnectionLostError({ provider, attempts, providerMessage: "the answer ended early" })
    const response = responseOf(whole, { model: name, dialect, body: request as unknown as Fields })
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

/** What the provider would be sent. Some packages do not say. */
export function paramsOf(model: ChatModel, options: CallOptions): Fields {
  try {
    const params = model.invocationParams?.(options)
    return isRecord(params) ? params : {}
  } catch {
    return {} // the call itself will say what is wrong
  }
}

/** Streamed where the model can: a long answer that is not streamed may take longer than a connection lives. */
async function* pieces(model: ChatModel, { sent, options, room }: Sending): AsyncGenerator<LangChainMessage> {
  const start = async (each: ChatModel) =>
    each.stream ? each.stream(sent, options) : [await each.invoke(sent, options)]
  const roomy = withRoom(model, room)
  yield* await start(roomy).catch((error: unknown) => {
    // private fields of a class are not there in what is made after it
    if (roomy === model || !(error instanceof TypeError)) throw error
    return start(model)
  })
}

interface Sending {
  readonly sent: readonly LangChainMessage[]
  readonly options: CallOptions
  /** For the answer, in tokens. */
  readonly room: number
}

/** The caller's limit is for its answers. A model that has none to set, or that thinks for longer, keeps its own. */
function withRoom(model: ChatModel, tokens: number): ChatModel {
  const { thinking } = model as { readonly thinking?: unknown }
  const budget = isRecord(thinking) ? Number(thinking.budget_tokens ?? 0) : 0
  if (!("maxTokens" in model) || budget >= tokens) return model
  return Object.create(model, { maxTokens: { value: tokens, writable: true } }) as ChatModel
}

interface Growing extends LangChainMessage {
  concat?(next: LangChainMessage): LangChainMessage
}

const together = (whole: Growing, piece: LangChainMessage): LangChainMessage => whole.concat?.(piece) ?? piece

/** Of the caller's run, or what gives its answers their form: ours is a text. */
const NOT_OURS: ReadonlySet<string> = new Set([
  ...["callbacks", "configurable", "signal", "metadata", "tags", "runId", "runName", "tools", "tool_choice"],
  ...["outputConfig", "outputFormat", "response_format", "responseSchema", "ls_structured_output_format", "stop"],
])

/** The parameters that the caller's request had, so that ours reads what that one cached. */
function optionsFor({ tools, tool_choice }: ModelRequest, { model, options }: LastCall): CallOptions {
  const parameters = Object.entries(options).filter(([name]) => !NOT_OURS.has(name))
  const { format: _, ...config } = isRecord(options.outputConfig) ? options.outputConfig : {}
  const given = tools as readonly Fields[] | undefined
  return {
    ...Object.fromEntries(parameters),
    ...present({ outputConfig: config, tools: given && toolsFor(model, given) }),
    ...(tool_choice && given ? { tool_choice: dialectOf(model) === "anthropic" ? tool_choice : tool_choice.type } : {}),
    ...UNHEARD,
  }
}

/** In the shape that the model's package gives them. */
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
