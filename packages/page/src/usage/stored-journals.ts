/** Fetches Strata conversations from a store, so that workers need no connection of their own. */

import { parseStoreUri, storeFrom } from "@strata/core/store"
import type { Environment } from "@strata/transcripts"
import { copyJournal, type NamedJournal } from "@strata/transcripts/inspect"

export type FetchJournal = (path: string) => Promise<{ readonly journal?: NamedJournal }>

/** Creates a function that fetches a journal from the store. Files need no fetching. */
export const journalFetcher =
  (env: Environment): FetchJournal =>
  async (path) => {
    const address = parseStoreUri(path)
    if (!address) return {}
    return { journal: { file: path, id: address.id, ...(await copyJournal(storeFrom({ env }), address)) } }
  }
