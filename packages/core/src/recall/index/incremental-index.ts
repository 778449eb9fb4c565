/** The interface of an index that tracks journals. Indexes in SQLite return values directly, those on a server return promises. */
import type { PassageMatch, PassageSearchResult } from "../answer/choose.ts"
import type { Question } from "../answer/ranking.ts"
import type { BlockAround, Passage } from "../passages/passage.ts"
import type { DialoguePassages } from "./indexed-passages.ts"
import type { SourceUpdate } from "./passage-index.ts"

type MaybePromise<T> = T | Promise<T>

export interface IncrementalIndex {
  /** Number of passages to add in one step. */
  readonly batch: number
  positions(): MaybePromise<ReadonlyMap<string, string>>
  extend(step: SourceUpdate): MaybePromise<boolean>
  extendAll(steps: readonly SourceUpdate[]): MaybePromise<readonly boolean[]>
  remove(...sources: readonly string[]): MaybePromise<void>
  search(question: Question): MaybePromise<PassageSearchResult>
  around(
    found: readonly (Pick<Passage, "uuid" | "blocks" | "start"> & { readonly source: string })[],
    max: number,
  ): MaybePromise<readonly (BlockAround | undefined)[]>
  /** Messages of the user and the assistant after this passage, in order, at most `max`. `removals`: number of removals so far. */
  dialogue(after: number, max: number): MaybePromise<DialoguePassages>
  /** The nearest passages that fit the question. Passages without a closeness are left out. */
  nearest(
    question: Question,
    closeness: (id: number) => number | undefined,
    max: number,
  ): MaybePromise<readonly PassageMatch[]>
  /** Stored vectors of texts, by the hash of the text. */
  vectors(hashes: readonly string[]): MaybePromise<ReadonlyMap<string, Float32Array>>
  keepVectors(vectors: ReadonlyMap<string, Float32Array>): MaybePromise<void>
  clearVectors(): MaybePromise<void>
  briefly<T>(work: () => Promise<T>): Promise<T>
  close(): void
}
