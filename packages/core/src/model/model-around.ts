/** A model that does something around the requests of another one. Everything else is the other's. */
import type { Model } from "./model.ts"

export interface Around {
  readonly stream: Model["stream"]
  /** Default: the other's. It counts only where the other has one. */
  readonly warm?: NonNullable<Model["warm"]>
  /** Does the same around another model of the provider. */
  readonly again: (sibling: Model) => Model
}

export function modelAround(model: Model, { stream, warm, again }: Around): Model {
  const { sibling, learn, count } = model
  return {
    name: model.name,
    provider: model.provider,
    // learning may change them
    get facts() {
      return model.facts
    },
    ...(model.address ? { address: model.address } : {}),
    ...(model.omits ? { omits: model.omits } : {}),
    stream,
    ...(model.warm ? { warm: warm ?? model.warm.bind(model) } : {}),
    ...(count ? { count: count.bind(model) } : {}),
    ...(sibling ? { sibling: (name) => again(sibling.call(model, name)) } : {}),
    ...(learn ? { learn: learn.bind(model) } : {}),
  }
}
