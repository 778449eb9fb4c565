/** A store that counts the calls of the port, because each may cross a network. */
import type { Store } from "@strata/core/store"
import { tappedStore } from "./tapped-store.ts"

/** A store and a record of the calls made to it. */
export interface CountedStore {
  readonly store: Store
  /** The calls since the last reset, in order: `open`, `journal.append`, `memories.readAll` and so on. */
  calls(): readonly string[]
  /** The number of calls by name. */
  counts(): Readonly<Record<string, number>>
  reset(): void
}

/** Counts the calls of a store, including those of its journals, memory files, mailboxes and feeds. */
export function countedStore(store: Store): CountedStore {
  let calls: string[] = []
  return {
    store: tappedStore(store, ({ name, run }) => {
      calls.push(name)
      return run()
    }),
    calls: () => [...calls],
    counts: () =>
      Object.fromEntries([...new Set(calls)].map((name) => [name, calls.filter((one) => one === name).length])),
    reset() {
      calls = []
    },
  }
}
