/**
 * Support for reranking models, such as a cross-encoder or a model of the AI SDK. They reorder search results. If reranking fails or takes
 * too long, the original order is used.
 */
import type { RecallMatches, RecallSource } from "./recall-source.ts"

/** Returns indexes of the passages, best first. Omitted passages follow in their original order. */
export type Rerank = (query: string, passages: readonly string[]) => Promise<readonly number[]> | readonly number[]

/** Number of matches to rerank: they nearly always include the relevant one. */
const CANDIDATES = 50
/** Time limit of reranking. The model is waiting for the result, and the original order is good. */
const TIMEOUT_MS = 2_000

export function withReranking(source: RecallSource, rerank: Rerank, timeoutMs = TIMEOUT_MS): RecallSource {
  return {
    findByHandle: (handle) => source.findByHandle(handle),
    range: (range) => source.range(range),
    isOpen: () => source.isOpen(),
    estimate: (text) => source.estimate(text),
    async search({ limit, ...search }) {
      const matches = await source.search({ ...search, limit: Math.max(limit, CANDIDATES) })
      const found = await reorder(matches, (passages) =>
        withTimeLimit(rerank, { query: search.text, passages, timeoutMs }),
      )
      const remaining = Math.max(0, found.length - limit)
      return { ...matches, found: found.slice(0, limit), more: matches.more + remaining }
    },
  }
}

async function reorder(
  { found }: RecallMatches,
  order: (passages: readonly string[]) => Promise<readonly number[] | undefined>,
): Promise<RecallMatches["found"]> {
  if (found.length < 2) return found
  const places = (await order(found.map(({ text, matched }) => text.slice(matched.from, matched.to)))) ?? []
  const chosen = [...new Set(places)].flatMap((place) => found[place] ?? [])
  return [...new Set([...chosen, ...found])]
}

interface RerankInput {
  readonly query: string
  readonly passages: readonly string[]
  readonly timeoutMs: number
}

/** Calls the reranker. `undefined` if it fails, returns an invalid value, or takes too long. */
async function withTimeLimit(
  rerank: Rerank,
  { query, passages, timeoutMs }: RerankInput,
): Promise<readonly number[] | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>()
  const timer = setTimeout(() => resolve(undefined), timeoutMs)
  try {
    const places = await Promise.race([Promise.resolve(rerank(query, passages)), late])
    return Array.isArray(places) ? places : undefined
  } catch {
    return undefined
  } finally {
    clearTimeout(timer)
  }
}
