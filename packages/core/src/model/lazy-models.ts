/** The models exported from the package's root. Creating one is cheap: its adapter is loaded with the first request. */

import {
  anOption,
  aPort,
  checkOptions,
  describe,
  InvalidOptionError,
  type OptionRules,
  required,
} from "../base/options.ts"
import { findModel } from "../tokens/models.ts"
import { aiSdkAddress, anthropicAddress } from "./address.ts"
import type { AiSdkModel, AiSdkModelOptions } from "./ai-sdk/ai-sdk.ts"
import { AI_SDK_OMITS, aiSdkFacts } from "./ai-sdk/facts.ts"
import type { AnthropicModel, AnthropicModelOptions } from "./anthropic/anthropic.ts"
import { CLIENT_OPTION, isAiSdkModel } from "./choose-model.ts"
import type { Model } from "./model.ts"
import type { RetryOptions } from "./stream.ts"

/**
 * Claude, through the official SDK. Needed only for options that a model id cannot express: a base URL, retries, betas.
 *
 * @example
 * const model = anthropicModel({ model: "claude-opus-5-5", baseURL: "http://127.0.0.1:4010" })
 */
export function anthropicModel(options: AnthropicModelOptions): AnthropicModel {
  checkAnthropicOptions(options)
  const { model: name, models } = options
  const adapter = loadLazily(async () => (await import("./anthropic/anthropic.ts")).anthropicModel(options))
  const { facts } = findModel(name, models)
  return {
    name,
    provider: "anthropic",
    address: anthropicAddress(options),
    get facts() {
      return adapter.loaded()?.facts ?? facts // a lookup at the provider may have changed them
    },
    stream: streamOf(adapter),
    warm: async (request, given) => (await adapter.load()).warm(request, given),
    count: async (request, given) => (await adapter.load()).count(request, given),
    learn: async (given) => (await adapter.load()).learn(given),
    sibling: (other) => anthropicModel({ ...options, model: other }),
  }
}

/**
 * Any model of the Vercel AI SDK: OpenAI, Google, Ollama, OpenRouter and others. Needed only for options; `model: openai("gpt-5")` works
 * directly.
 */
export function aiSdkModel(model: AiSdkModel, options: AiSdkModelOptions = {}): Model {
  checkAiSdkOptions(model, options)
  const { name = model.modelId } = options
  const adapter = loadLazily(async () => (await import("./ai-sdk/ai-sdk.ts")).aiSdkModel(model, options))
  const address = aiSdkAddress(model)
  return {
    name,
    provider: model.provider,
    ...(address ? { address } : {}),
    facts: aiSdkFacts(name, options.models),
    omits: AI_SDK_OMITS,
    stream: streamOf(adapter),
  }
}

interface LazyAdapter<M> {
  load(): Promise<M>
  loaded(): M | undefined
}

function loadLazily<M>(load: () => Promise<M>): LazyAdapter<M> {
  let pending: Promise<M> | undefined
  let loaded: M | undefined
  return {
    load() {
      pending ??= load().then((model) => {
        loaded = model
        return model
      })
      return pending
    },
    loaded: () => loaded,
  }
}

const streamOf = (adapter: LazyAdapter<Model>): Model["stream"] =>
  async function* (request, options) {
    yield* (await adapter.load()).stream(request, options)
  }

/** Rules for the retry options of `anthropicModel` and `aiSdkModel`. */
const RETRY_RULES: OptionRules<RetryOptions> = {
  maxAttempts: anOption.number,
  maxWaitMs: anOption.number,
  random: anOption.callback,
  delay: anOption.callback,
}

const ANTHROPIC_RULES: OptionRules<AnthropicModelOptions> = {
  model: required({ ...anOption.filledText, expected: 'a model id such as "claude-opus-5-5"' }),
  apiKey: anOption.text,
  baseURL: anOption.filledText,
  betas: anOption.list,
  client: CLIENT_OPTION,
  timeoutMs: anOption.number,
  limits: anOption.object,
  clock: aPort.clock,
  models: anOption.object,
  env: anOption.object,
  ...RETRY_RULES,
}

const AI_SDK_RULES: OptionRules<AiSdkModelOptions> = {
  name: anOption.filledText,
  models: anOption.object,
  limits: anOption.object,
  clock: aPort.clock,
  ...RETRY_RULES,
}

const checkAnthropicOptions = (options: unknown): void => checkOptions("anthropicModel", options, ANTHROPIC_RULES)

function checkAiSdkOptions(model: unknown, options: unknown): void {
  if (!isAiSdkModel(model))
    throw new InvalidOptionError(
      "model",
      `aiSdkModel() takes a model of the AI SDK, such as openai("gpt-5"), not ${describe(model)}.`,
    )
  checkOptions("aiSdkModel", options, AI_SDK_RULES)
}
