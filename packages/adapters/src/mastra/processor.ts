/**
 * A processor for Mastra agents. Before each step it wraps the step's model with the AI SDK middleware, so that Mastra's own messages,
 * memory and tools stay unchanged. A processor that replaced messages could neither offer a Strata tool nor answer its calls.
 */
import { strataMiddleware } from "../ai-sdk.ts"
import type { StrataOptions } from "../options.ts"

// Wraps a Mastra model with a middleware of the AI SDK, as `wrapLanguageModel` does. Mastra adds a wrapper of its own around its models.

type Fields = Readonly<Record<string, unknown>>
type Call = (params: Fields) => PromiseLike<Fields>

export interface LanguageModel {
  readonly specificationVersion: string
  readonly provider: string
  readonly modelId: string
  readonly supportedUrls?: unknown
  readonly doGenerate: Call
  readonly doStream: Call
}

interface WrappedCall {
  readonly doGenerate: () => PromiseLike<Fields>
  readonly doStream: () => PromiseLike<Fields>
  readonly params: Fields
  readonly model: LanguageModel
}

/** The part of a middleware that is used here. */
export interface Middleware {
  readonly wrapGenerate: (around: WrappedCall) => PromiseLike<Fields>
  readonly wrapStream: (around: WrappedCall) => PromiseLike<Fields>
}

export function wrapModel(inner: LanguageModel, middleware: Middleware): LanguageModel {
  const { specificationVersion, provider, modelId, supportedUrls } = inner
  const model: LanguageModel = {
    ...{ specificationVersion, provider, modelId, supportedUrls },
    doGenerate: async (params) => withContent(await inner.doGenerate(params)),
    doStream: (params) => inner.doStream(params),
  }
  const around = (params: Fields): WrappedCall => ({
    doGenerate: () => model.doGenerate(params),
    doStream: () => model.doStream(params),
    params,
    model,
  })
  return {
    ...model,
    doGenerate: (params) => middleware.wrapGenerate(around(params)),
    doStream: (params) => middleware.wrapStream(around(params)),
  }
}

/** Throws the error of a model that Mastra could not reach, which is in a stream instead of a response. */
async function withContent(result: Fields): Promise<Fields> {
  if (result.content !== undefined) return result
  for await (const part of result.stream as AsyncIterable<Fields>) if (part.type === "error") throw part.error
  return result
}

/** The argument that Mastra passes for each step, as far as it is read here. */
interface ProcessorStep<M> {
  readonly model: M
  /** Mastra sets the thread on each message. */
  readonly messages: readonly { readonly threadId?: string | undefined }[]
}

/** Fits `inputProcessors` of an agent. */
export interface StrataProcessor {
  readonly id: "strata"
  readonly name: "Strata"
  processInputStep<M>(step: ProcessorStep<M>): { readonly model: M }
}

/**
 * Add it last: later processors that replace the model bypass Strata. Each thread is a conversation; without a thread it is inferred from
 * the messages.
 */
export function strataProcessor(options: StrataOptions = {}): StrataProcessor {
  return {
    id: "strata",
    name: "Strata",
    processInputStep: ({ model, messages }) => {
      const conversation = options.conversation ?? messages.findLast(({ threadId }) => threadId)?.threadId
      const middleware = strataMiddleware({ ...options, ...(conversation ? { conversation } : {}) })
      return { model: wrapModel(model as LanguageModel, middleware) as typeof model }
    },
  }
}
