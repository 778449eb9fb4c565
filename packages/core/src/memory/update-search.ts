/** Brings the search index that a store keeps up to date after conversations were erased: it holds the same words. */
import type { ContentAddress } from "../journal/contents.ts"
import type { Store } from "../journal/store.ts"
import { journalSearchIn } from "../recall/journal-search.ts"

/** Looking again takes out what is gone, as for every process that searches. */
export async function updateSearch(store: Store, erased: readonly ContentAddress[]): Promise<void> {
  if (!store.passages) return
  const places = new Map<string, Parameters<typeof journalSearchIn>[1]>()
  for (const address of erased) {
    if (address.kind !== "journal") continue
    const { project, under } = address
    places.set(`${project}/${under ?? ""}`, under === undefined ? { project } : { project, under })
  }
  for (const place of places.values()) {
    const search = journalSearchIn(store, place)
    try {
      await search.update()
    } finally {
      await search.close()
    }
  }
}
