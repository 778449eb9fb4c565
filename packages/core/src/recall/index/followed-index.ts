/** What an index must do to follow journals: the one in SQLite does it at once, the one on a server is waited for. */
import type { Found, SearchAnswer } from "../answer/choose.ts"
import type { Question } from "../answer/ranking.ts"
import type { BlockAround, Passage } from "../passages/passage.ts"
import type { SaidPassages } from "./indexed-passages.ts"
import type { Extension } from "./passage-index.ts"

type Waited<T> = T | Promise<T>

export interface FollowedIndex {
  /** Passages that are added at once. */
  readonly batch: number
  marks(): Waited<ReadonlyMap<string, string>>
  extend(step: Extension): Waited<boolean>
  extendAll(steps: readonly Extension[]): Waited<readonly boolean[]>
  remove(...sources: readonly string[]): Waited<void>
  search(question: Question): Waited<SearchAnswer>
  around(
    found: readonly (Pick<Passage, "uuid" | "blocks" | "start"> & { readonly source: string })[],
    max: number,
  ): Waited<readonly (BlockAround | undefined)[]>
  /** What people and the assistant said after this passage, in its order: so many at most. `removals`: how often something was removed. */
  said(after: number, max: number): Waited<SaidPassages>
  /** The passages that fit the question and are the nearest. Nothing is near without a closeness. */
  nearest(question: Question, closeness: (id: number) => number | undefined, max: number): Waited<readonly Found[]>
  /** Vectors of texts that were kept, by the hash of the text. */
  vectors(hashes: readonly string[]): Waited<ReadonlyMap<string, Float32Array>>
  keepVectors(vectors: ReadonlyMap<string, Float32Array>): Waited<void>
  clearVectors(): Waited<void>
  briefly<T>(work: () => Promise<T>): Promise<T>
  close(): void
}
