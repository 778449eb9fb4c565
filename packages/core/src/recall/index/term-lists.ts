/**
 * Lists of the passages that contain a term at least once, twice or four times. Requested lists are cached and updated as the index
 * grows: a list is read once, and then costs only what is new.
 */
import type { StoredPassage } from "../../journal/passage-store.ts"
import type { PassageColumns } from "../passages/passage-columns.ts"
import { type IndexQuery, queryStore } from "./index-query.ts"
import { OFTEN, TWICE, tokenOf, tokensOf } from "./tokens.ts"

/** If more passages than this are new, the cache is cleared instead of updated. */
const MAX_ADDED = 200
/** Number of terms that contain a word that no passage has. */
const MAX_CONTAINING = 500

export interface TermPassages {
  readonly ids: Uint32Array
  /** Passages that contain the term at least twice; `often`: at least four times. */
  readonly twice: Uint32Array
  readonly often: Uint32Array
}

export interface TermRequest {
  readonly term: string
  /** Only the list of passages, without repetitions. */
  readonly isPlain: boolean
}

export class TermLists {
  readonly #columns: () => PassageColumns
  readonly #maxKept: number
  /** Lists by token, the most recently requested last. */
  readonly #cached = new Map<string, Uint32Array>()
  readonly #documents = new Map<string, number>()
  #size = 0
  /** All terms, one per line, in any order. A term that was added later may occur twice. */
  #vocabulary: string | undefined

  /** `maxKept`: limit for the numbers in all lists. */
  constructor({ columns, maxKept }: { readonly columns: () => PassageColumns; readonly maxKept: number }) {
    this.#columns = columns
    this.#maxKept = maxKept
  }

  clear(): void {
    this.#cached.clear()
    this.#documents.clear()
    this.#size = 0
    this.#vocabulary = undefined
  }

  /** Number of new passages up to which the lists are updated. */
  get maxAdded(): number {
    const isEmpty = this.#documents.size + this.#cached.size === 0 && this.#vocabulary === undefined
    return isEmpty ? 0 : MAX_ADDED
  }

  /** Updates the lists with new passages. */
  add(rows: readonly StoredPassage[]): void {
    const added = new Map<string, number[]>()
    for (const { id, label, text } of rows) {
      const { tokens } = tokensOf({ text, ...(label === undefined ? {} : { label }) })
      if (this.#vocabulary !== undefined)
        this.#vocabulary += tokens.flatMap((token) => (token.includes("_") ? [] : `${token}\n`)).join("")
      for (const token of tokens) {
        if (this.#cached.has(token)) added.set(token, [...(added.get(token) ?? []), id])
        const documents = this.#documents.get(token)
        if (documents !== undefined) this.#documents.set(token, documents + 1)
      }
    }
    for (const [token, ids] of added) {
      const before = this.#cached.get(token) // it may have been dropped for another list
      if (before) this.#cache(token, mergeAscending(before, ids))
    }
  }

  /** Number of passages with a token. Undefined if it is not known. */
  documents(token: string): number | undefined {
    return this.#documents.get(token)
  }

  learn(token: string, documents: number): void {
    this.#documents.set(token, documents)
  }

  /**
   * The terms that contain a part. Searched in one cached text: otherwise the store would read its entire vocabulary for every unknown
   * name.
   */
  *containing(part: string): IndexQuery<readonly string[]> {
    this.#vocabulary ??= `\n${yield* queryStore((store) => store.vocabulary())}`
    const found = new Set<string>()
    for (let at = this.#vocabulary.indexOf(part); at >= 0 && found.size < MAX_CONTAINING; ) {
      const end = this.#vocabulary.indexOf("\n", at)
      found.add(copyOf(this.#vocabulary.slice(this.#vocabulary.lastIndexOf("\n", at) + 1, end)))
      at = this.#vocabulary.indexOf(part, end)
    }
    return [...found]
  }

  /** The lists in the order of the requests. `only`: restricts them to this source. */
  *listsOf(requested: readonly TermRequest[], only: number | undefined): IndexQuery<readonly TermPassages[]> {
    const prefixes = ["", TWICE, OFTEN]
    const tokens = requested.flatMap(({ term, isPlain }) =>
      isPlain ? tokenOf(term) : prefixes.map((prefix) => prefix + tokenOf(term)),
    )
    const lists = yield* this.ofTokens(tokens, only)
    return requested.map(({ term, isPlain }) => {
      const token = tokenOf(term)
      const marked = (prefix: string) => (isPlain ? NONE : lists.get(prefix + token)!)
      return { ids: lists.get(token)!, twice: marked(TWICE), often: marked(OFTEN) }
    })
  }

  /** All passages. */
  all(): Uint32Array {
    return this.#columns().ids()
  }

  /** The passages that have each of these tokens. */
  *ofTokens(tokens: readonly string[], only: number | undefined): IndexQuery<ReadonlyMap<string, Uint32Array>> {
    const columns = this.#columns()
    const lists = new Map<string, Uint32Array>()
    const missing = new Set<string>()
    for (const token of tokens) {
      const kept = this.#cached.get(token)
      if (!kept) missing.add(token)
      else lists.set(token, only === undefined ? kept : kept.filter((id) => columns.sources[id] === only))
    }
    const tokensToRead = [...missing]
    const read = tokensToRead.length === 0 ? [] : yield* queryStore((store) => store.postings(tokensToRead, only))
    for (const [at, ids] of read.entries()) lists.set(tokensToRead[at]!, columns.present(ids, only))
    if (only === undefined) for (const [token, ids] of lists) this.#cache(token, ids)
    return lists
  }

  /** Caches a list. Lists that were requested long ago are dropped. */
  #cache(token: string, ids: Uint32Array): void {
    this.#forget(token)
    for (const oldest of this.#cached.keys()) {
      if (this.#size + ids.length < this.#maxKept) break
      this.#forget(oldest)
    }
    this.#size += ids.length + 1
    this.#cached.set(token, ids)
  }

  #forget(token: string): void {
    const ids = this.#cached.get(token)
    if (ids) this.#size -= ids.length + 1
    this.#cached.delete(token)
  }
}

const NONE = new Uint32Array(0)

function mergeAscending(ids: Uint32Array, more: readonly number[]): Uint32Array {
  const all = new Uint32Array(ids.length + more.length)
  all.set(ids)
  all.set(more, ids.length)
  return all
}

/** Copies a slice of a string. A slice keeps the entire string in memory, and terms stay cached while the vocabulary is rebuilt. */
const copyOf = (slice: string): string => Buffer.from(slice).toString()
