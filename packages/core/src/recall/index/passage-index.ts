/**
 * A full-text index of passages in SQLite: blocks of past conversations, or memories. The index can be rebuilt at any time. Adding
 * costs only what is new.
 */
import type { ChosenPassages, PassageMatch, PassageSearchResult } from "../answer/choose.ts"
import type { Question } from "../answer/ranking.ts"
import type { BlockAround, Passage } from "../passages/passage.ts"
import { type IndexQuery, runQuerySync } from "./index-query.ts"
import { type DialoguePassages, IndexedPassages } from "./indexed-passages.ts"
import { SqlitePassageStore } from "./sqlite-passage-store.ts"
import { toNewPassage } from "./tokens.ts"

/** An update from one state of a source to the next. A position is any text that tells its owner how far it has read. */
export interface SourceUpdate {
  readonly source: string
  readonly passages: readonly Passage[]
  /** The position that the caller saw. `undefined`: the source is new. */
  readonly from: string | undefined
  /** Removes what was indexed before. */
  readonly isRestart?: boolean
  readonly to: string
}

const toPassageUpdate = ({ passages, isRestart = false, ...step }: SourceUpdate) => ({
  ...{ ...step, isRestart },
  passages: passages.map(toNewPassage),
})

/** Limit for the numbers in cached lists, 4 MB. */
const MAX_CACHED_NUMBERS = 1_000_000

type PassagePosition = Pick<Passage, "uuid" | "blocks" | "start"> & { readonly source: string }

export class PassageIndex {
  /** Passages to add in one step: about 5 ms, after which the event loop continues. */
  readonly batch = 25
  readonly #store: SqlitePassageStore
  readonly #passages: IndexedPassages

  /** `path`: a file, or `:memory:`. */
  constructor(path: string) {
    this.#store = new SqlitePassageStore(path)
    this.#passages = new IndexedPassages({
      literally: (query) => this.#store.newestWith(query),
      maxKept: MAX_CACHED_NUMBERS,
    })
  }

  /** Returns false if another process has moved the position since. */
  extend(step: SourceUpdate): boolean {
    return this.extendAll([step])[0]!
  }

  /** Applies several updates of different sources in one transaction. */
  extendAll(steps: readonly SourceUpdate[]): readonly boolean[] {
    return this.#store.extend(steps.map(toPassageUpdate))
  }

  /** Replaces the passages of these sources, all or none. `positions`: by source. */
  replace(sources: ReadonlyMap<string, readonly Passage[]>, positions: ReadonlyMap<string, string> = new Map()): void {
    const taken = new Map([...sources].map(([source, passages]) => [source, passages.map(toNewPassage)]))
    this.#store.replace(taken, positions)
  }

  remove(...sources: readonly string[]): void {
    this.#store.remove(sources)
  }

  positions(): ReadonlyMap<string, string> {
    return this.#store.positions()
  }

  /** The passages that answer a question, best first. */
  search(question: Question): PassageSearchResult {
    return this.#ask(this.#passages.search(question))
  }

  /** Which passages answer a question, without their texts. */
  choose(question: Question): ChosenPassages {
    return this.#ask(this.#passages.choose(question))
  }

  /** The sources with a message that matches. */
  sourcesWith(isWanted: (uuid: string) => boolean): ReadonlySet<string> {
    return this.#store.sourcesWith(isWanted)
  }

  /** The surroundings of passages that were found. */
  around(found: readonly PassagePosition[], max: number): readonly (BlockAround | undefined)[] {
    return this.#ask(this.#passages.around(found, max))
  }

  dialogue(after: number, max: number): DialoguePassages {
    return this.#ask(this.#passages.dialogue(after, max))
  }

  nearest(question: Question, closeness: (id: number) => number | undefined, max: number): readonly PassageMatch[] {
    return this.#ask(this.#passages.nearest(question, closeness, max))
  }

  vectors(hashes: readonly string[]): ReadonlyMap<string, Float32Array> {
    return this.#store.vectors(hashes)
  }

  keepVectors(vectors: ReadonlyMap<string, Float32Array>): void {
    this.#store.keepVectors(vectors)
  }

  clearVectors(): void {
    this.#store.clearVectors()
  }

  /** Runs work in the background, which does not wait for other processes. */
  briefly<T>(work: () => Promise<T>): Promise<T> {
    return this.#store.briefly(work)
  }

  close(): void {
    this.#store.close()
  }

  #ask<T>(asking: IndexQuery<T>): T {
    return this.#store.inOneState(() => runQuerySync(asking, this.#store))
  }
}
