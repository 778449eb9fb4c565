/** What an index must do to follow journals: the one in SQLite does it at once, the one on a server is waited for. */
import type { PassageMatch, PassageSearchResult } from "../answer/choose.ts"
import type { Question } from "../answer/ranking.ts"
import type { BlockAround, Passage } from "../passages/passage.ts"
import type { DialoguePassages } from "./indexed-passages.ts"
import type { SourceUpdate } from "./passage-index.ts"

type MaybePromise<T> = T | Promise<T>

export interface IncrementalIndex {
  /** Passages that are added at once. */
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
  /** What people and the assistant said after this passage, in its order: so many at most. `removals`: how often something was removed. */
  dialogue(after: number, max: number): MaybePromise<DialoguePassages>
  /** The passages that fit the question and are the nearest. Nothing is near without a closeness. */
  nearest(
    question: Question,
    closeness: (id: number) => number | undefined,
    max: number,
  ): MaybePromise<readonly PassageMatch[]>
  /** Vectors of texts that were kept, by the hash of the text. */
  vectors(hashes: readonly string[]): MaybePromise<ReadonlyMap<string, Float32Array>>
  keepVectors(vectors: ReadonlyMap<string, Float32Array>): MaybePromise<void>
  clearVectors(): MaybePromise<void>
  briefly<T>(work: () => Promise<T>): Promise<T>
  close(): void
}
