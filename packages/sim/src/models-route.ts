/** `GET /v1/models` and `GET /v1/models/{id}`. */
import { ApiError, invalidRequest } from "./api-error.ts"
import { describeModel, type ModelCatalog } from "./models.ts"

const DEFAULT_PAGE = 20
const LARGEST_PAGE = 1000

export interface PageQuery {
  readonly limit?: string | undefined
  readonly afterId?: string | undefined
  readonly beforeId?: string | undefined
}

export function listModels(catalog: ModelCatalog, { limit, afterId, beforeId }: PageQuery) {
  const size = limit === undefined ? DEFAULT_PAGE : Number(limit)
  if (!Number.isInteger(size) || size < 1 || size > LARGEST_PAGE) {
    throw invalidRequest(`limit: Input should be an integer from 1 to ${LARGEST_PAGE}`)
  }
  const all = catalog.list()
  const place = (id: string) => {
    const index = all.findIndex((model) => model.id === id)
    if (index < 0) throw invalidRequest(`No model has the id ${id}`)
    return index
  }
  const page = beforeId
    ? all.slice(Math.max(0, place(beforeId) - size), place(beforeId))
    : all.slice(afterId ? place(afterId) + 1 : 0).slice(0, size)
  const last = page.at(-1)
  return {
    data: page.map((model) => describeModel(model)),
    first_id: page[0]?.id ?? null,
    last_id: last?.id ?? null,
    has_more: beforeId ? page[0] !== undefined && page[0] !== all[0] : last !== undefined && last !== all.at(-1),
  }
}

export function showModel(catalog: ModelCatalog, name: string) {
  const model = catalog.find(name)
  if (!model) throw new ApiError(404, `model: ${name}`)
  return describeModel(model, name)
}
