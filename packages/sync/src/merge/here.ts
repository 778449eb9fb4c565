/** What this machine has to sync: its memories, their history, and what it had in common with a remote the last time. */

import { findSecrets } from "@strata/core/base"
import type { MemoryChange } from "@strata/core/memory"
import {
  CHANGES,
  ERASED,
  factsOf,
  HEAD,
  INDEX_FILE,
  type Snapshot,
  type SnapshotReader,
  TEXTS,
  unsealed,
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

/** The state of the remote that this machine has taken in completely. */
export interface SyncBase {
  /** Hashes of the memories by path. */
  readonly files: Readonly<Record<string, string>>
  /** Which changes the remote had. */
  readonly changes: readonly string[]
  /** Every path that its history named. */
  readonly paths: readonly string[]
  /** Keys of what was erased by then. */
  readonly erased: readonly string[]
  /** How many memories were erased on this machine by then. */
  readonly erasures: number
}

export interface Here extends Omit<SyncedMemories, "erased"> {
  readonly snapshot: Snapshot
  /** Nothing: it is the first sync with this remote, or what was noted is lost. */
  readonly base?: SyncBase
  /** As it is kept, to be sure that it is unchanged when the next one is written. */
  readonly baseText: string | null
  readonly erasures: number
  /** Memories that have secrets in them, with the kinds. */
  readonly secrets: ReadonlyMap<string, readonly string[]>
}

/** In the place of the memories, so that every machine that uses the same store knows it. */
export const basePath = (remote: string): string => `.sync/${remote}.json`

/** Edits made by hand must be recorded before. `remote`: the key of the remote. */
export async function readHere(
  files: MemoryFiles,
  { reader, remote }: { readonly reader: SnapshotReader; readonly remote: string },
): Promise<Here> {
  const snapshot = await reader.read()
  const all = await files.readAll({ folders: [CHANGES, TEXTS], paths: [basePath(remote)], guard: HEAD })
  const local = all
    .flatMap(({ path, text }) => (path.startsWith(`${CHANGES}/`) ? [unsealed<MemoryChange>(text ?? "")] : []))
    .filter((change) => change !== undefined)
    .sort((a, b) => Number(a.id) - Number(b.id))
  const texts = new Map<string, string>()
  // what an earlier version did not know as a secret may be one now
  for (const { path, text } of all)
    if (path.startsWith(`${TEXTS}/`) && text !== undefined && findSecrets(text).length === 0)
      texts.set(path.slice(TEXTS.length + 1, -".md".length), text)
  const baseText = all.find(({ path }) => path === basePath(remote))?.text ?? null
  const base = baseText === null ? undefined : unsealed<SyncBase>(baseText)
  const { files: current, secrets } = currentIn(snapshot)
  // of a memory that stays here, the history stays here too
  const travelling = local.filter((change) => !change.files.some(({ path }) => secrets.has(path)))
  return {
    ...{ snapshot, files: current, secrets },
    changes: changesIn(travelling, texts),
    texts,
    ...(base ? { base } : {}),
    baseText,
    erasures: local.filter(({ why, files: edits }) => why === ERASED && edits.length === 0).length,
  }
}

function currentIn(snapshot: Snapshot): Pick<Here, "files" | "secrets"> {
  const files = new Map<string, SyncedFile>()
  const secrets = new Map<string, readonly string[]>()
  for (const [path, text] of snapshot.texts) {
    if (path === INDEX_FILE) continue
    const found = findSecrets(text).map(({ kind }) => kind)
    if (found.length > 0) secrets.set(path, [...new Set(found)])
    else files.set(path, { text, ...factsOf(snapshot, path) })
  }
  return { files, secrets }
}

/** Those whose texts are all there. A sync itself is left out where it only took over what other changes say. */
function changesIn(
  local: readonly MemoryChange[],
  texts: ReadonlyMap<string, string>,
): ReadonlyMap<string, SyncedChange> {
  const said = new Set(
    local
      .filter((change) => !isOfSync(change))
      .flatMap(({ files }) => files.map(({ path, after }) => `${path}\n${after}`)),
  )
  const changes = new Map<string, SyncedChange>()
  for (const change of local) {
    const files = isOfSync(change)
      ? change.files.filter(({ path, after }) => !said.has(`${path}\n${after}`))
      : change.files
    const synced = syncedChange({ ...change, files })
    if (synced && findSecrets(synced.why).length === 0 && copiesIn(synced).every((copy) => texts.has(copy)))
      changes.set(identityOf(synced), synced)
  }
  return changes
}
