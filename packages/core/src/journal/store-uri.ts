/** The URI of a stored journal, `store:PROJECT/ID`, used where a transcript file has its path. */
import { isSafeId } from "../base/clock.ts"
import type { JournalAddress } from "./store.ts"

const STORED = /^store:([^/]+)\/([^/]+)$/

export const storeUri = ({ project, id }: JournalAddress): string => `store:${project}/${id}`

/** Returns `undefined` for a file path. */
export function parseStoreUri(name: string): JournalAddress | undefined {
  const [, project = "", id = ""] = STORED.exec(name) ?? []
  return isSafeId(project) && isSafeId(id) ? { project, id } : undefined
}
