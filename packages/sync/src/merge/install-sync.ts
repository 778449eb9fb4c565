/** Carries out a plan on this machine, all or nothing: the texts, the history of the other machines, and the record of this sync. */

import type { Snapshot, SnapshotReader } from "@strata/core/memory-files"
import { changePath, commit, HEAD, hashOf, textPath, withChecksum } from "@strata/core/memory-files"
import type { MemoryFileChange, MemoryFiles } from "@strata/core/store"
import { basePath, type LocalState, type SyncBase } from "./local-state.ts"
import type { SyncPlan } from "./plan-sync.ts"
import { copiesIn, SYNCED, type SyncedChange } from "./synced-memories.ts"

interface InstallSyncOptions {
  readonly files: MemoryFiles
  readonly reader: SnapshotReader
  readonly here: LocalState
  readonly plan: SyncPlan
  /** Key of the remote. */
  readonly remote: string
  readonly title: string
  readonly now: Date
}

/** Throws `MemoryChangedError` if another process changed something. Resolves with the stored record of this sync. */
export async function installSync(options: InstallSyncOptions): Promise<string> {
  const { files, reader, here, plan, remote, title, now } = options
  const { imports, sources } = plan
  const { head, text: headText } = here.snapshot.loaded
  const edits = settledEdits(plan, here)
  // the change itself stores copies of these texts, and no file may be written twice in one transaction
  const written = new Set(edits.values())
  const copies = new Map(imports.flatMap(copiesIn).map((copy) => [copy, plan.next.texts.get(copy)!]))
  const imported = imports.map((change, at): MemoryFileChange => {
    const id = head.last + 1 + at
    return {
      path: changePath(id),
      text: withChecksum({ id: String(id), ...change }),
      expected: null,
      quarantinesUnreadable: true,
    }
  })
  const record = withChecksum(plan.base.taken)
  const alongside = [
    ...[...copies].flatMap(([copy, text]) => (written.has(text) ? [] : [{ path: textPath(copy), text }])),
    ...imported,
    ...(record === here.baseText ? [] : [{ path: basePath(remote), text: record, expected: here.baseText }]),
  ]
  const last = head.last + imports.length
  const snapshot: Snapshot = { ...here.snapshot, loaded: { ...here.snapshot.loaded, head: { ...head, last } } }
  const change = await commit({
    ...{ files, reader, snapshot, now },
    plan: { by: "merge", why: `${SYNCED} ${title}`, edits, sources, alongside },
  })
  if (change === undefined) {
    const moved =
      imports.length === 0 ? [] : [{ path: HEAD, text: withChecksum({ ...head, last }), expected: headText }]
    if (alongside.length + moved.length > 0) await files.install([...alongside, ...moved])
  }
  const kept = change?.kept ?? []
  if (kept.length === 0) return record
  // another process changed these memories at the same moment, so they are not merged yet
  return saveSyncRecord({ files, remote, before: record, base: withoutKept(plan.base.taken, here.base, kept) })
}

interface SyncRecordOptions {
  readonly files: MemoryFiles
  readonly remote: string
  /** The record as it is stored now. */
  readonly before: string
  readonly base: SyncBase
}

/** Resolves with the record as stored. */
export async function saveSyncRecord({ files, remote, before, base }: SyncRecordOptions): Promise<string> {
  const text = withChecksum(base)
  if (text !== before) await files.install([{ path: basePath(remote), text, expected: before }])
  return text
}

function withoutKept(base: SyncBase, earlier: SyncBase | undefined, kept: readonly string[]): SyncBase {
  const files = { ...base.files }
  for (const path of kept) {
    delete files[path]
    if (earlier && Object.hasOwn(earlier.files, path)) files[path] = earlier.files[path]!
  }
  return { ...base, files }
}

/**
 * The last change that names a memory must have its current text. Where an imported change ends with another text, this change records the
 * current one again.
 */
function settledEdits({ edits, imports }: SyncPlan, here: LocalState): ReadonlyMap<string, string | null> {
  const settled = new Map(edits)
  for (const [path, after] of lastTexts(imports)) {
    if (settled.has(path)) continue
    const text = here.snapshot.texts.get(path) ?? null
    if ((text === null ? undefined : hashOf(text)) !== after) settled.set(path, text)
  }
  return settled
}

const lastTexts = (imports: readonly SyncedChange[]): ReadonlyMap<string, string | undefined> =>
  new Map(imports.flatMap(({ files }) => files.map(({ path, after }): [string, string | undefined] => [path, after])))
