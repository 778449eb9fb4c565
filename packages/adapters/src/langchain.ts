/**
 * Strata in LangChain 1 and deepagents: `createAgent({ model, tools, middleware: [strataMiddleware()] })`. The thread of the configuration
 * is the conversation. The agent's state keeps every message; the model receives what fits.
 */
import { createLookup } from "./langchain/conversation-lookup.ts"
import { followedModel } from "./langchain/followed-model.ts"
import type { StrataOptions } from "./options.ts"

export { type ConversationStatus, closeStrata, strataStatus } from "./conversation-pool.ts"
export type { StrataOptions } from "./options.ts"

/** A middleware of an agent, by its shape. */
export interface StrataMiddleware {
  readonly name: string
  wrapModelCall<R extends AgentRequest, A>(request: R, handler: (request: R) => A | PromiseLike<A>): Promise<A>
}

/** A request of an agent to its model. */
export interface AgentRequest {
  readonly model: unknown
  readonly runtime?: unknown
}

export function strataMiddleware(options: StrataOptions = {}): StrataMiddleware {
  const lookup = createLookup(options)
  return {
    name: "StrataMiddleware",
    async wrapModelCall(request, handler) {
      const model = followedModel(await actualModel(request), lookup)
      return await handler({ ...request, model })
    },
  }
}

/** Resolves a model that was given by name, which is instantiated for each call. */
async function actualModel({ model, runtime }: AgentRequest): Promise<unknown> {
  const { _getModelInstance: make } = (model ?? {}) as { readonly _getModelInstance?: unknown }
  if (typeof make !== "function") return model
  const { configurable } = (runtime ?? {}) as { readonly configurable?: unknown }
  return Reflect.apply(make, model, [configurable === undefined ? {} : { configurable }])
}
