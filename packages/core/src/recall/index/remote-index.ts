/** The same index on a server, shared by all processes. It gives the same answers as the one in SQLite. */
import type { PassageStore, StoredPassage } from "../../journal/passage-store.ts"
import type { PassageMatch, PassageSearchResult } from "../answer/choose.ts"
import type { Question } from "../answer/ranking.ts"
import type { BlockAround, Passage } from "../passages/passage.ts"
import { type IndexQuery, queryStore, runQuery } from "./index-query.ts"
import { type DialoguePassages, IndexedPassages, type LiteralSearch } from "./indexed-passages.ts"
import type { SourceUpdate } from "./passage-index.ts"
import { passageFrom, tokensOf, toNewPassage } from "./tokens.ts"

/** Limit for the numbers in cached lists, 16 MB: other lists cross the network again. */
const MAX_CACHED_NUMBERS = 4_000_000
const MAX_VECTORS = 50_000

export class RemoteIndex {
  /** Passages to add in one step, each of which crosses a network. */
  readonly batch = 200
  readonly #store: PassageStore
  readonly #passages: IndexedPassages
  /** Not stored on the server: each process computes its own. */
  readonly #vectors = new Map<string, Float32Array>()

  constructor(store: PassageStore) {
    this.#store = store
    this.#passages = new IndexedPassages({ literally: compareTexts, maxKept: MAX_CACHED_NUMBERS })
  }

  async extend(step: SourceUpdate): Promise<boolean> {
    return (await this.extendAll([step]))[0]!
  }

  /** Sources that restart are removed first. If the process ends in between, the source is read from its start later. */
  async extendAll(steps: readonly SourceUpdate[]): Promise<readonly boolean[]> {
    const again = steps.flatMap(({ source, from, isRestart }) =>
      isRestart && from !== undefined ? [[source, from] as const] : [],
    )
    const removed = new Map(again)
    if (removed.size > 0) await this.#store.remove(removed, tokensIn)
    return this.#store.extend(
      steps.map(({ source, passages, from, to }) => ({
        ...{ source, from: removed.has(source) ? undefined : from, to },
        passages: passages.map(toNewPassage),
      })),
    )
  }

  async remove(...sources: readonly string[]): Promise<void> {
    const positions = await this.#store.positions()
    const known = sources.flatMap((source) =>
      positions.has(source) ? [[source, positions.get(source)!] as const] : [],
    )
    if (known.length > 0) await this.#store.remove(new Map(known), tokensIn)
  }

  positions(): Promise<ReadonlyMap<string, string>> {
    return this.#store.positions()
  }

  search(question: Question): Promise<PassageSearchResult> {
    return runQuery(this.#passages.search(question), this.#store)
  }

  around(
    found: readonly (Pick<Passage, "uuid" | "blocks" | "start"> & { readonly source: string })[],
    max: number,
  ): Promise<readonly (BlockAround | undefined)[]> {
    return runQuery(this.#passages.around(found, max), this.#store)
  }

  dialogue(after: number, max: number): Promise<DialoguePassages> {
    return runQuery(this.#passages.dialogue(after, max), this.#store)
  }

  nearest(
    question: Question,
    closeness: (id: number) => number | undefined,
    max: number,
  ): Promise<readonly PassageMatch[]> {
    return runQuery(this.#passages.nearest(question, closeness, max), this.#store)
  }

  vectors(hashes: readonly string[]): ReadonlyMap<string, Float32Array> {
    return new Map(
      hashes.flatMap((hash) => (this.#vectors.has(hash) ? [[hash, this.#vectors.get(hash)!] as const] : [])),
    )
  }

  /** Stores only the newest vectors: searches hold those that they need. */
  keepVectors(vectors: ReadonlyMap<string, Float32Array>): void {
    if (this.#vectors.size > MAX_VECTORS) this.#vectors.clear()
    for (const [hash, vector] of vectors) this.#vectors.set(hash, vector)
  }

  clearVectors(): void {
    this.#vectors.clear()
  }

  briefly<T>(work: () => Promise<T>): Promise<T> {
    return work()
  }

  close(): void {}
}

const tokensIn = (row: StoredPassage) => tokensOf(passageFrom(row)).tokens

/** Number of passages whose texts the server compares first. If they do not contain the text, four times as many follow. */
const FIRST_COMPARED = 4_000
/** Once so few passages remain, comparing them costs less than reading another list. */
const MIN_LISTED = 500

/** The lists are local, so that only passages that have all tokens and fit are compared. The shortest lists come first. */
const compareTexts: LiteralSearch = function* (
  { text, tokens, only, fits, max },
  terms,
): IndexQuery<readonly number[]> {
  if (tokens.some((token) => terms.documents(token) === 0)) return []
  let remaining = tokens.length === 0 ? terms.all() : undefined
  for (const token of tokens.toSorted((a, b) => terms.documents(a)! - terms.documents(b)!)) {
    if (remaining && remaining.length <= MIN_LISTED) break
    const list: Uint32Array = (yield* terms.ofTokens([token], only)).get(token)!
    remaining = remaining ? intersect(remaining, list) : list
  }
  const found: number[] = []
  for (let [at, size] = [remaining!.length, FIRST_COMPARED]; at > 0 && found.length < max; size *= 4) {
    const ids: number[] = []
    for (; at > 0 && ids.length < size; at--) if (fits(remaining![at - 1]!)) ids.push(remaining![at - 1]!)
    if (ids.length === 0) break
    const query = { ids: Uint32Array.from(ids), text, max: max - found.length }
    found.push(...(yield* queryStore((store) => store.containing(query))))
  }
  return found
}

/** The numbers that two ascending lists share. */
function intersect(some: Uint32Array, others: Uint32Array): Uint32Array {
  let at = 0
  return some.filter((id) => {
    while (at < others.length && others[at]! < id) at++
    return others[at] === id
  })
}
