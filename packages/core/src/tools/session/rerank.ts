/**
 * A port for a reranking model: a cross-encoder, or a model of the AI SDK. It puts what a search found into another order. If it fails or
 * takes too long, the search keeps its own.
 */
import type { RecallMatches, RecallSource } from "./recall-source.ts"

/** The places of the passages in the list, the best first. What it leaves out comes after, in the order of the list. */
export type Rerank = (query: string, passages: readonly string[]) => Promise<readonly number[]> | readonly number[]

/** Matches that are put in order: the answer is among them nearly always. */
const CANDIDATES = 50
/** The model waits for the tool's result, and our own order is good. */
const PATIENCE_MS = 2_000

export function reranking(source: RecallSource, rerank: Rerank, patience = PATIENCE_MS): RecallSource {
  return {
    named: (handle) => source.named(handle),
    range: (range) => source.range(range),
    isOpen: () => source.isOpen(),
    estimate: (text) => source.estimate(text),
    async search({ limit, ...search }) {
      const matches = await source.search({ ...search, limit: Math.max(limit, CANDIDATES) })
      const found = await reordered(matches, (passages) => inTime(rerank, { query: search.text, passages, patience }))
      const left = Math.max(0, found.length - limit)
      return { ...matches, found: found.slice(0, limit), more: matches.more + left }
    },
  }
}

async function reordered(
  { found }: RecallMatches,
  order: (passages: readonly string[]) => Promise<readonly number[] | undefined>,
): Promise<RecallMatches["found"]> {
  if (found.length < 2) return found
  const places = (await order(found.map(({ text, matched }) => text.slice(matched.from, matched.to)))) ?? []
  const chosen = [...new Set(places)].flatMap((place) => found[place] ?? [])
  return [...new Set([...chosen, ...found])]
}

interface Asking {
  readonly query: string
  readonly passages: readonly string[]
  readonly patience: number
}

/** Nothing if it fails, answers with something else, or is late. */
async function inTime(rerank: Rerank, { query, passages, patience }: Asking): Promise<readonly number[] | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>()
  const timer = setTimeout(() => resolve(undefined), patience)
  try {
    const places = await Promise.race([Promise.resolve(rerank(query, passages)), late])
    return Array.isArray(places) ? places : undefined
  } catch {
    return undefined
  } finally {
    clearTimeout(timer)
  }
}
