/** Resolves the `model` option: an id, a `Model`, or a model of the Vercel AI SDK. */

import type { CacheLifetime, CacheLifetimeSetting } from "../base/enums.ts"
import { InvalidOptionError, type OptionRule } from "../base/options.ts"
import type { ModelOverride } from "../tokens/models.ts"
import type { AiSdkModel } from "./ai-sdk/ai-sdk.ts"
import type { AnthropicClient } from "./anthropic/anthropic.ts"
import { credentialsFrom } from "./anthropic/credentials.ts"
import type { Model } from "./model.ts"
import { wrapModel } from "./model.ts"

/** A model, by id or as an object. */
export type ModelChoice = string | Model | AiSdkModel

export interface ModelSource {
  readonly model: ModelChoice
  /** The client for a model given by id. Default: a client with the key or token from the environment. */
  readonly client?: AnthropicClient | undefined
  readonly env: Readonly<Record<string, string | undefined>>
  readonly betas?: readonly string[]
  readonly models?: Readonly<Record<string, ModelOverride>>
  /** How long the server caches. `auto`: each request specifies it. */
  readonly cacheLifetime?: CacheLifetimeSetting
}

export const MODEL_OPTION: OptionRule = {
  expected: 'a model id such as "claude-opus-5-5", a Model, or a model of the AI SDK',
  accepts: (value) => (typeof value === "string" && value.trim() !== "") || isModel(value) || isAiSdkModel(value),
}

export const CLIENT_OPTION: OptionRule = {
  expected: "a client of the Anthropic SDK",
  accepts: (value) => typeof (value as Partial<AnthropicClient> | null)?.messages?.create === "function",
}

/** Whether requests can be sent: a model given by id needs a client or a key. */
export const isReachable = ({ model, client, env }: Pick<ModelSource, "model" | "client" | "env">): boolean =>
  typeof model !== "string" || client !== undefined || credentialsFrom(env) !== undefined

/** Adapters are loaded only when one is chosen. */
export async function chooseModel(source: ModelSource): Promise<Model> {
  const { cacheLifetime = "5m" } = source
  const model = await resolveModel(source)
  return cacheLifetime === "auto" ? model : withCacheLifetime(model, cacheLifetime)
}

/**
 * Adds the lifetime to all requests, including those of forks and sub-agents, so that they find the entries. Five minutes is the default
 * of every model.
 */
function withCacheLifetime(model: Model, lifetime: CacheLifetime): Model {
  if (lifetime === "5m") return model
  return wrapModel(model, {
    stream: (request, options) => model.stream(request, { lifetime, ...options }),
    warm: async (request, options) => model.warm?.(request, { lifetime, ...options }),
    wrapSibling: (sibling) => withCacheLifetime(sibling, lifetime),
  })
}

async function resolveModel({ model, client, env, betas = [], models = {} }: ModelSource): Promise<Model> {
  if (typeof model === "string") {
    const { anthropicModel } = await import("./anthropic/anthropic.ts")
    return anthropicModel({ model, env, betas, models, ...(client ? { client } : {}) })
  }
  if (client)
    throw new InvalidOptionError(
      "client",
      'The option "client" goes with a model id. This model brings its own client.',
    )
  if (isModel(model)) return model
  const { aiSdkModel } = await import("./ai-sdk/ai-sdk.ts")
  return aiSdkModel(model, { models })
}

function isModel(value: unknown): value is Model {
  const { stream, facts, name } = (value ?? {}) as Partial<Model>
  return typeof stream === "function" && typeof facts === "object" && facts !== null && typeof name === "string"
}

export function isAiSdkModel(value: unknown): value is AiSdkModel {
  const { doStream, modelId } = (value ?? {}) as { doStream?: unknown; modelId?: unknown }
  return typeof doStream === "function" && typeof modelId === "string"
}
