/**
 * A chat model whose calls follow the client's conversation. An agent binds its tools and calls the model with them: those calls are
 * managed. Everything else about the model, and every other call of it, stays the same.
 */
import { type BindableModel, isBindable } from "./bound-model.ts"
import type { ConversationLookup } from "./model-call.ts"
import type { CallOptions, ChatModel, Fields } from "./shapes.ts"

/** The model that an agent gets instead. Objects that are not chat models stay as they are. */
export function followedModel(model: unknown, lookup: ConversationLookup): unknown {
  if (typeof model !== "object" || model === null) return model
  if (isBindable(model)) return bindable(model, lookup)
  const { bound } = model as { readonly bound?: unknown }
  if (typeof bound !== "object" || bound === null) return model
  const inner = followedModel(bound, lookup)
  return new Proxy(model, { get: (target, key) => (key === "bound" ? inner : Reflect.get(target, key)) })
}

const bindable = (model: BindableModel, lookup: ConversationLookup): BindableModel =>
  new Proxy(model, {
    get(target, key) {
      if (key === "bindTools")
        return (tools: readonly unknown[], kwargs?: Fields) => withTools(target, { tools, kwargs, lookup })
      const value = Reflect.get(target, key)
      // side questions are not part of the conversation
      return key === "withStructuredOutput" && typeof value === "function" ? value.bind(target) : value
    },
  })

interface ToolBinding {
  readonly tools: readonly unknown[]
  readonly kwargs: Fields | undefined
  readonly lookup: ConversationLookup
}

function withTools(model: BindableModel, { tools, kwargs, lookup }: ToolBinding): ChatModel {
  const binding = model.bindTools(tools, kwargs)
  const invoke = async (input: unknown, options: CallOptions = {}) => {
    const { ModelCall } = await import("./model-call.ts") // imported with the first call, so that importing this module costs little
    return new ModelCall({ model, binding, tools, kwargs, lookup, input, options }).answer()
  }
  return new Proxy(binding, {
    get(target, key) {
      if (key === "invoke") return invoke
      if (key === "bound") return undefined // calls of the inner model would bypass Strata
      const value = Reflect.get(target, key)
      return typeof value === "function" ? value.bind(target) : value
    },
  })
}
