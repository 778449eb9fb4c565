/** The same index on a server, shared by all processes. It answers as the one in SQLite does. */
import type { PassageStore, ShelfRow } from "../../journal/passage-shelf.ts"
import type { Found, SearchAnswer } from "../answer/choose.ts"
import type { Question } from "../answer/ranking.ts"
import type { BlockAround, Passage } from "../passages/passage.ts"
import { type Asking, asked, fromShelf } from "./asking.ts"
import { IndexedPassages, type LiteralSearch, type SaidPassages } from "./indexed-passages.ts"
import type { Extension } from "./passage-index.ts"
import { passageFrom, shelved, tokensOf } from "./tokens.ts"

/** Numbers in lists that are kept, 16 MB: what is not crosses the network again. */
const MAX_KEPT = 4_000_000
const MAX_VECTORS = 50_000

export class ServedIndex {
  /** Passages that are added at once: each time crosses a network. */
  readonly batch = 200
  readonly #shelf: PassageStore
  readonly #passages: IndexedPassages
  /** The server keeps none: each process computes its own. */
  readonly #vectors = new Map<string, Float32Array>()

  constructor(shelf: PassageStore) {
    this.#shelf = shelf
    this.#passages = new IndexedPassages({ literally, maxKept: MAX_KEPT })
  }

  async extend(step: Extension): Promise<boolean> {
    return (await this.extendAll([step]))[0]!
  }

  /** What begins again is removed first. If the process ends between the two, the source is read from its beginning later. */
  async extendAll(steps: readonly Extension[]): Promise<readonly boolean[]> {
    const again = steps.flatMap(({ source, from, isRestart }) =>
      isRestart && from !== undefined ? [[source, from] as const] : [],
    )
    const removed = new Map(again)
    if (removed.size > 0) await this.#shelf.remove(removed, tokensIn)
    return this.#shelf.extend(
      steps.map(({ source, passages, from, to }) => ({
        ...{ source, from: removed.has(source) ? undefined : from, to },
        passages: passages.map(shelved),
      })),
    )
  }

  async remove(...sources: readonly string[]): Promise<void> {
    const marks = await this.#shelf.marks()
    const known = sources.flatMap((source) => (marks.has(source) ? [[source, marks.get(source)!] as const] : []))
    if (known.length > 0) await this.#shelf.remove(new Map(known), tokensIn)
  }

  marks(): Promise<ReadonlyMap<string, string>> {
    return this.#shelf.marks()
  }

  search(question: Question): Promise<SearchAnswer> {
    return asked(this.#passages.search(question), this.#shelf)
  }

  around(
    found: readonly (Pick<Passage, "uuid" | "blocks" | "start"> & { readonly source: string })[],
    max: number,
  ): Promise<readonly (BlockAround | undefined)[]> {
    return asked(this.#passages.around(found, max), this.#shelf)
  }

  said(after: number, max: number): Promise<SaidPassages> {
    return asked(this.#passages.said(after, max), this.#shelf)
  }

  nearest(question: Question, closeness: (id: number) => number | undefined, max: number): Promise<readonly Found[]> {
    return asked(this.#passages.nearest(question, closeness, max), this.#shelf)
  }

  vectors(hashes: readonly string[]): ReadonlyMap<string, Float32Array> {
    return new Map(
      hashes.flatMap((hash) => (this.#vectors.has(hash) ? [[hash, this.#vectors.get(hash)!] as const] : [])),
    )
  }

  /** Only the newest: those of the others are with the searches that asked for them. */
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

const tokensIn = (row: ShelfRow) => tokensOf(passageFrom(row)).tokens

/** Passages whose texts the server compares at first. If they do not have the text, four times as many follow. */
const FIRST_COMPARED = 4_000
/** Once so few are left, to compare them costs less than another list. */
const FEW = 500

/** The lists are here, so that only passages that have all of the tokens and fit are compared. The shortest lists come first. */
const literally: LiteralSearch = function* ({ text, tokens, only, fits, max }, terms): Asking<readonly number[]> {
  if (tokens.some((token) => terms.documents(token) === 0)) return []
  let left = tokens.length === 0 ? terms.all() : undefined
  for (const token of tokens.toSorted((a, b) => terms.documents(a)! - terms.documents(b)!)) {
    if (left && left.length <= FEW) break
    const list: Uint32Array = (yield* terms.ofTokens([token], only)).get(token)!
    left = left ? inBoth(left, list) : list
  }
  const found: number[] = []
  for (let [at, size] = [left!.length, FIRST_COMPARED]; at > 0 && found.length < max; size *= 4) {
    const ids: number[] = []
    for (; at > 0 && ids.length < size; at--) if (fits(left![at - 1]!)) ids.push(left![at - 1]!)
    if (ids.length === 0) break
    const wanted = { ids: Uint32Array.from(ids), text, max: max - found.length }
    found.push(...(yield* fromShelf((shelf) => shelf.having(wanted))))
  }
  return found
}

/** The numbers that two ascending lists have. */
function inBoth(some: Uint32Array, others: Uint32Array): Uint32Array {
  let at = 0
  return some.filter((id) => {
    while (at < others.length && others[at]! < id) at++
    return others[at] === id
  })
}
