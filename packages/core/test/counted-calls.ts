/** Counts the calls of a store, for tests of how many round trips an operation takes. */
import type { JournalFeed, Store } from "../src/journal/store.ts"

/** Store calls that would cross a network, by name. Opening a feed, listening and closing do not. */
export function countedCalls(store: Store) {
  const calls: string[] = []
  const counting = <T extends object>(of: T, names: readonly (keyof T & string)[]): T =>
    new Proxy(of, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name)
        if (typeof value !== "function") return value
        return (...given: unknown[]) => {
          if ((names as readonly (string | symbol)[]).includes(name)) calls.push(String(name))
          return Reflect.apply(value, target, given)
        }
      },
    })
  const feed: Store["feed"] = (place) => counting<JournalFeed>(store.feed(place), ["poll", "sizes", "lines"])
  const wrapped = counting<Store>({ ...store, feed }, ["open", "list", "has", "writerOf"])
  /** Returns the calls since the last time. */
  return { store: wrapped, taken: () => calls.splice(0).toSorted() }
}
