/**
 * Strata in LangChain 1 and deepagents: `createAgent({ model, tools, middleware: [strataMiddleware()] })`. The thread of the configuration is
 * the conversation. The agent's state keeps every message; the model gets what fits.
 */
import { doorOf } from "./langchain/door.ts"
import { followedModel } from "./langchain/followed-model.ts"
import type { StrataOptions } from "./options.ts"

export type { StrataOptions } from "./options.ts"
export { type ConversationStatus, closeStrata, strataStatus } from "./shared.ts"

/** A middleware of an agent, by its shape. */
export interface StrataMiddleware {
  readonly name: string
  wrapModelCall<R extends AgentRequest, A>(request: R, handler: (request: R) => A | PromiseLike<A>): Promise<A>
}

/** What an agent asks its model. */
export interface AgentRequest {
  readonly model: unknown
  readonly runtime?: unknown
}

export function strataMiddleware(options: StrataOptions = {}): StrataMiddleware {
  const door = doorOf(options)
  return {
    name: "StrataMiddleware",
    async wrapModelCall(request, handler) {
      const model = followedModel(await actualModel(request), door)
      return await handler({ ...request, model })
    },
  }
}

/** A model that was given by its name is made for each call. */
async function actualModel({ model, runtime }: AgentRequest): Promise<unknown> {
  const { _getModelInstance: make } = (model ?? {}) as { readonly _getModelInstance?: unknown }
  if (typeof make !== "function") return model
  const { configurable } = (runtime ?? {}) as { readonly configurable?: unknown }
  return Reflect.apply(make, model, [configurable === undefined ? {} : { configurable }])
}
