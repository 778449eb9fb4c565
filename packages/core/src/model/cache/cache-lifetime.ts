/** A model whose requests ask the server to keep its cache for so long. Forks and sub-agents ask for the same, so they find the entries. */
import type { CacheLifetime } from "../../base/vocabulary.ts"
import type { Model } from "../model.ts"

/** Five minutes are what every model asks for by itself. */
export function withCacheLifetime(model: Model, lifetime: CacheLifetime): Model {
  if (lifetime === "5m") return model
  const { sibling, learn, count, warm } = model
  return {
    name: model.name,
    provider: model.provider,
    // learning may change them
    get facts() {
      return model.facts
    },
    ...(model.address ? { address: model.address } : {}),
    ...(model.omits ? { omits: model.omits } : {}),
    stream: (request, options) => model.stream(request, { lifetime, ...options }),
    ...(warm ? { warm: (request, options) => warm.call(model, request, { lifetime, ...options }) } : {}),
    ...(count ? { count: count.bind(model) } : {}),
    ...(sibling ? { sibling: (name) => withCacheLifetime(sibling.call(model, name), lifetime) } : {}),
    ...(learn ? { learn: learn.bind(model) } : {}),
  }
}
