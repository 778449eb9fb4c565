/** A chat model with bound tools. */
import type { CallOptions, ChatModel, Fields } from "./shapes.ts"

export interface BoundModel extends ChatModel {
  readonly config?: Fields
  readonly kwargs?: Fields
  readonly defaultOptions?: Fields
}

export interface BindableModel extends ChatModel {
  bindTools(tools: readonly unknown[], options?: Fields): BoundModel
}

export const isBindable = (model: object): model is BindableModel =>
  "bindTools" in model && typeof model.bindTools === "function"

/** Options that a model was bound with. Packages store them in one of these fields. */
export const boundOptions = ({ config = {}, kwargs = {}, defaultOptions = {} }: BoundModel): CallOptions => ({
  ...defaultOptions,
  ...config,
  ...kwargs,
})
