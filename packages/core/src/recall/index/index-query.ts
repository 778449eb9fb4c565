/**
 * Queries of an index to its passage store, written once for local and remote stores: a generator yields requests, and its caller
 * supplies the results. A store in this process is queried synchronously; a remote one is awaited.
 */
import type { PassageReader } from "../../journal/passage-store.ts"

type StoreRequest = (store: PassageReader) => Promise<unknown>

/** A computation that queries a passage store and returns a result. */
export type IndexQuery<T> = Generator<StoreRequest, T, unknown>

/** A passage store with synchronous methods. It finds literal texts in its own way. */
export type SyncPassageStore = {
  readonly [Name in Exclude<keyof PassageReader, "containing">]: PassageReader[Name] extends (
    ...given: infer Given
  ) => Promise<infer Answer>
    ? (...given: Given) => Answer
    : never
}

/** Sends one request to the store. */
export function* queryStore<T>(request: (store: PassageReader) => Promise<T>): IndexQuery<T> {
  return (yield request) as T
}

export function runQuerySync<T>(query: IndexQuery<T>, store: SyncPassageStore): T {
  for (let step = query.next(); ; ) {
    if (step.done) return step.value
    // its methods differ from those of a remote store only in being synchronous
    step = query.next(step.value(store as unknown as PassageReader) as unknown)
  }
}

export async function runQuery<T>(query: IndexQuery<T>, store: PassageReader): Promise<T> {
  for (let step = query.next(); ; ) {
    if (step.done) return step.value
    step = query.next(await step.value(store))
  }
}
