/**
 * A processor for Mastra's agents. Before each step it puts the AI SDK's middleware around the step's model, so that Mastra's own messages,
 * memory and tools stay as they are. A processor that changed messages could not offer a tool of ours, nor answer its calls.
 */
import { strataMiddleware } from "../ai-sdk.ts"
import type { StrataOptions } from "../options.ts"

// A model of Mastra with a middleware of the AI SDK around it, as `wrapLanguageModel` does. Mastra wraps its models once more.

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

interface Around {
  readonly doGenerate: () => PromiseLike<Fields>
  readonly doStream: () => PromiseLike<Fields>
  readonly params: Fields
  readonly model: LanguageModel
}

/** The part of a middleware that is used here. */
export interface Middleware {
  readonly wrapGenerate: (around: Around) => PromiseLike<Fields>
  readonly wrapStream: (around: Around) => PromiseLike<Fields>
}

export function wrapped(inner: LanguageModel, middleware: Middleware): LanguageModel {
  const { specificationVersion, provider, modelId, supportedUrls } = inner
  const model: LanguageModel = {
    ...{ specificationVersion, provider, modelId, supportedUrls },
    doGenerate: async (params) => withContent(await inner.doGenerate(params)),
    doStream: (params) => inner.doStream(params),
  }
  const around = (params: Fields): Around => ({
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

/** A model that Mastra could not reach has an error in a stream in place of an answer. */
async function withContent(result: Fields): Promise<Fields> {
  if (result.content !== undefined) return result
  for await (const part of result.stream as AsyncIterable<Fields>) if (part.type === "error") throw part.error
  return result
}

/** What Mastra gives for each step, as far as it is read here. */
interface Step<M> {
  readonly model: M
  /** Mastra writes the thread on each message. */
  readonly messages: readonly { readonly threadId?: string | undefined }[]
}

/** Fits `inputProcessors` of an agent. */
export interface StrataProcessor {
  readonly id: "strata"
  readonly name: "Strata"
  processInputStep<M>(step: Step<M>): { readonly model: M }
}

/** Put it last: other processors may choose another model. Each thread is a conversation; without one the messages tell. */
export function strataProcessor(options: StrataOptions = {}): StrataProcessor {
  return {
    id: "strata",
    name: "Strata",
    processInputStep: ({ model, messages }) => {
      const conversation = options.conversation ?? messages.findLast(({ threadId }) => threadId)?.threadId
      const middleware = strataMiddleware({ ...options, ...(conversation ? { conversation } : {}) })
      return { model: wrapped(model as LanguageModel, middleware) as typeof model }
    },
  }
}
