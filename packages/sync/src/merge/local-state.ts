/** What this machine brings to a sync: its memories, their history, and the state after the last sync with the same remote. */

import { findSecrets } from "@strata/core/base"
import type { MemoryChange } from "@strata/core/memory"
import {
  CHANGES,
  ERASED,
  fileFacts,
  HEAD,
  INDEX_FILE,
  readWithChecksum,
  type Snapshot,
  type SnapshotReader,
  TEXTS,
} from "@strata/core/memory-files"
import type { MemoryFiles } from "@strata/core/store"
import {
  copiesIn,
  identityOf,
  isOfSync,
  type SyncedChange,
  type SyncedFile,
  type SyncedMemories,
  syncedChange,
} from "./synced-memories.ts"

/** The last state of the remote that this machine has applied completely. */
export interface SyncBase {
  /** Hashes of the memories, by path. */
  readonly files: Readonly<Record<string, string>>
  /** Ids of the changes that the remote had. */
  readonly changes: readonly string[]
  /** Every path in the remote's history. */
  readonly paths: readonly string[]
  /** Keys of the memories that had been erased by then. */
  readonly erased: readonly string[]
  /** Number of memories that had been erased on this machine by then. */
  readonly erasures: number
}

export interface LocalState extends Omit<SyncedMemories, "erased"> {
  readonly snapshot: Snapshot
  /** Absent on the first sync with this remote, or if the record is lost. */
  readonly base?: SyncBase
  /** The record as stored, to detect that another process changed it before the next one is written. */
  readonly baseText: string | null
  readonly erasures: number
  /** Memories that contain secrets, with the kinds of secrets. */
  readonly secrets: ReadonlyMap<string, readonly string[]>
}

/** Path of the record of the last sync, stored with the memories so that every machine using the same store sees it. */
export const basePath = (remote: string): string => `.sync/${remote}.json`

/** Manual edits must be recorded before this call. `remote` is the key of the remote. */
export async function readLocalState(
  files: MemoryFiles,
  { reader, remote }: { readonly reader: SnapshotReader; readonly remote: string },
): Promise<LocalState> {
  const snapshot = await reader.read()
  const all = await files.readAll({ folders: [CHANGES, TEXTS], paths: [basePath(remote)], guard: HEAD })
  const local = all
    .flatMap(({ path, text }) => (path.startsWith(`${CHANGES}/`) ? [readWithChecksum<MemoryChange>(text ?? "")] : []))
    .filter((change) => change !== undefined)
    .sort((a, b) => Number(a.id) - Number(b.id))
  const texts = new Map<string, string>()
  // a newer version may recognize a secret that an earlier one stored
  for (const { path, text } of all)
    if (path.startsWith(`${TEXTS}/`) && text !== undefined && findSecrets(text).length === 0)
      texts.set(path.slice(TEXTS.length + 1, -".md".length), text)
  const baseText = all.find(({ path }) => path === basePath(remote))?.text ?? null
  const base = baseText === null ? undefined : readWithChecksum<SyncBase>(baseText)
  const { files: current, secrets } = currentMemories(snapshot)
  // a memory that is not sent keeps its history on this machine too
  const travelling = local.filter((change) => !change.files.some(({ path }) => secrets.has(path)))
  return {
    ...{ snapshot, files: current, secrets },
    changes: listChanges(travelling, texts),
    texts,
    ...(base ? { base } : {}),
    baseText,
    erasures: local.filter(({ why, files: edits }) => why === ERASED && edits.length === 0).length,
  }
}

function currentMemories(snapshot: Snapshot): Pick<LocalState, "files" | "secrets"> {
  const files = new Map<string, SyncedFile>()
  const secrets = new Map<string, readonly string[]>()
  for (const [path, text] of snapshot.texts) {
    if (path === INDEX_FILE) continue
    const found = findSecrets(text).map(({ kind }) => kind)
    if (found.length > 0) secrets.set(path, [...new Set(found)])
    else files.set(path, { text, ...fileFacts(snapshot, path) })
  }
  return { files, secrets }
}

/** Changes whose texts are all available. Of a change made by a sync, only edits that no other change contains are included. */
function listChanges(
  local: readonly MemoryChange[],
  texts: ReadonlyMap<string, string>,
): ReadonlyMap<string, SyncedChange> {
  const recordedElsewhere = new Set(
    local
      .filter((change) => !isOfSync(change))
      .flatMap(({ files }) => files.map(({ path, after }) => `${path}\n${after}`)),
  )
  const changes = new Map<string, SyncedChange>()
  for (const change of local) {
    const files = isOfSync(change)
      ? change.files.filter(({ path, after }) => !recordedElsewhere.has(`${path}\n${after}`))
      : change.files
    const synced = syncedChange({ ...change, files })
    if (synced && findSecrets(synced.why).length === 0 && copiesIn(synced).every((copy) => texts.has(copy)))
      changes.set(identityOf(synced), synced)
  }
  return changes
}
