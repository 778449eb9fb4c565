/** Brings the search index that a store keeps up to date after conversations were erased: it holds the same words. */
import type { Store } from "../journal/store.ts"
import { TOKENS_VERSION } from "../recall/index/tokens.ts"
import { journalSearchIn } from "../recall/journal-search.ts"

/** Also what a process left that was killed after it erased, and indexes that no one asks any more. */
export async function updateSearch(store: Store): Promise<void> {
  for (const address of (await store.outdatedShelves?.()) ?? []) {
    const { project, under, only, tokens } = address
    if (only !== undefined || tokens !== TOKENS_VERSION) {
      await store.passages!(address).clear() // of one conversation, or of another version: it is built again where it is used
      continue
    }
    const search = journalSearchIn(store, under === undefined ? { project } : { project, under })
    try {
      await search.update() // looking again takes out what is gone, as for every process that searches
    } finally {
      search.close()
    }
  }
}
