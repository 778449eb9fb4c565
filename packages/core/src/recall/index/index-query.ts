/**
 * What an index asks of its shelf, written once for both kinds of shelves: a generator asks, and its caller brings the answers. A shelf in
 * this process answers at once, so that no event loop comes between. One across a network is waited for.
 */
import type { PassageReader } from "../../journal/passage-store.ts"

type StoreRequest = (store: PassageReader) => Promise<unknown>

/** Work that asks a shelf, and what it comes to. */
export type IndexQuery<T> = Generator<StoreRequest, T, unknown>

/** A shelf that answers without a wait. How it finds a text as it is written is its own. */
export type SyncPassageStore = {
  readonly [Name in Exclude<keyof PassageReader, "having">]: PassageReader[Name] extends (
    ...given: infer Given
  ) => Promise<infer Answer>
    ? (...given: Given) => Answer
    : never
}

/** One question to the shelf. */
export function* queryStore<T>(request: (store: PassageReader) => Promise<T>): IndexQuery<T> {
  return (yield request) as T
}

export function runQuerySync<T>(query: IndexQuery<T>, store: SyncPassageStore): T {
  for (let step = query.next(); ; ) {
    if (step.done) return step.value
    // its methods differ from those of a shelf across a network in nothing but the wait
    step = query.next(step.value(store as unknown as PassageReader) as unknown)
  }
}

export async function runQuery<T>(query: IndexQuery<T>, store: PassageReader): Promise<T> {
  for (let step = query.next(); ; ) {
    if (step.done) return step.value
    step = query.next(await step.value(store))
  }
}
