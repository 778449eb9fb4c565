/** A store that counts the calls of the port: each may cross a network. */
import type { Store } from "@strata/core/store"
import { tappedStore } from "./tapped-store.ts"

/** A store, and the calls that were made of it. */
export interface CountedStore {
  readonly store: Store
  /** The calls since the last reset, in their order: `open`, `journal.append`, `memories.readAll` and so on. */
  calls(): readonly string[]
  /** How many there were of each. */
  counts(): Readonly<Record<string, number>>
  reset(): void
}

/** Counts the calls of a store, also those of its journals, memory files, mailboxes and feeds. */
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
