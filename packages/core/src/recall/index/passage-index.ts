/**
 * A full-text index of passages in SQLite: every block of past conversations, or memories. The index holds nothing that cannot be rebuilt. Adding
 * costs what is new.
 */
import type { Choices, Found, SearchAnswer } from "../answer/choose.ts"
import type { Question } from "../answer/ranking.ts"
import type { BlockAround, Passage } from "../passages/passage.ts"
import { type Asking, askedAtOnce } from "./asking.ts"
import { IndexedPassages, type SaidPassages } from "./indexed-passages.ts"
import { SqliteShelf } from "./sqlite-shelf.ts"
import { shelved } from "./tokens.ts"

/** A step from one state of a source to the next. A mark is any text by which the owner knows how far it has read. */
export interface Extension {
  readonly source: string
  readonly passages: readonly Passage[]
  /** The mark that the caller saw. `undefined`: the source is new. */
  readonly from: string | undefined
  /** Leaves out what was indexed before. */
  readonly isRestart?: boolean
  readonly to: string
}

const shelvedStep = ({ passages, isRestart = false, ...step }: Extension) => ({
  ...{ ...step, isRestart },
  passages: passages.map(shelved),
})

/** Numbers in lists that are kept, 4 MB. */
const MAX_KEPT = 1_000_000

type Place = Pick<Passage, "uuid" | "blocks" | "start"> & { readonly source: string }

export class PassageIndex {
  /** Passages that are added at once: about 5 ms, then others get their turn. */
  readonly batch = 25
  readonly #shelf: SqliteShelf
  readonly #passages: IndexedPassages

  /** `path`: a file, or `:memory:`. */
  constructor(path: string) {
    this.#shelf = new SqliteShelf(path)
    this.#passages = new IndexedPassages({ literally: (wanted) => this.#shelf.newestWith(wanted), maxKept: MAX_KEPT })
  }

  /** Says no if another process has moved the mark since. */
  extend(step: Extension): boolean {
    return this.extendAll([step])[0]!
  }

  /** Several steps in one transaction, of different sources. */
  extendAll(steps: readonly Extension[]): readonly boolean[] {
    return this.#shelf.extend(steps.map(shelvedStep))
  }

  /** Takes these passages in place of the ones that the sources had. All or none. `marks`: by source. */
  replace(sources: ReadonlyMap<string, readonly Passage[]>, marks: ReadonlyMap<string, string> = new Map()): void {
    const taken = new Map([...sources].map(([source, passages]) => [source, passages.map(shelved)]))
    this.#shelf.replace(taken, marks)
  }

  remove(...sources: readonly string[]): void {
    this.#shelf.remove(sources)
  }

  marks(): ReadonlyMap<string, string> {
    return this.#shelf.marks()
  }

  /** The passages that answer a question, the best first. */
  search(question: Question): SearchAnswer {
    return this.#ask(this.#passages.search(question))
  }

  /** Only which passages answer it, without them. */
  choose(question: Question): Choices {
    return this.#ask(this.#passages.choose(question))
  }

  /** The sources that have such a message. */
  sourcesWith(isWanted: (uuid: string) => boolean): ReadonlySet<string> {
    return this.#shelf.sourcesWith(isWanted)
  }

  /** What is around passages that were found. */
  around(found: readonly Place[], max: number): readonly (BlockAround | undefined)[] {
    return this.#ask(this.#passages.around(found, max))
  }

  said(after: number, max: number): SaidPassages {
    return this.#ask(this.#passages.said(after, max))
  }

  nearest(question: Question, closeness: (id: number) => number | undefined, max: number): readonly Found[] {
    return this.#ask(this.#passages.nearest(question, closeness, max))
  }

  vectors(hashes: readonly string[]): ReadonlyMap<string, Float32Array> {
    return this.#shelf.vectors(hashes)
  }

  keepVectors(vectors: ReadonlyMap<string, Float32Array>): void {
    this.#shelf.keepVectors(vectors)
  }

  clearVectors(): void {
    this.#shelf.clearVectors()
  }

  /** Work in the background, which does not wait for other processes. */
  briefly<T>(work: () => Promise<T>): Promise<T> {
    return this.#shelf.briefly(work)
  }

  close(): void {
    this.#shelf.close()
  }

  #ask<T>(asking: Asking<T>): T {
    return this.#shelf.inOneState(() => askedAtOnce(asking, this.#shelf))
  }
}
