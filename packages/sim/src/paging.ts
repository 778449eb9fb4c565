/** Pagination of lists: `limit`, `after_id` and `before_id`, as in all list endpoints of the API. */
import { invalidRequest } from "./api-error.ts"

const DEFAULT_PAGE = 20 // if the client sets no limit
const LARGEST_PAGE = 1000

export interface PageQuery {
  readonly limit?: string | undefined
  readonly afterId?: string | undefined
  readonly beforeId?: string | undefined
}

export interface Page<T> {
  readonly data: readonly T[]
  readonly first_id: string | null
  readonly last_id: string | null
  readonly has_more: boolean
}

export const pageQuery = (query: Readonly<Record<string, string>>): PageQuery => ({
  limit: query.limit,
  afterId: query.after_id ?? query.page,
  beforeId: query.before_id,
})

export function pageOf<T extends { readonly id: string }>(
  all: readonly T[],
  { limit, afterId, beforeId }: PageQuery,
  noun: string,
): Page<T> {
  const size = limit === undefined ? DEFAULT_PAGE : Number(limit)
  if (!Number.isInteger(size) || size < 1 || size > LARGEST_PAGE) {
    throw invalidRequest(`limit: Input should be an integer from 1 to ${LARGEST_PAGE}`)
  }
  const place = (id: string) => {
    const index = all.findIndex((item) => item.id === id)
    if (index < 0) throw invalidRequest(`No ${noun} has the id ${id}`)
    return index
  }
  const page = beforeId
    ? all.slice(Math.max(0, place(beforeId) - size), place(beforeId))
    : all.slice(afterId ? place(afterId) + 1 : 0).slice(0, size)
  const last = page.at(-1)
  return {
    data: page,
    first_id: page[0]?.id ?? null,
    last_id: last?.id ?? null,
    has_more: beforeId ? page[0] !== undefined && page[0] !== all[0] : last !== undefined && last !== all.at(-1),
  }
}
