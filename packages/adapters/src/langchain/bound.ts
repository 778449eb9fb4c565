/** A chat model with tools. */
import type { CallOptions, ChatModel, Fields } from "./shapes.ts"

export interface Bound extends ChatModel {
  readonly config?: Fields
  readonly kwargs?: Fields
  readonly defaultOptions?: Fields
}

export interface Bindable extends ChatModel {
  bindTools(tools: readonly unknown[], options?: Fields): Bound
}

export const isBindable = (model: object): model is Bindable =>
  "bindTools" in model && typeof model.bindTools === "function"

/** What a model was bound with. Packages keep it in one of these. */
export const boundOptions = ({ config = {}, kwargs = {}, defaultOptions = {} }: Bound): CallOptions => ({
  ...defaultOptions,
  ...config,
  ...kwargs,
})
