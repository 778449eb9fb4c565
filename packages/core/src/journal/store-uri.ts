/** How a journal of a store is named where a transcript in a file has its path: `store:PROJECT/ID`. */
import { isSafeId } from "../base/clock.ts"
import type { JournalAddress } from "./store.ts"

const STORED = /^store:([^/]+)\/([^/]+)$/

export const storeUri = ({ project, id }: JournalAddress): string => `store:${project}/${id}`

/** Nothing if it is the path of a file. */
export function parseStoreUri(name: string): JournalAddress | undefined {
  const [, project = "", id = ""] = STORED.exec(name) ?? []
  return isSafeId(project) && isSafeId(id) ? { project, id } : undefined
}
