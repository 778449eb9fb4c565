/** What an index must do to follow journals: the one in SQLite does it at once, the one on a server is waited for. */
import type { SearchAnswer } from "../answer/choose.ts"
import type { Question } from "../answer/ranking.ts"
import type { BlockAround, Passage } from "../passages/passage.ts"
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
    most: number,
  ): Waited<readonly (BlockAround | undefined)[]>
  briefly<T>(work: () => Promise<T>): Promise<T>
  close(): void
}
