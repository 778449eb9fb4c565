/**
 * Any model of the Vercel AI SDK: OpenAI, Google, Ollama, OpenRouter and every other provider package. The conversation keeps the format of
 * the Messages API; this adapter translates both ways. It calls the model object directly and loads nothing of `ai`.
 *
 * ```ts
 * import { openai } from "@ai-sdk/openai"
 * const model = aiSdkModel(openai("gpt-5"))
 * ```
 */
import { type Block, toBlocks } from "../../messages/blocks.ts"
import type { Usage } from "../../messages/messages.ts"
import type { ModelRequest } from "../../messages/request.ts"
import { createEstimator } from "../../tokens/estimate.ts"
import type { ModelFacts } from "../../tokens/model-facts.ts"
import type { ModelOverride } from "../../tokens/models.ts"
import { placeBreakpoints } from "../cache/breakpoints.ts"
import { ConnectionLostError, ModelAbortedError } from "../errors.ts"
import type { Model, ModelEvent, StreamOptions } from "../model.ts"
import { asModelError } from "../provider-failure.ts"
import { type RetryOptions, withRetries } from "../retry.ts"
import { PartCollector } from "./collect.ts"
import { AI_SDK_OMITS, aiSdkFacts } from "./facts.ts"
import { readFailure } from "./failure.ts"
import { type AiSdkLanguageModel, type StreamPart, startStream } from "./interface.ts"
import { toCallOptions } from "./prompt.ts"

/** A model of any AI SDK provider, by its shape: the package `ai` need not be installed. */
export interface AiSdkModel {
  readonly specificationVersion: string
  readonly provider: string
  readonly modelId: string
  doStream(options: never): PromiseLike<unknown>
}

export interface AiSdkModelOptions extends RetryOptions {
  /** The name people use. Default: the provider's id of the model. */
  readonly name?: string
  /** Facts about models that override or extend the built-in table, as in the settings. */
  readonly models?: Readonly<Record<string, ModelOverride>>
}

interface Attempt {
  /** Attempts so far, including this one. */
  readonly attempts: number
  readonly signal: AbortSignal | undefined
}

export function aiSdkModel(given: AiSdkModel, options: AiSdkModelOptions = {}): Model {
  const languageModel = given as unknown as AiSdkLanguageModel
  const { provider, modelId } = given
  const { name = modelId } = options
  const facts = aiSdkFacts(name, options.models)
  const isClaude = /anthropic/i.test(provider)

  async function* attempt(request: ModelRequest, { attempts, signal }: Attempt): AsyncGenerator<ModelEvent> {
    const collector = new PartCollector(modelId)
    try {
      const call = toCallOptions(request, provider)
      const stream = await startStream(languageModel, { ...call, ...(signal ? { abortSignal: signal } : {}) })
      for await (const part of untilAborted(stream, signal)) {
        if (part.type === "error") throw part.error
        const event = collector.take(part)
        if (event) yield event
      }
    } catch (error) {
      if (signal?.aborted) throw new ModelAbortedError(provider)
      throw asModelError(error, { read: readFailure, context: { provider, attempts, secrets: [] } })
    }
    if (signal?.aborted) throw new ModelAbortedError(provider)
    const response = collector.response((content) => estimateUsage({ request, content, facts }))
    if (!response) throw new ConnectionLostError({ provider, attempts, said: "the answer ended early" })
    yield { type: "response", response }
  }

  return {
    name,
    provider,
    facts,
    omits: AI_SDK_OMITS,
    stream(request: ModelRequest, { signal, ...caching }: StreamOptions = {}) {
      const placed = isClaude ? placeBreakpoints(request, caching) : request
      return withRetries({
        ...options,
        provider,
        signal,
        attempt: (attempts) => attempt(placed, { attempts, signal }),
      })
    },
  }
}

/** The parts of a stream, also of a provider that ignores its signal. */
async function* untilAborted(stream: ReadableStream<StreamPart>, signal?: AbortSignal): AsyncGenerator<StreamPart> {
  const reader = stream.getReader()
  const stop = () => void reader.cancel().catch(() => undefined)
  signal?.addEventListener("abort", stop, { once: true })
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value
  } finally {
    signal?.removeEventListener("abort", stop)
    stop() // the consumer left early, so the provider can stop
  }
}

/** For providers that do not count tokens, such as some local ones: zero would look like an empty context. */
function estimateUsage({
  request,
  content,
  facts,
}: {
  request: ModelRequest
  content: readonly Block[]
  facts: ModelFacts
}): Usage {
  const estimator = createEstimator(facts.family)
  const prompt = [
    ...toBlocks(request.system ?? ""),
    ...request.messages.flatMap((message) => toBlocks(message.content)),
  ]
  const tools = request.tools ? estimator.text(JSON.stringify(request.tools)) : 0
  return {
    input_tokens: Math.round(estimator.blocks(prompt) + tools),
    output_tokens: Math.round(estimator.blocks(content)),
  }
}
