/** Conversations of ours that are in a store: fetched here, so that workers need no connection of their own. */

import { parseStoreUri, storeFrom } from "@strata/core/store"
import type { Environment } from "@strata/transcripts"
import { copyJournal, type NamedJournal } from "@strata/transcripts/inspect"

export type FetchJournal = (path: string) => Promise<{ readonly journal?: NamedJournal }>

/** What a task needs of a journal in the store. Nothing for a file. */
export const journalFetcher =
  (env: Environment): FetchJournal =>
  async (path) => {
    const address = parseStoreUri(path)
    if (!address) return {}
    return { journal: { file: path, id: address.id, ...(await copyJournal(storeFrom({ env }), address)) } }
  }
