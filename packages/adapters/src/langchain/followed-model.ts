/**
 * A chat model whose calls follow the caller's conversation. An agent binds its tools and calls the model with them: that call is ours to
 * answer. Everything else about the model, and every other call of it, is as it was.
 */
import { type Bindable, isBindable } from "./bound.ts"
import type { Door } from "./exchange.ts"
import type { CallOptions, ChatModel, Fields } from "./shapes.ts"

/** The model that an agent gets instead. What is no chat model stays as it is. */
export function followedModel(model: unknown, door: Door): unknown {
  if (typeof model !== "object" || model === null) return model
  if (isBindable(model)) return bindable(model, door)
  const { bound } = model as { readonly bound?: unknown }
  if (typeof bound !== "object" || bound === null) return model
  const inner = followedModel(bound, door)
  return new Proxy(model, { get: (target, key) => (key === "bound" ? inner : Reflect.get(target, key)) })
}

const bindable = (model: Bindable, door: Door): Bindable =>
  new Proxy(model, {
    get(target, key) {
      if (key === "bindTools")
        return (tools: readonly unknown[], kwargs?: Fields) => withTools(target, { tools, kwargs, door })
      const value = Reflect.get(target, key)
      // asks the model a question beside the conversation
      return key === "withStructuredOutput" && typeof value === "function" ? value.bind(target) : value
    },
  })

interface Binding {
  readonly tools: readonly unknown[]
  readonly kwargs: Fields | undefined
  readonly door: Door
}

function withTools(model: Bindable, { tools, kwargs, door }: Binding): ChatModel {
  const binding = model.bindTools(tools, kwargs)
  const invoke = async (input: unknown, options: CallOptions = {}) => {
    const { Exchange } = await import("./exchange.ts") // with the first call: importing this module costs little
    return new Exchange({ model, binding, tools, kwargs, door, input, options }).answer()
  }
  return new Proxy(binding, {
    get(target, key) {
      if (key === "invoke") return invoke
      if (key === "bound") return undefined // the model inside it would not come by here
      const value = Reflect.get(target, key)
      return typeof value === "function" ? value.bind(target) : value
    },
  })
}
